package page

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
)

func TestDifferences(t *testing.T) {
	message := "eventually: it did not.\nweb:\n  status.readyReplicas: wanted 3, is 2\n  spec.a: must be absent, " +
		"is 1\nweb-2:\n  b: wanted x, not there\nmessage:\n  want contains \"a\"\n  got  \"b\"\nThe rest:\n  c: wanted 1, is 2"
	want := []difference{
		{"web", "status.readyReplicas", "3", "2"},
		{"web", "spec.a", "absent", "1"},
		{"web-2", "b", "x", "not there"},
		{"", "message", `contains "a"`, `"b"`},
		{"", "c", "1", "2"},
	}
	if got := differences(message); !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
}

func TestShapeJoinsWhatSaysTheSame(t *testing.T) {
	for _, pair := range [][2]string{
		{`create Service 9-web was rejected: "9-web" after 12ms`, `create Service 7-api was rejected: "7-api" after 1.5s`},
		{
			"always: exactly 2 of kind Pod in namespace a-b exist. It was false at +924ms, when web-1 was deleted.",
			"always: exactly 2 of kind Pod in namespace c exist. It was false at +1.2s, when web-0 was deleted.",
		},
		{
			"kube-apiserver (pid 123) ended by itself; the end of /cache/x/a-1.log:",
			"kube-apiserver (pid 9) ended by itself; the end of /cache/y/b-2.log:",
		},
	} {
		if shape(pair[0]) != shape(pair[1]) {
			t.Errorf("%s\n%s", shape(pair[0]), shape(pair[1]))
		}
	}
	if shape("it was accepted") == shape("it was rejected") {
		t.Error("two findings are one")
	}
}

func TestExcerptIsOneStep(t *testing.T) {
	sources := map[string]string{"a.yaml": "spec:\n  steps:\n  - name: one\n    create: &a\n\n      kind: X\n\n  - " +
		"name: two\n    create: *a\n"}
	text, line := excerpt(sources, "a.yaml:3:5")
	if want := "- name: one\n  create: &a\n\n    kind: X\n"; text != want || line != 3 {
		t.Errorf("line %d: %q", line, text)
	}
	if text, _ := excerpt(sources, "b.yaml:3:5"); text != "" {
		t.Errorf("%q of a file that is not there", text)
	}
}

// A version is green only if there is something in it and all of it passed.
func TestRequirementsInVersions(t *testing.T) {
	step := func(state string, status reports.Status, covers ...string) *reports.Step {
		return &reports.Step{State: state, Status: status, Covers: covers}
	}
	both := []string{"1.34.4", "1.35.4"}
	run := &reports.Run{Tracks: []*reports.Track{{Path: both, Scenarios: []*reports.Scenario{
		{
			Name: "a", Status: reports.Failed, Covers: []string{"R1"}, Versions: both,
			Steps: []*reports.Step{step("1.34.4 A=true", reports.Passed), step("1.35.4", reports.Failed)},
		},
		{
			Name: "b", Status: reports.Passed, Covers: []string{"R1", "R2"}, Versions: both,
			Steps: []*reports.Step{step("1.34.4", reports.Passed, "R2"), step("1.35.4", reports.Passed)},
		},
		{
			Name: "c", Status: reports.NotRun, Covers: []string{"R3"}, Versions: both,
			Steps: []*reports.Step{step("1.34.4", reports.NotRun)},
		},
		{ // a step about no requirement ended it
			Name: "d", Status: reports.Failed, Covers: []string{"R4"}, Versions: both,
			Steps: []*reports.Step{step("1.34.4", reports.Passed, "R4"), step("1.34.4", reports.Failed)},
		},
		{ // a step about another requirement ended it
			Name: "e", Status: reports.Failed, Covers: []string{"R5", "R6"}, Versions: both,
			Steps: []*reports.Step{
				step("1.34.4", reports.Passed, "R5"), step("1.35.4", reports.Failed, "R6"), step("1.35.4", reports.NotRun, "R5"),
			},
		},
	}}}, Requirements: []reports.Requirement{{ID: "R2", Statement: "two"}}, Flips: []reports.VersionFlips{{
		From: "1.34.4", To: "1.35.4", Gates: []string{"A turns on"},
	}}}
	got := map[string][]reports.Status{}
	m := requirements(run)
	for _, row := range m.Rows {
		for _, c := range row.Cells {
			got[row.Name] = append(got[row.Name], c.Status)
		}
	}
	want := map[string][]reports.Status{
		"R1": {reports.NotRun, reports.Failed}, "R2": {reports.Passed, ""},
		"R3": {reports.NotRun, reports.NotRun}, "R4": {reports.NotRun, ""},
		"R5": {reports.Passed, reports.NotRun}, "R6": {"", reports.Failed},
	}
	if !reflect.DeepEqual(got, want) || m.Rows[0].Name != "R2" || m.Rows[0].Text != "two" ||
		m.Flips[0].Way != "1.34.4 → 1.35.4" || m.Flips[0].Gates[0] != "A turns on" {
		t.Errorf("%v in %v", got, m.Rows)
	}
}

const movedHistory = `{"line":"step","at":"2026-01-01T00:00:00Z","step":1}
{"line":"change","at":"2026-01-01T00:00:01Z","step":1,"change":"added","resource":"pods","kind":"Pod","name":"web-0","object":{"spec":{"a":1}}}
{"line":"change","at":"2026-01-01T00:00:02Z","step":2,"change":"modified","resource":"pods","kind":"Pod","name":"web-0","patch":{"metadata":{"resourceVersion":"2"}}}
{"line":"change","at":"2026-01-01T00:00:02Z","step":2,"change":"added","resource":"pods","kind":"Pod","name":"told-late","object":{"metadata":{"creationTimestamp":"2026-01-01T00:00:01Z"}}}
{"line":"change","at":"2026-01-01T00:00:03Z","step":2,"change":"added","resource":"pods","kind":"Pod","name":"fresh","object":{"metadata":{"creationTimestamp":"2026-01-01T00:00:02Z"}}}
{"line":"change","at":"2026-01-01T00:00:03Z","step":3,"change":"modified","resource":"pods","kind":"Pod","name":"web-0","patch":{"spec":{"a":2}}}
{"line":"change","at":"2026-01-01T00:00:04Z","step":3,"change":"deleted","resource":"pods","name":"web-0"}
{"line":"change","at":"2026-01-01T00:00:05Z","step":4,"change":"added","resource":"pods","kind":"Pod","name":"mine","object":{}}
`

func movedRun() (*reports.Run, fstest.MapFS) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := &reports.Scenario{
		Name: "s", Status: reports.Passed, Started: at, Finished: at.Add(time.Minute),
		Artifacts: []string{"s/history.jsonl"},
	}
	for i, verb := range []string{"create", "transition", "eventually", "create"} {
		s.Steps = append(s.Steps, &reports.Step{
			Verb: verb, Status: reports.Passed,
			Started: at.Add(time.Duration(i) * time.Second), Position: "a.yaml:1:1",
		})
	}
	run := &reports.Run{
		Head: reports.Head{Format: 2, Started: at, Finished: at.Add(time.Minute)}, Provider: "local",
		Sources: map[string]string{"a.yaml": "- transition: {}\n"},
		Tracks:  []*reports.Track{{Name: "track-1", Scenarios: []*reports.Scenario{s}}},
	}
	return run, fstest.MapFS{"s/history.jsonl": {Data: []byte(movedHistory)}}
}

func TestMovedIsWhatNoStepAskedFor(t *testing.T) {
	run, files := movedRun()
	moves := func() []moved {
		c := collector{run: run, histories: readHistories(run, files), anchors: anchorsOf(run)}
		return c.movements()
	}
	got := moves()
	want := []moved{{
		Scenario: "s", Link: "s/2", Transition: "transition",
		Objects: []movedObject{{"Pod web-0", "deleted, modified", "spec.a"}, {"Pod fresh", "added", ""}},
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	for _, text := range []string{"- transition: {}\n  during: []\n", ""} {
		run.Sources["a.yaml"] = text
		if got := moves(); len(got) > 0 {
			t.Errorf("of the step %q: %+v", text, got)
		}
	}
}

// What moved by itself ends at the next step that writes, whatever its verb; an older file does not say which do.
func TestMovedUntilAStepWrites(t *testing.T) {
	for name, c := range map[string]struct {
		verb   string
		writes *bool
		want   string // how web-0 changed
	}{
		"survives only sends dry runs":       {"survives", new(false), "deleted, modified"},
		"window with its check writes":       {"window", new(true), ""},
		"a load during eventually":           {"eventually", new(true), ""},
		"a verb of an older file that reads": {"survives", nil, "deleted, modified"},
		"a verb of an older file that may":   {"window", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			run, files := movedRun()
			step := run.Tracks[0].Scenarios[0].Steps[2]
			step.Verb, step.Writes = c.verb, c.writes
			collector := collector{run: run, histories: readHistories(run, files), anchors: anchorsOf(run)}
			got := map[string]string{}
			for _, m := range collector.movements() {
				for _, o := range m.Objects {
					got[o.Name] = o.What
				}
			}
			if got["Pod web-0"] != c.want {
				t.Errorf("%q, want %q", got["Pod web-0"], c.want)
			}
		})
	}
}

// The track of skipped scenarios has no cluster, and so no bands.
func TestTrackWithoutAClusterHasNoBands(t *testing.T) {
	run, _ := movedRun()
	c := collector{start: millis(run.Started), run: run}
	text, err := json.Marshal(c.track(&reports.Track{Name: "skipped"}, 1))
	if err != nil || string(text) != `{"name":"skipped","bands":[]}` {
		t.Errorf("%v: %s", err, text)
	}
}

func TestHeadlineLeavesOutWhereTheRestIs(t *testing.T) {
	if got := brief("kube-apiserver (pid 1) ended by itself: exit status 1; the end of /a/b.log:"); got != "kube-apiserver (pid 1) ended by itself: exit status 1" {
		t.Error(got)
	}
}

func TestHistoryThatBreaksOffIsSaid(t *testing.T) {
	run, files := movedRun()
	files["s/history.jsonl"] = &fstest.MapFile{Data: []byte(movedHistory + `{"line":"cha`)}
	h := readHistories(run, files)[run.Tracks[0].Scenarios[0]]
	if len(h.Objects) != 4 || !strings.Contains(h.Problem, "ends at line 9") {
		t.Errorf("%d objects, %q", len(h.Objects), h.Problem)
	}
}

// The page also shows runs in earlier formats, and it fetches nothing.
func TestPageOfRealRuns(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "testdata", "run-format-*.json"))
	if err != nil || len(files) != 2 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		data := []byte(golden.Read(t, file))
		run, err := reports.Read(data)
		golden.Must(t, err)
		text, err := Of(run, fstest.MapFS{}, nil)
		golden.Must(t, err)
		for _, want := range []string{
			"3 scenarios on Kubernetes 1.34.4 → 1.35.4 → 1.34.4 → 1.35.4",
			"1 failed with a known issue", "KEP5311-S1", `id="service-name-rollback"`, `class="top v-known"`,
		} {
			if !bytes.Contains(text, []byte(want)) {
				t.Errorf("the page of %s lacks %s", file, want)
			}
		}
		for _, fetched := range []string{"src=", "@import", "url(", "<link rel=\"stylesheet\""} {
			if bytes.Contains(text, []byte(fetched)) {
				t.Errorf("the page of %s fetches: %s", file, fetched)
			}
		}
	}
}

// A run that has not begun has a page, which is not green.
func TestPageOfAPlan(t *testing.T) {
	run, _ := movedRun()
	run.Started, run.Finished = time.Time{}, time.Time{}
	run.Tracks[0].Scenarios[0].Status = reports.NotRun
	text, err := Of(run, nil, nil)
	if err != nil || !bytes.Contains(text, []byte(`class="top v-notRun"`)) ||
		!bytes.Contains(text, []byte("did not run to its end")) {
		t.Errorf("%v: %.2000s", err, text)
	}
}

// A page stays small however large the histories are, and says what it leaves out.
func TestContentsThatDoNotFitAreLeftInTheirFiles(t *testing.T) {
	run, files := movedRun()
	big := `{"line":"change","at":"2026-01-01T00:00:01Z","step":1,"change":"added","resource":"pods","kind":"Pod","name":"big","object":{"x":"` + strings.Repeat("y", mostBodies) + `"}}`
	files["s/history.jsonl"] = &fstest.MapFile{Data: []byte(movedHistory + big + "\n")}
	text, err := Of(run, files, nil)
	if err != nil || len(text) > 1<<20 || !bytes.Contains(text, []byte("the contents of 1 of them are only in the "+
		"history.jsonl files")) {
		t.Errorf("%v: %d bytes", err, len(text))
	}
}
