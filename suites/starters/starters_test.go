package starters

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/features"
	"github.com/rehearse-dev/rehearse/harness/manifests"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports/prr"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/suites"
)

// lists returns the gates of three versions, in which gates appear, depend on each other, and are locked.
func lists() []*features.List {
	spec := func(since string, stage features.Stage, on, locked bool) features.Spec {
		return features.Spec{Since: since, Stage: stage, Default: on, Locked: locked}
	}
	alpha, beta := spec("1.34", features.Alpha, false, false), spec("1.36", features.Beta, true, false)
	programs := func(names ...string) map[string]bool {
		all := map[string]bool{}
		for _, name := range names {
			all[name] = false
		}
		return all
	}
	return []*features.List{
		{Version: "1.34.4", Gates: map[string]features.Gate{
			"RacingPods": {Specs: []features.Spec{alpha}},
			"Finished":   {Specs: []features.Spec{spec("1.30", features.Beta, true, false)}},
		}},
		{Version: "1.35.4", Gates: map[string]features.Gate{
			"RacingPods": {Specs: []features.Spec{alpha}},
			"Finished":   {Specs: []features.Spec{spec("1.35", features.GA, true, true)}},
		}},
		{
			Version: "1.36.3",
			Gates: map[string]features.Gate{
				"RacingPods":  {Specs: []features.Spec{alpha, beta}},
				"RacingTeams": {Specs: []features.Spec{beta}, Needs: []string{"RacingPods"}},
				"Finished":    {Specs: []features.Spec{spec("1.35", features.GA, true, true)}},
				"PhotoFinish": {Specs: []features.Spec{spec("1.36", features.Alpha, false, false)}},
			},
			Programs: map[clusters.Component]map[string]bool{
				clusters.APIServer:         programs("RacingPods", "RacingTeams"),
				clusters.ControllerManager: programs("RacingPods", "RacingTeams"),
				clusters.Scheduler:         programs("RacingPods", "RacingTeams", "PhotoFinish"),
			},
		},
	}
}

func gate(t *testing.T, name string) *Gate {
	t.Helper()
	found, err := NewGate(name, lists(), lists())
	golden.Must(t, err)
	return found
}

func objects(t *testing.T, text string) []*manifests.Object {
	t.Helper()
	all, err := manifests.Sources{Paths: []string{manifests.Stdin}, Stdin: strings.NewReader(text)}.Load()
	golden.Must(t, err)
	return all
}

const shop = `
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop, uid: 1-2-3, creationTimestamp: null}
spec: {ports: [{port: 80}]}
status: {loadBalancer: {}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, annotations: {note: "yes, ${HOME} is no expression"}}
spec:
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: "web:1", args: ["${PORT}"]}]}}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: Namespace
metadata: {name: another}
`

func starters(t *testing.T) map[string]Scenario {
	return map[string]Scenario{
		"gate":            {Gate: gate(t, "RacingPods"), KEP: "5311"},
		"gate-needs":      {Gate: gate(t, "RacingTeams")},
		"gate-component":  {Gate: gate(t, "PhotoFinish")},
		"gate-appears":    {Gate: gate(t, "PhotoFinish"), From: "1.35", To: "1.36"},
		"gate-upgrade":    {Gate: gate(t, "RacingPods"), From: "1.35", To: "1.36", Objects: objects(t, shop)},
		"upgrade":         {From: "1.35", To: "1.36", Flips: features.Flips(lists()[1], lists()[2])},
		"upgrade-objects": {From: "1.34", To: "1.36", KEP: "1", Objects: objects(t, shop), Name: "shop"},
		"system-named":    {System: &System{Name: "my-operator"}, From: "1.36"},
		"system-own": {From: "1.35", To: "1.36", System: &System{Name: "my-operator", Definition: map[string]any{
			"name": "its-own", "process": map[string]any{"command": []any{"./manager", "--port=$(WEBHOOK_PORT)"}},
		}}},
		"system-manifests": {From: "1.35", To: "1.36", System: &System{Name: "123", Definition: map[string]any{
			"manifests": []any{"operator.yaml"},
		}}, Name: "5311"},
		"system-simulated": {
			From: "1.35", To: "1.36", System: &System{Name: "lws", Simulator: "leaderworkerset"},
			Objects: objects(t, "{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, metadata: {name: my-lws}}"),
		},
	}
}

// A written scenario is valid, Lint finds at most strict problems in it, and no line is longer than 120 bytes.
func TestScenario(t *testing.T) {
	for name, s := range starters(t) {
		t.Run(name, func(t *testing.T) {
			s.Command, s.File = "rehearse init", name+".yaml"
			text, err := s.Write()
			golden.Must(t, err)
			golden.Check(t, filepath.Join("testdata", name+".yaml"), string(text))
			set, err := scenarios.LoadBytes(name+".yaml", text)
			golden.Must(t, err)
			if problems := scenarios.Lint(set); len(problems) != 0 && !problems[0].Strict {
				t.Errorf("it is doubtful: %v", problems)
			}
			statesAreValid(t, set.Scenarios[0])
			for i, line := range strings.Split(string(text), "\n") {
				if len(line) > 120 || strings.TrimRight(line, " ") != line {
					t.Errorf("line %d is long, or ends with a blank: %q", i+1, line)
				}
			}
		})
	}
}

// statesAreValid checks that each version has the gates that a scenario sets in it.
func statesAreValid(t *testing.T, s *scenarios.Scenario) {
	t.Helper()
	check := func(state clusters.State) {
		for _, list := range lists() {
			if !sameMinor(list.Version, state.Version) {
				continue
			}
			for _, c := range []clusters.Component{clusters.APIServer, clusters.ControllerManager, clusters.Scheduler} {
				for _, problem := range list.Check(features.VersionsOf(list.Of()), c, state.Gates(c)) {
					t.Errorf("%s: %s", state, problem)
				}
			}
		}
	}
	state := s.Spec.Cluster
	check(state)
	for _, step := range s.Spec.Steps {
		if step.Transition != nil {
			state = state.With(step.Transition.Change)
			check(state)
		}
	}
}

// A scenario of a gate contains all questions of the questionnaire, word for word.
func TestGateAsksTheQuestions(t *testing.T) {
	s := Scenario{Gate: gate(t, "RacingPods"), From: "1.35", To: "1.36"}
	text, err := s.Write()
	golden.Must(t, err)
	var comments []string
	for _, line := range strings.Split(string(text), "\n") {
		if _, comment, found := strings.Cut(line, "#"); found {
			comments = append(comments, strings.Fields(comment)...)
		}
	}
	said := strings.Join(comments, " ")
	for _, q := range []string{
		prr.Toggle, prr.Default, prr.Disable, prr.Reenable, prr.Tests, prr.Impact, prr.Metrics, prr.Path, prr.Removals,
		prr.InUse, prr.Calls, prr.Unavailable,
	} {
		if !strings.Contains(said, q) {
			t.Errorf("it does not ask: %s", q)
		}
	}
}

func TestWhatCannotBeWritten(t *testing.T) {
	write := func(s Scenario) error {
		_, err := s.Write()
		return err
	}
	_, locked := NewGate("Finished", lists()[1:], lists())
	_, wrongSuite := Suite{Name: "My Operator"}.Write()
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"a gate that is locked":  {locked, "1.34.4: Beta, on by default; 1.35.4: GA, locked to on; 1.36.3: GA, locked to on"},
		"versions the wrong way": {write(Scenario{From: "1.36", To: "1.35"}), "--from 1.35 --to 1.36"},
		"a gate over two minors": {
			write(Scenario{Gate: gate(t, "RacingPods"), From: "1.34", To: "1.36"}),
			"two minor versions in a row",
		},
		"several namespaces": {write(Scenario{From: "1.35", To: "1.36", Objects: objects(t, `
{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: one}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: two}}`)}), "one, two"},
		"a suite's name": {wrongSuite, "My Operator"},
	} {
		if test.err == nil || !strings.Contains(test.err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, test.err, test.want)
		}
	}
}

// A gate is turned off and on in the newest version in which it is not locked.
func TestGateIsSwitchedWhereItCan(t *testing.T) {
	if got := gate(t, "Finished").Version; got != "1.34" {
		t.Errorf("locked since 1.35, it is switched in %s", got)
	}
	if got := gate(t, "RacingPods").Dependents; len(got) != 1 || got[0] != "RacingTeams" {
		t.Errorf("off with RacingPods go %v", got)
	}
}

func TestSuite(t *testing.T) {
	for name, suite := range map[string]Suite{
		"suite":           {From: "1.35", To: "1.36"},
		"suite-one":       {From: "1.36"},
		"suite-simulator": {From: "1.35", To: "1.36", Simulator: true},
	} {
		t.Run(name, func(t *testing.T) {
			suite.Command, suite.Name = "rehearse init suite my-operator", "my-operator"
			files, err := suite.Write()
			golden.Must(t, err)
			folder := filepath.Join(t.TempDir(), suite.Name)
			for _, file := range files {
				golden.Check(t, filepath.Join("testdata", filepath.Join(name, file.Path+".golden")), string(file.Text))
				path := filepath.Join(folder, file.Path)
				golden.Must(t, os.MkdirAll(filepath.Dir(path), 0o755))
				golden.Write(t, path, file.Text)
			}
			opened, err := suites.Open(folder)
			golden.Must(t, err)
			if want := map[bool]string{true: "my-operator"}[suite.Simulator]; opened.System != want {
				t.Errorf("its system is %q, want %q", opened.System, want)
			}
			if suite.Simulator {
				builds(t, filepath.Join(folder, "simulator"))
			}
		})
	}
}

// builds checks a program with go vet.
func builds(t *testing.T, folder string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "vet", ".")
	command.Dir, command.Env = folder, append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	if out, err := command.CombinedOutput(); err != nil {
		t.Errorf("go vet: %v\n%s", err, out)
	}
}
