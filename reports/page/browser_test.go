package page

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/upgrades"
)

// TestBrowser opens pages in Chromium: every interaction, both themes, two widths, accessibility, and a big run. It
// needs chromium, node and npm, which .ci/browser installs.
func TestBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("NOT RUN: it takes a browser and minutes; make test-all, or go test without -short, runs it")
	}
	chromium := need(t, "chromium", "chromium-browser", "google-chrome")
	node := need(t, "node")
	modules := installed(t, need(t, "npm"))
	dir := t.TempDir()
	broken, files := brokenRun()
	writePage(t, filepath.Join(dir, "broken.html"), broken, files)
	data := []byte(golden.Read(t, filepath.Join("..", "testdata", "run-format-2.json")))
	run, err := reports.Read(data)
	golden.Must(t, err)
	writePage(t, filepath.Join(dir, "real.html"), run, nil)
	both, files := severalRuns()
	writePage(t, filepath.Join(dir, "several.html"), both, files)
	many, files := bigRun(1000, 200)
	writePage(t, filepath.Join(dir, "big.html"), many, files)
	text, err := OfUpgrade(brokenUpgrade())
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "upgrade.html"), text, 0o644)
	}
	golden.Must(t, err)
	if text, err = OfExploration(brokenExploration()); err == nil {
		err = os.WriteFile(filepath.Join(dir, "explore.html"), text, 0o644)
	}
	golden.Must(t, err)
	command := exec.CommandContext(t.Context(), node, filepath.Join("testdata", "browser.js"), modules, dir)
	command.Env = append(os.Environ(), "CHROMIUM="+chromium)
	said, err := command.CombinedOutput()
	t.Logf("%s", said)
	if err != nil {
		t.Errorf("the pages are not as they should be in a browser: %v", err)
	}
}

// need returns the path of the first program that exists. If there is none, the test does not run.
func need(t *testing.T, programs ...string) string {
	t.Helper()
	for _, program := range programs {
		if path, err := exec.LookPath(program); err == nil {
			return path
		}
	}
	notRun(t, "there is no %s (Debian: apt-get install chromium nodejs npm)", programs[0])
	return ""
}

// notRun skips the test and prints why. In CI, which has installed what the test needs, the test fails.
func notRun(t *testing.T, why string, args ...any) {
	t.Helper()
	why = "NOT RUN: the tests of report.html in a browser: " + fmt.Sprintf(why, args...)
	if os.Getenv("REHEARSE_TEST_BROWSER") != "" {
		t.Fatal(why)
	}
	fmt.Fprintln(os.Stderr, why)
	t.Skip(why)
}

// installed returns the folder of the modules of testdata/package.json. It installs them if needed, for later tests,
// .ci/browser and the pictures, too.
func installed(t *testing.T, npm string) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	golden.Must(t, err)
	wanted := []byte(golden.Read(t, filepath.Join("testdata", "package.json")))
	dir := filepath.Join(cache, "rehearse-browser-test")
	modules, list := filepath.Join(dir, "node_modules"), filepath.Join(dir, "package.json")
	_, err = os.Stat(filepath.Join(modules, "axe-core", "axe.min.js"))
	if there, _ := os.ReadFile(list); err == nil && bytes.Equal(there, wanted) {
		return modules
	}
	golden.Must(t, os.MkdirAll(dir, 0o755))
	golden.Write(t, list, wanted)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", dir)
	if said, err := command.CombinedOutput(); err != nil {
		_ = os.Remove(list)
		notRun(t, "npm could not get its modules: %v\n%s", err, said)
	}
	return modules
}

func writePage(t *testing.T, path string, run *reports.Run, files fs.FS) {
	t.Helper()
	text, err := Of(run, files, nil)
	if err == nil {
		err = os.WriteFile(path, text, 0o644)
	}
	golden.Must(t, err)
}

const brokenSource = `apiVersion: rehearse.dev/v1alpha1
kind: Scenario
spec:
  steps:
  - name: make it
    create: {kind: Deployment}
  - name: it is ready
    eventually:
      match: {status: {readyReplicas: 3}}
`

const brokenHistory = `{"line":"change","at":"2026-01-01T00:00:03Z","step":1,"change":"added","resource":"deployments","kind":"Deployment","name":"web","object":{"spec":{"replicas":3},"status":{}}}
{"line":"change","at":"2026-01-01T00:00:06Z","step":2,"change":"modified","resource":"deployments","kind":"Deployment","name":"web","patch":{"status":{"readyReplicas":2,"conditions":[{"type":"Available","status":"False"}]}},"managers":[{"name":"rehearse","fields":{"f:spec":{"f:replicas":{}}}},{"name":"kube-controller-manager","subresource":"status","fields":{"f:status":{"f:conditions":{"k:{\"type\":\"Available\"}":{"f:status":{},"f:type":{}}},"f:readyReplicas":{}}}}]}
{"line":"change","at":"2026-01-01T00:00:07Z","step":2,"change":"modified","resource":"deployments","kind":"Deployment","name":"web","patch":{"spec":{"replicas":4}}}
{"line":"managers","at":"2026-01-01T00:00:08Z","step":3,"resource":"deployments","kind":"Deployment","name":"web","managers":[{"name":"late","fields":{"f:spec":{"f:replicas":{}},"f:status":{"f:readyReplicas":{}}}}]}
`

// brokenRun returns a run with a scenario that passed, one that failed after a transition, and one that could not be
// judged.
func brokenRun() (*reports.Run, fs.FS) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	after := func(seconds float64) time.Time { return at.Add(time.Duration(seconds * float64(time.Second))) }
	const old, fresh = "1.34.4 A=false", "1.35.4 A=true"
	step := func(name, verb, state string, status reports.Status, from, to float64) *reports.Step {
		return &reports.Step{
			Name: name, Verb: verb, State: state, Status: status, Started: after(from), Finished: after(to),
			Position: "a.yaml:5:5",
		}
	}
	failed := step("it is ready", "eventually", fresh, reports.Failed, 5, 8)
	failed.Message = "eventually: it did not become true.\nweb:\n  status.readyReplicas: wanted 3, is 2\n"
	failed.Evidence, failed.Position = "status:\n  readyReplicas: 2\n", "a.yaml:7:5"
	moving := step("upgrade", "transition", old, reports.Passed, 2, 5)
	moving.Crossing = reports.Seconds(3 * time.Second)
	sent := step("make it", "create", old, reports.Error, 1, 2)
	sent.Request = "kind: Deployment"
	never := &reports.Step{Name: "never", Verb: "create", Status: reports.NotRun}
	scenario := func(name string, status reports.Status, message string, steps ...*reports.Step) *reports.Scenario {
		return &reports.Scenario{
			Name: name, System: name + "-system", Status: status, Message: message, File: "a.yaml", Line: 1,
			Covers: []string{"R-1"}, Versions: []string{"1.34.4", "1.35.4"},
			Started: after(1), Finished: after(8), Steps: steps,
		}
	}
	broken := scenario("broken", reports.Failed, "", moving, failed, never)
	broken.Artifacts = []string{"broken/history.jsonl"}
	process := func(name, version string, from, ready, to float64) reports.Process {
		return reports.Process{Component: name, Version: version, Started: after(from), Ready: after(ready), Ended: after(to)}
	}
	track := &reports.Track{
		Name: "track-1", Path: []string{old, fresh},
		Setup: []*reports.Step{
			{Name: old, Verb: "create", Change: old, Status: reports.Passed, Started: after(0), Finished: after(1)},
			{
				Name: fresh, Verb: "transition", Direction: "up", Change: "1.34.4 → 1.35.4", Status: reports.Passed,
				Started: after(2), Finished: after(5),
			},
		},
		Scenarios: []*reports.Scenario{
			scenario("good", reports.Passed, "", step("make it", "create", old, reports.Passed, 1, 2)), broken,
			scenario("unknown", reports.Error, "the cluster broke", sent),
		},
		Processes: []reports.Process{
			process("etcd", "", 0, 0, 9), process("kube-apiserver", "1.34.4", 0, 1, 2),
			process("kube-apiserver", "1.35.4", 2.1, 4.8, 9),
		},
	}
	run := &reports.Run{
		Head: reports.Head{
			Format: reports.Format, Command: "rehearse run a.yaml", Program: "v1", Started: at,
			Finished: after(9),
		}, Provider: "local", Sources: map[string]string{"a.yaml": brokenSource},
		Tracks: []*reports.Track{track}, Requirements: []reports.Requirement{{
			ID: "R-1", Level: "core",
			Statement: "It becomes ready.",
		}},
	}
	return run, fstest.MapFS{"broken/history.jsonl": {Data: []byte(brokenHistory)}}
}

// bigRun returns a run with the given numbers of scenarios and of changes in each. No two changes are alike, so that
// they compress like real ones.
func bigRun(scenarios, changes int) (*reports.Run, fs.FS) {
	run, _ := brokenRun()
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same ones each time
	track := run.Tracks[0]
	track.Scenarios = nil
	files := fstest.MapFS{}
	for n := range scenarios {
		name := fmt.Sprintf("scenario-%d", n)
		s := &reports.Scenario{
			Name: name, Status: reports.Passed, File: "a.yaml", Line: 1, Started: run.Started,
			Finished: run.Finished, Artifacts: []string{name + "/history.jsonl"},
		}
		for i := range 8 {
			from := run.Started.Add(time.Duration(i) * time.Second)
			s.Steps = append(s.Steps, &reports.Step{
				Name: fmt.Sprintf("step %d", i), Verb: "create", Status: reports.Passed, Started: from,
				Finished: from.Add(time.Second), Evidence: fmt.Sprintf("create Service web-%d-%d was accepted", n, i),
			})
		}
		var b strings.Builder
		for c := range changes {
			at := run.Started.Add(time.Duration(c*40+random.IntN(40)) * time.Millisecond).Format(time.RFC3339Nano)
			body := fmt.Sprintf(`"change":"modified","patch":{"metadata":{"resourceVersion":"%d"},"status":{"podIP":"10.%d.%d.%d"}}`,
				n*changes+c, random.IntN(256), random.IntN(256), random.IntN(256))
			if c < 5 {
				body = fmt.Sprintf(`"change":"added","object":{"metadata":{"name":"web-%d","uid":"%x"},"spec":{"replicas":%d}}`, c,
					random.Uint64(), n)
			}
			fmt.Fprintf(&b, `{"line":"change","at":"%s","step":%d,"resource":"pods","kind":"Pod","name":"web-%d",%s}`+"\n", at,
				1+c*8/changes, c%5, body)
		}
		files[name+"/history.jsonl"] = &fstest.MapFile{Data: []byte(b.String())}
		track.Scenarios = append(track.Scenarios, s)
	}
	return run, files
}

func brokenUpgrade() *upgrades.Report {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	return &upgrades.Report{
		Head:    reports.Head{Format: 1, Started: at, Finished: at.Add(40 * time.Second), Command: "rehearse upgrade"},
		Objects: 2, Surveyed: 2,
		Path: []*upgrades.State{
			{Name: "1.34.4", Way: upgrades.Start, Reached: true, Began: at, Transition: 5, Survey: 10},
			{
				Name: "1.35.4", Way: upgrades.Up, Reached: true, Began: at.Add(15 * time.Second), Transition: 5, Survey: 10,
				Flips: []string{"A turns on"},
			},
			{Name: "1.34.4", Way: upgrades.Back},
		},
		Findings: []*upgrades.Finding{{
			Severity: upgrades.Breaks, Check: "create", Kind: "Service", What: "it is rejected",
			Words: "422", Hop: "1.34.4 -> 1.35.4", Objects: []upgrades.Object{{Name: "Service a", Place: "a.yaml:1"}},
		}},
		Matrix: []*upgrades.Row{{Kind: "Service", Objects: 2, Cells: []upgrades.Cell{{Good: 2}, {Good: 1, Breaks: 1}, {}}}},
	}
}
