package scenarios

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

const withSystems = `apiVersion: rehearse.dev/v1alpha1
kind: Scenario
metadata: {name: first}
spec:
  cluster: {version: "1.36", systems: [{name: lws, simulated: {simulator: leaderworkerset, faults: [old]}}]}
  steps:
  - transition: {systems: [{name: other, simulated: {}}]}
  - transition: {systems: [{name: lws, remove: true}]}
  - transition: {systems: [{name: lws, simulated: {}}]}
---
apiVersion: rehearse.dev/v1alpha1
kind: Scenario
metadata: {name: second}
spec:
  cluster: {version: "1.36"}
  steps:
  - transition: {systems: [{name: lws, process: {command: [./manager], crds: [crd.yaml]}}]}
  - transition: {systems: [{name: lws, version: "2"}]}
`

func loadSystems(t *testing.T) []*Scenario {
	t.Helper()
	set, err := LoadBytes("some/where.yaml", []byte(withSystems))
	golden.Must(t, err)
	return set.Scenarios
}

func pathOf(s *Scenario) string {
	var states []string
	for _, state := range s.Path() {
		states = append(states, strings.TrimPrefix(state.String(), "1.36 "))
	}
	return strings.Join(states, " > ")
}

func TestFilesAreBesideTheScenario(t *testing.T) {
	p := loadSystems(t)[1].Spec.Steps[0].Transition.Systems[0].Process
	if p.Command[0] != filepath.Join(clusters.Folder("some"), "manager") || p.CRDs[0] != "some/crd.yaml" {
		t.Errorf("%+v", p)
	}
}

// A scenario with other systems than those in its file cannot be read again: it would get the old ones back.
func TestRefilled(t *testing.T) {
	same := func(text string) (string, error) { return text, nil }
	nothing := func(*Scenario) error { return nil }
	original := loadSystems(t)[0]
	again, err := original.Refilled(same, nothing)
	if err != nil || pathOf(again) != pathOf(original) || again == original {
		t.Fatalf("%v, %v", again, err)
	}
	if _, err := again.Refilled(same, nothing); err != nil {
		t.Error(err)
	}
	set, err := SetFaults([]*Scenario{original}, "lws", nil)
	golden.Must(t, err)
	if _, err := set[0].Refilled(same, nothing); err == nil || !strings.Contains(err.Error(), "was changed after") {
		t.Errorf("a scenario with other systems: %v", err)
	}
}

func TestSetFaults(t *testing.T) {
	list := loadSystems(t)
	before := pathOf(list[0])
	set, err := SetFaults(list[:1], "lws", []string{"a", "b"})
	golden.Must(t, err)
	want := "lws(simulated, as leaderworkerset, faults a b) > lws(simulated, as leaderworkerset, faults a b) " +
		"other(simulated) > other(simulated) > other(simulated) lws(simulated, faults a b)"
	if got := pathOf(set[0]); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := pathOf(list[0]); got != before {
		t.Errorf("the scenario itself was changed: %s", got)
	}
	if _, err := SetFaults(list[:1], "swl", nil); !errors.Is(err, ErrNoSuchSystem) {
		t.Errorf("a system that nobody has: %v", err)
	}
	_, err = SetFaults(list, "lws", nil)
	golden.Error(t, err, "not simulated")
}

func TestReplaceSystem(t *testing.T) {
	list := loadSystems(t)
	real := clusters.System{Name: "whatever", Version: "0.7", Process: &clusters.SystemProcess{Command: []string{"m"}}}
	set, err := ReplaceSystem(list[:1], "lws", real)
	golden.Must(t, err)
	if got, want := pathOf(set[0]), "lws(process, 0.7) > lws(process, 0.7) other(simulated) > other(simulated) > "+
		"other(simulated) lws(process, 0.7)"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	_, err = ReplaceSystem(list, "lws", real)
	golden.Error(t, err, "some/where.yaml:18:5: scenario second changes system lws")
	if _, err := ReplaceSystem(list, "none", real); !errors.Is(err, ErrNoSuchSystem) {
		t.Errorf("a system that nobody has: %v", err)
	}
}

// A definition replaces all settings of its own system. The changes of other systems stay as they are.
func TestSubstituteKeepsOthers(t *testing.T) {
	list := loadSystems(t)
	other := list[1].Spec.Steps[0].Transition.Systems[0]
	simulated := list[0].Spec.Steps[0].Transition
	simulated.Systems = append(simulated.Systems, other)
	list[0].Spec.Cluster.Systems[0].Name = "else"
	by := Variants{"other": {"": {Name: "other", Process: &clusters.SystemProcess{Command: []string{"real"}}}}}
	got, why := list[0].Substitute(by)
	if why != "" {
		t.Fatal(why)
	}
	changes := got.Spec.Steps[0].Transition.Systems
	if p := changes[0].Process; p == nil || p.Command[0] != "real" || p.Files == nil {
		t.Errorf("the replaced system: %+v", p)
	}
	if p := changes[1].Process; p.Files != nil || p.Env != nil || len(p.CRDs) != 1 {
		t.Errorf("the other system: %+v", p)
	}
}

const configured = `apiVersion: rehearse.dev/v1alpha1
kind: Scenario
metadata: {name: configured}
spec:
  cluster: {version: "1.36", systems: [{name: grove, simulated: {config: {profile: a}}}]}
  steps:
  - transition: {systems: [{name: grove, simulated: {config: {profile: b}}}]}
`

// The configuration of a simulator reaches the program that replaces it. Otherwise the scenario does not run: it would
// judge another configuration.
func TestReplacedSystemsGetTheConfiguration(t *testing.T) {
	set, err := LoadBytes("some/where.yaml", []byte(configured))
	golden.Must(t, err)
	process := func(text string) clusters.System {
		return clusters.System{Name: "grove", Process: &clusters.SystemProcess{
			Command: []string{"real"}, Files: map[string]string{"config.yaml": text},
		}}
	}
	list, err := SubstituteAll(set.Scenarios, Variants{"grove": {"": process("kind: Config\n$(CONFIG)")}})
	golden.Must(t, err)
	for i, want := range []string{"kind: Config\nprofile: a\n", "kind: Config\nprofile: b\n"} {
		if got := list[0].Path()[i].Systems[0].Process.Files["config.yaml"]; got != want {
			t.Errorf("state %d: its file is %q, want %q", i, got, want)
		}
	}
	const why = "it configures the simulator of grove, and the definition that replaces the simulator does not contain " +
		"$(CONFIG)"
	if c, got := set.Scenarios[0].Substitute(Variants{"grove": {"": process("profile: c")}}); c != nil || got != why {
		t.Errorf("a program that cannot be configured: %q", got)
	}
	first := *set.Scenarios[0]
	first.Spec.Steps = nil
	replaced, err := ReplaceSystem([]*Scenario{&first}, "grove", process("$(CONFIG)"))
	if err != nil || replaced[0].Path()[0].Systems[0].Process.Files["config.yaml"] != "profile: a\n" {
		t.Errorf("%v", err)
	}
	_, err = ReplaceSystem([]*Scenario{&first}, "grove", process(""))
	golden.Error(t, err, "some/where.yaml:5:3: scenario configured: "+why)
}

func TestLoadSystem(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lws.yaml")
	write := func(text string) {
		t.Helper()
		golden.Write(t, path, text)
	}
	write("name: lws\nprocess:\n  command: [./manager, --config=$(DIR)/config.yaml]\n  files: {config.yaml: \"port: " +
		"$(WEBHOOK_PORT)\"}\n")
	system, err := LoadSystem(path)
	golden.Must(t, err)
	if got, want := system.Process.Command[0], filepath.Join(filepath.Dir(path), "manager"); got != want {
		t.Errorf("program %s, want %s", got, want)
	}
	for text, want := range map[string]string{
		"name: lws\nprocess: {comand: [x]}\n":            `lws.yaml:2:11: unknown field "comand"`,
		"name: lws\n":                                    `give the system "lws" one of`,
		"name: lws\nprocess: {command: ['$(PORT)']}\n":   "$(PORT) is none of",
		"name: lws\nprocess: {command: ['${case.x}']}\n": "case",
		"name: a\nsimulated: {}\n---\nname: b\n":         "want one document",
		"":                                               "want one document",
		"name: a\nmanifests: ['http://example.org/x']\n": "write https://",
		"name: a\nprocess: {command: [x], ready: {}}\n":  "give either httpGet or tcp",
		"name: a\nprocess: {command: [x], ready: {tcp: \"127.0.0.1:1\", initialDelay: 5 s}}\n": `"5 s" is not a positive duration`,
		"name: a\nprocess: {command: [x], ready: {tcp: \"127.0.0.1:1\", initialDelay: 3m}}\n":  "3m is too long: at most 2m",
		"name: a\nmanifests: ['x.yaml#sha512=abcdef']\n":                                       "64 hexadecimal digits",
		"name: a\nprocess: {command: [x], env: {A B: x}}":                                      "is not the name of an environment variable",
	} {
		write(text)
		_, err := LoadSystem(path)
		golden.Error(t, err, want)
	}
}

const slowWebhooks = `apiVersion: rehearse.dev/v1alpha1
kind: Scenario
metadata: {name: slow}
spec:
  cluster: {version: "1.36", systems: [{name: lws, simulated: {}, webhookCalls: {delay: 1s}}]}
  steps:
  - transition: {systems: [{name: lws, webhookCalls: {away: true}}]}
`

// What a scenario says of the calls of webhooks is true for the definition that replaces a system, too.
func TestReplacedSystemsKeepTheirWebhookCalls(t *testing.T) {
	set, err := LoadBytes("some/where.yaml", []byte(slowWebhooks))
	golden.Must(t, err)
	real := clusters.System{Name: "lws", Process: &clusters.SystemProcess{Command: []string{"real"}}}
	applied := clusters.System{Name: "lws", Manifests: []string{"all.yaml"}}
	for name, replace := range map[string]func(clusters.System) ([]*Scenario, error){
		"replaced": func(with clusters.System) ([]*Scenario, error) {
			return ReplaceSystem(set.Scenarios, "lws", with)
		},
		"substituted": func(with clusters.System) ([]*Scenario, error) {
			return SubstituteAll(set.Scenarios, Variants{"lws": {"": with}})
		},
	} {
		list, err := replace(real)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		path := list[0].Path()
		for i, want := range []clusters.WebhookCalls{{Delay: "1s"}, {Away: true}} {
			if got := path[i].Systems[0]; got.Kind() != "process" || got.WebhookCalls == nil || *got.WebhookCalls != want {
				t.Errorf("%s, state %d: %s with %+v, want %+v", name, i, got.Kind(), got.WebhookCalls, want)
			}
		}
		_, err = replace(applied)
		golden.Error(t, err, "some/where.yaml:5:3: scenario slow: it changes webhookCalls of lws, and a system of manifests "+
			"does not support that")
	}
}

// A name that no scenario has is an error, also beside one that scenarios have.
func TestSubstituteAllRejectsUnknownNames(t *testing.T) {
	real := clusters.System{Process: &clusters.SystemProcess{Command: []string{"real"}}}
	by := Variants{"lsw": {"": real}}
	if _, err := SubstituteAll(loadSystems(t), by); !errors.Is(err, ErrNoSuchSystem) {
		t.Errorf("got %v", err)
	}
}
