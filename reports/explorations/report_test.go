package explorations_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/explorations"
	"github.com/rehearse-dev/rehearse/reports/internal/reporttest"
)

func report() *explorations.Report {
	return &explorations.Report{
		Path:  []*explorations.State{{Name: "1.34.4", Reached: true}, {Name: "1.35.4", Reached: true}},
		Kinds: []*explorations.Kind{{Name: "Ingress.v1.networking.k8s.io", Fields: 10, Covered: 9}}, Crossed: 3,
		Findings: []*explorations.Finding{{
			ID: "update-1", Sort: explorations.Defect, Checks: []string{"update", "label"}, Kinds: []string{"Ingress"},
			From: "1.34.4", Before: "1.34.4", To: "1.35.4", What: "it is stuck", Words: "422 <no> | good", Objects: 2,
			Proof: explorations.Shown, Scenario: "kind: Scenario\n",
		}},
	}
}

func TestExitCodes(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*explorations.Report)
		want   int
	}{
		{"a new finding", func(*explorations.Report) {}, 1},
		{"a known one", func(r *explorations.Report) { r.Findings[0].Known = "we know" }, 0},
		{"none", func(r *explorations.Report) { r.Findings = nil }, 0},
		{"not judged", func(r *explorations.Report) { r.Findings, r.Unjudged = nil, []string{"a"} }, 3},
		{"a state that was not reached", func(r *explorations.Report) { r.Findings, r.Path[1].Reached = nil, false }, 3},
		{"nothing crossed", func(r *explorations.Report) { r.Findings, r.Crossed = nil, 0 }, 3},
		{"interrupted", func(r *explorations.Report) { r.Interrupted = true }, 130},
		{"a shard whose time ended before it explored a kind", func(r *explorations.Report) {
			r.Findings, r.Crossed, r.Shard, r.Late = nil, 0, &reports.Shard{Number: 1, Of: 2}, true
		}, 3},
		{"a shard without a kind, where some kinds could not be listed", func(r *explorations.Report) {
			r.Findings, r.Crossed, r.Shard, r.Idle = nil, 0, &reports.Shard{Number: 1, Of: 2}, true
			r.Unjudged = []string{"a"}
		}, 3},
	} {
		r := report()
		test.change(r)
		if got := r.ExitCode(); got != test.want {
			t.Errorf("%s: exit code %d, want %d", test.name, got, test.want)
		}
	}
}

func TestReportsAreWritten(t *testing.T) {
	dir := t.TempDir()
	golden.Must(t, explorations.Write(dir, report()))
	for file, want := range map[string]string{
		"explore.md": `422 &lt;no> \| good`, "junit.xml": `failures="1"`, "known.yaml": "id: update-1",
		"scenarios/update-1.yaml": "kind: Scenario", "explore.json": `"id": "update-1"`,
	} {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s lacks %s: %v\n%s", file, want, err, text)
		}
	}
	text, _ := os.ReadFile(filepath.Join(dir, "explore.json"))
	var again explorations.Report
	if err := json.Unmarshal(text, &again); err != nil || len(again.Findings) != 1 {
		t.Errorf("explore.json cannot be read: %v", err)
	}
}

// The scenarios of an earlier exploration do not stay. Other files do.
func TestScenariosOfEarlierFindings(t *testing.T) {
	dir := t.TempDir()
	earlier := report()
	earlier.Format, earlier.Findings[0].ID = explorations.Format, "update-0123abcd"
	golden.Must(t, explorations.Write(dir, earlier))
	kept := filepath.Join(dir, "scenarios", "create-0123abcd.yaml") // one that a user took from another exploration
	golden.Must(t, os.WriteFile(kept, nil, 0o600))
	golden.Must(t, explorations.Write(dir, report()))
	files, err := filepath.Glob(filepath.Join(dir, "scenarios", "*"))
	golden.Must(t, err)
	if want := []string{
		kept, filepath.Join(dir, "scenarios", "update-1.yaml"),
	}; !slices.Equal(files, want) {
		t.Errorf("left %v", files)
	}
}

// A report may come from somebody else. Its names do not lead out of the folder, and it has no null in a list.
func TestReportsOfOthers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "report")
	r := report()
	r.Findings[0].ID = "../../outside"
	if err := explorations.Write(dir, r); err == nil || !strings.Contains(err.Error(), "leads out of its folder") {
		t.Errorf("it was written: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "..", "outside.yaml")); !os.IsNotExist(err) {
		t.Errorf("a file outside of the folder: %v", err)
	}
	_, err := explorations.Read([]byte(`{"format": 1, "path": [{"name": "1.34.4"}], "findings": [null]}`))
	golden.Error(t, err, "null in a list")
}

// Every report is valid JUnit, also one that was not finished.
func TestJUnitIsValid(t *testing.T) {
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, change := range map[string]func(*explorations.Report){
		"finished":      func(r *explorations.Report) { r.Finished = began.Add(1234 * time.Microsecond) },
		"unfinished":    func(*explorations.Report) {},
		"planned":       func(r *explorations.Report) { r.Findings, r.Path[0].Reached, r.Path[1].Reached = nil, false, false },
		"never started": func(r *explorations.Report) { r.Started = time.Time{} },
		"known":         func(r *explorations.Report) { r.Findings[0].Known = "we know" },
		"not judged":    func(r *explorations.Report) { r.Unjudged = []string{"a"} },
	} {
		t.Run(name, func(t *testing.T) {
			r := report()
			r.Started = began
			change(r)
			text, err := explorations.JUnit(r)
			golden.Must(t, err)
			for _, problem := range reporttest.CheckJUnit(text) {
				t.Errorf("%s in:\n%s", problem, text)
			}
		})
	}
}

// The case of the whole path is an error if the exit code says that not all of it was judged.
func TestTheWholePathInJUnit(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*explorations.Report)
		code   int
		errors string
	}{
		{"all of it", func(*explorations.Report) {}, 0, "0"},
		{"not judged", func(r *explorations.Report) { r.Unjudged = []string{"a"} }, 3, "1"},
		{"a state that was not reached", func(r *explorations.Report) { r.Path[1].Reached = false }, 3, "1"},
		{"nothing crossed", func(r *explorations.Report) { r.Crossed = 0 }, 3, "1"},
		{"interrupted while findings were reduced", func(r *explorations.Report) { r.Interrupted = true }, 130, "1"},
		{"a shard without a kind", func(r *explorations.Report) {
			r.Idle, r.Shard, r.Crossed, r.Path[0].Reached = true, &reports.Shard{Number: 2, Of: 2}, 0, false
		}, 0, "0"},
		{"such a shard that failed", func(r *explorations.Report) {
			r.Idle, r.Shard, r.Crossed, r.Path[0].Reached = true, &reports.Shard{Number: 2, Of: 2}, 0, false
			r.Fail(errors.New("no etcd"))
		}, 3, "1"},
	} {
		r := report()
		r.Findings = nil
		test.change(r)
		text, err := explorations.JUnit(r)
		golden.Must(t, err)
		if r.ExitCode() != test.code || !strings.Contains(string(text), `errors="`+test.errors+`"`) {
			t.Errorf("%s: exit code %d, want %d and %s errors in:\n%s", test.name, r.ExitCode(), test.code, test.errors, text)
		}
	}
}

func TestTheKnownFindingsOfAReportAreNoNews(t *testing.T) {
	dir := t.TempDir()
	golden.Must(t, explorations.Write(dir, report()))
	known, err := explorations.ReadKnown(filepath.Join(dir, "known.yaml"))
	golden.Must(t, err)
	r := report()
	known.Mark(r)
	if r.ExitCode() != 0 || r.Findings[0].Known == "" || !strings.Contains(r.Sentence(), "1 defect (1 known)") {
		t.Errorf("%s", r.Sentence())
	}
}

// A known finding on another kind is new.
func TestAKnownFindingIsKnownOnItsKinds(t *testing.T) {
	for want, kinds := range map[string][]string{"": {"Other"}, "by design": {"Other", "Ingress"}} {
		r := report()
		r.Findings[0].Kinds = []string{"Ingress"}
		known := explorations.Known{Known: []explorations.KnownFinding{
			{ID: r.Findings[0].ID, Reason: "by design", Kinds: kinds},
		}}
		known.Mark(r)
		if got := r.Findings[0].Known; got != want {
			t.Errorf("known on %v: got %q, want %q", kinds, got, want)
		}
	}
}

func TestTextSaysWhatIsNew(t *testing.T) {
	text := explorations.TextIn(report(), 0)
	for _, want := range []string{
		"1.34.4 -> 1.35.4: 1 defect, 0 hazards; 3 objects crossed\n", "DEFECT  1.34.4 -> 1.35.4  Ingress: it is stuck\n",
		"checks: update, label", "1 kind, 9 of 10 fields that can be set",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("it lacks %q:\n%s", want, text)
		}
	}
}

// The error that ended an exploration comes first in what is not judged, once.
func TestFail(t *testing.T) {
	r := report()
	r.Findings, r.Unjudged = nil, []string{"Node: it was away", "the exploration failed before its end: no etcd"}
	r.Fail(errors.New("no etcd"))
	want := []string{"the exploration failed before its end: no etcd", "Node: it was away"}
	if r.Failure != "no etcd" || !slices.Equal(r.Unjudged, want) || r.ExitCode() != 3 {
		t.Errorf("%q, %q, exit code %d", r.Failure, r.Unjudged, r.ExitCode())
	}
	idle := report()
	idle.Idle, idle.Findings = true, nil
	if idle.Fail(errors.New("no etcd")); idle.ExitCode() != 3 {
		t.Errorf("a shard without a kind passes, though it failed")
	}
	stopped := report()
	stopped.Interrupted = true
	if stopped.Fail(context.Canceled); stopped.Failure != "" || stopped.Unjudged != nil {
		t.Errorf("an interrupt is an error: %q", stopped.Failure)
	}
}

func TestSentenceOfAPart(t *testing.T) {
	r := report()
	r.Interrupted = true
	if want := "3 objects crossed; interrupted"; !strings.HasSuffix(r.Sentence(), want) {
		t.Errorf("%q does not end with %q", r.Sentence(), want)
	}
	r = report()
	r.Started = time.Unix(1000, 0)
	if want := "crossed; it had not finished when this was written"; !strings.HasSuffix(r.Sentence(), want) {
		t.Errorf("%q does not end with %q", r.Sentence(), want)
	}
}

func TestTextInColumns(t *testing.T) {
	r := report()
	r.Findings[0].Words = "\x1b[2J" + strings.Repeat("a message ", 12)
	text := explorations.TextIn(r, 60)
	for line := range strings.SplitSeq(text, "\n") {
		if len(line) > 60 {
			t.Errorf("a line has %d columns: %s", len(line), line)
		}
	}
	if strings.Contains(text, "\x1b") {
		t.Errorf("it has control characters: %q", text)
	}
}

// The terminal and the Markdown say in the same words how many findings were not shown again.
func TestDropped(t *testing.T) {
	r := report()
	dropped := &explorations.Finding{ID: "a"}
	for n, want := range []string{
		"", "1 finding was not shown again by its own scenario; explore.json has it",
		"2 findings were not shown again by their own scenarios; explore.json has them",
	} {
		r.Dropped = slices.Repeat([]*explorations.Finding{dropped}, n)
		for _, text := range []string{explorations.TextIn(r, 0), explorations.Markdown(r)} {
			if !strings.Contains(text, want) || strings.Contains(text, "not shown again by") != (n > 0) {
				t.Errorf("%d: it lacks %q:\n%s", n, want, text)
			}
		}
	}
}
