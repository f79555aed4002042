package matrices

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/internal/folder"
)

// sample returns a matrix that has a cell of each status of a scenario.
func sample() *Report {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	cell := func(scenario, version, kubernetes string, status reports.Status, reason string) *Cell {
		return &Cell{
			Scenario: scenario, Version: version, Kubernetes: kubernetes, Status: status, Reason: reason,
			Title: scenario + " [" + version + " on " + kubernetes + "]",
		}
	}
	r := New("kyverno", []string{"v1.18.2", "v1.19.1"}, []string{"1.34", "1.35"}, []*Cell{
		cell("upgrade", "v1.18.2", "1.34", reports.Passed, ""),
		cell("upgrade", "v1.18.2", "1.35", reports.Failed, "wanted | 3,\nseen 2"),
		cell("upgrade", "v1.19.1", "1.34", reports.Skipped, "no newer one"),
		cell("upgrade", "v1.19.1", "1.35", reports.Skipped, "no newer one"),
		cell("policy <b>", "v1.18.2", "1.34", reports.Known, "issue 7"),
		cell("policy <b>", "v1.18.2", "1.35", reports.Error, "etcd ended"),
		cell("policy <b>", "v1.19.1", "1.34", reports.NotRun, "it was not reached"),
		cell("policy <b>", "v1.19.1", "1.35", reports.Passed, ""),
	})
	r.Command, r.Started, r.Finished = "rehearse matrix --up", at, at.Add(time.Minute)
	return r
}

func TestReports(t *testing.T) {
	for name, got := range map[string]string{"matrix.txt": Text(sample()), "matrix.md": markdown(sample())} {
		golden.Check(t, filepath.Join("testdata", name+".golden"), got)
	}
}

// A cell that has different results in several runs is unstable, and the matrix shows the result of each run.
func TestRepeated(t *testing.T) {
	at := func(r *Report, i int) *Cell { return r.Cells[i] }
	second, third := sample(), sample()
	third.Interrupted = true
	at(second, 0).Status, at(second, 0).Reason = reports.Failed, "seen 1"
	at(second, 7).Status = reports.Known
	at(third, 1).Status = reports.NotRun // which does not count if other runs judged the cell
	merged := Repeated([]*Report{sample(), second, third})
	golden.Check(t, filepath.Join("testdata", "repeated.txt.golden"), Text(merged))
	golden.Check(t, filepath.Join("testdata", "repeated.md.golden"), markdown(merged))
	for i, cell := range merged.Cells {
		want, runs := sample().Cells[i].Status, 0
		if i == 0 || i == 7 {
			want, runs = Unstable, 3
		}
		if cell.Status != want || len(cell.Runs) != runs {
			t.Errorf("cell %d: %s, runs %v; want %s", i, cell.Status, cell.Runs, want)
		}
	}
	if merged.Interrupted = false; merged.ExitCode() != 1 {
		t.Errorf("exit code %d", merged.ExitCode())
	}
	if alike := Repeated([]*Report{sample(), sample()}); !reflect.DeepEqual(alike.Cells, sample().Cells) {
		t.Errorf("two runs that are alike: %+v", alike)
	}
}

func TestReadBack(t *testing.T) {
	text, err := folder.JSON(sample())
	golden.Must(t, err)
	back, err := Read(text)
	if err != nil || !reflect.DeepEqual(back, sample()) {
		t.Errorf("%v, got %s", err, text)
	}
	for text, want := range map[string]string{
		"{":                       "read a matrix: unexpected end",
		`{"format": 2}`:           "its format is 2, and this program reads 1",
		`{"format": 1}`:           "it has no cells",
		`{"tracks": [{}]}`:        "its format is 0",
		`{"format":1,"cells":[]}`: "it has no cells",
	} {
		_, err := Read([]byte(text))
		golden.Error(t, err, want)
	}
}

func TestExitCode(t *testing.T) {
	with := func(statuses ...reports.Status) *Report {
		r := &Report{}
		for _, status := range statuses {
			r.Cells = append(r.Cells, &Cell{Status: status})
		}
		return r
	}
	interrupted := with(reports.Failed)
	interrupted.Interrupted = true
	for _, test := range []struct {
		name string
		r    *Report
		want int
	}{
		{"all passed", with(reports.Passed, reports.Known), 0},
		{"one is untested on purpose", with(reports.Passed, reports.Skipped), 0},
		{"nothing was tested", with(reports.Skipped, reports.Skipped), 2},
		{"one failed, one could not be judged", with(reports.Error, reports.Failed, reports.Passed), 1},
		{"one could not be judged", with(reports.Passed, reports.Error), 3},
		{"one is unstable, one could not be judged", with(reports.Passed, Unstable, reports.Error), 1},
		{"one did not run", with(reports.Passed, reports.NotRun), 3},
		{"a cluster could not be deleted", &Report{
			Cells: []*Cell{{Status: reports.Passed}}, Broken: []string{"delete the cluster: it is busy"},
		}, 3},
		{"interrupted", interrupted, 130},
		{"one could not be planned", &Report{Cells: []*Cell{
			{Status: reports.Passed}, {Status: reports.Skipped, Unplanned: true},
		}}, 3},
	} {
		if got := test.r.ExitCode(); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
}

// A cell has the result of its own scenario. A cell whose scenario is not in the run is not passed.
func TestJudge(t *testing.T) {
	r := New("lws", []string{"v1", "v2"}, []string{"1.34"}, []*Cell{
		{Scenario: "a", Version: "v1", Kubernetes: "1.34", Title: "a [v1 on 1.34]"},
		{Scenario: "a", Version: "v2", Kubernetes: "1.34", Title: "a [v2 on 1.34]"},
		{Scenario: "b", Version: "v1", Kubernetes: "1.34", Title: "b [v1 on 1.34]"},
		{Scenario: "b", Version: "v2", Kubernetes: "1.34", Status: reports.Skipped, Reason: "no newer one"},
		{Scenario: "c", Version: "v2", Kubernetes: "1.34", Title: "c [v2 on 1.34]"},
	})
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	failed := &reports.Scenario{
		Name: "a [v2 on 1.34]", Status: reports.Failed, Started: at, Finished: at.Add(9 * time.Second),
		Took:  reports.Seconds(2 * time.Second),
		Steps: []*reports.Step{{Name: "it is ready", Verb: "eventually", Status: reports.Failed, Message: "wanted 3, seen 2"}},
	}
	r.Judge(&reports.Run{Head: reports.Head{Command: "rehearse matrix"}, Tracks: []*reports.Track{{
		Path: []string{"1.34.4"}, Scenarios: []*reports.Scenario{{Name: "a [v1 on 1.34]", Status: reports.Passed}, failed},
	}, {
		Setup:     []*reports.Step{{Verb: "install", Name: "lws", Status: reports.Error, Message: "it ended:\n  no such flag"}},
		Scenarios: []*reports.Scenario{{Name: "c [v2 on 1.34]", Status: reports.NotRun}},
	}, {
		Setup: []*reports.Step{{Verb: "install", Name: "other", Status: reports.Error, Message: "it is busy"}},
	}}})
	want := []reports.Status{reports.Passed, reports.Failed, reports.NotRun, reports.Skipped, reports.Error}
	for i, cell := range r.Cells {
		if cell.Status != want[i] || (cell.Reason == "") != (cell.Status == reports.Passed) {
			t.Errorf("cell %d: %s, %q; want %s", i, cell.Status, cell.Reason, want[i])
		}
	}
	if len(r.Broken) != 1 || r.Broken[0] != "install other: it is busy" || !strings.Contains(Text(r), r.Broken[0]) ||
		!strings.Contains(markdown(r), "- "+r.Broken[0]) || !strings.Contains(r.Sentence(), "1 step on clusters failed") {
		t.Errorf("what no cell shows: %q; %s", r.Broken, r.Sentence())
	}
	if got := r.Cells[4].Reason; got != "install lws: it ended: no such flag" {
		t.Errorf("got %q", got)
	}
	if got := r.Cells[1]; !strings.Contains(got.Reason, "wanted 3, seen 2") || got.Took != 2 {
		t.Errorf("got %+v", got)
	}
}
