package matrices

import (
	"path/filepath"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
)

func TestCompare(t *testing.T) {
	before, after := sample(), sample()
	change := func(scenario, version, kubernetes string, status reports.Status) {
		after.Cell(scenario, version, kubernetes).Status = status
	}
	change("upgrade", "v1.18.2", "1.34", reports.Failed)
	change("upgrade", "v1.18.2", "1.35", reports.Passed)
	change("policy <b>", "v1.18.2", "1.34", reports.NotRun)
	change("policy <b>", "v1.19.1", "1.35", reports.Skipped)
	after.Cell("policy <b>", "v1.18.2", "1.35").Reason = "kube-apiserver ended"
	before.Cells = before.Cells[:len(before.Cells)-2] // two are new: one did not run, one is untested
	after.Cells = append(after.Cells[:3:3], after.Cells[4:]...)
	diff, err := Compare(before, after)
	golden.Must(t, err)
	golden.Check(t, filepath.Join("testdata", "diff.txt.golden"), diff.String())
	if got := diff.Count(Worse, Lost); got != 3 {
		t.Errorf("%d are worse or no longer judged, want 3", got)
	}
	same, err := Compare(sample(), sample())
	if err != nil || same.Count(Worse, Lost) != 0 || same.String() != "no cell differs\n" {
		t.Errorf("got %q, %v", same, err)
	}
	other := sample()
	other.System = "lws"
	if _, err := Compare(sample(), other); err == nil {
		t.Error("matrices of two systems were compared")
	}
	shard := sample()
	shard.Shard = &reports.Shard{Number: 2, Of: 5}
	for _, pair := range [][2]*Report{{shard, sample()}, {sample(), shard}} {
		_, err := Compare(pair[0], pair[1])
		golden.Error(t, err, "one is only shard 2/5 of a matrix: merge all shards with 'rehearse merge'")
	}
}

// Two runs have other processes, folders, times and uids. That is no other reason.
func TestChangedReasons(t *testing.T) {
	for _, test := range []struct {
		status        reports.Status
		before, after string
		differs       int
	}{
		{reports.Error, "op (pid 27) ended; /tmp/x-1/op.log: bad flag", "op (pid 9) ended; /tmp/y-2/op.log: bad flag", 0},
		{reports.Error, "op (pid 27) ended: bad flag", "op (pid 27) ended: bad config", 1},
		{reports.Failed, "wanted 3, seen 2", "wanted 3, seen 0", 1},
		{reports.Failed, "false at +1.2s (200ms into 30s), it was 1", "false at +1m3s (9.1s into 30s), it was 1", 0},
		{reports.Failed, "false at +1.2s, it was 100m", "false at +1.3s, it was 200m", 1},
		{reports.Failed, "wanted 30s, seen 20s", "wanted 30s, seen 10s", 1},
		{
			reports.Failed, "Job j with the uid 0b8f0c3a-16f3-4b5e-9d2a-7c4f5a6b7c8d is gone",
			"Job j with the uid 5e1c2f7a-0d3b-4c6d-8e9f-000000000001 is gone", 0,
		},
		{
			Unstable, "Pod p at resourceVersion 12, created at 2026-01-02T03:04:05Z",
			"Pod p at resourceVersion 345, created at 2026-02-03T04:05:06Z", 0,
		},
		{reports.Known, "issue 7", "issue 7", 0},
	} {
		before, after := sample(), sample()
		before.Cells[0].Status, before.Cells[0].Reason = test.status, test.before
		after.Cells[0].Status, after.Cells[0].Reason = test.status, test.after
		diff, err := Compare(before, after)
		if err != nil || diff.Count(Differs) != test.differs || diff.Count(Worse, Lost) != 0 {
			t.Errorf("%s, %s: %v\n%s", test.before, test.after, err, diff)
		}
	}
}

// A cell that lost its verdict is never better, however bad the verdict was.
func TestClasses(t *testing.T) {
	const none = reports.Status("")
	for _, test := range []struct {
		before, after reports.Status
		want          Class
	}{
		{reports.Passed, reports.Failed, Worse},
		{reports.Passed, reports.Known, Worse},
		{reports.Failed, reports.Passed, Better},
		{reports.Failed, Unstable, Better},
		{reports.Failed, reports.Error, Lost},
		{reports.Failed, reports.Skipped, Lost},
		{reports.Known, reports.NotRun, Lost},
		{reports.Passed, reports.Error, Lost},
		{Unstable, reports.Error, Lost},
		{reports.Error, reports.NotRun, Differs},
		{reports.NotRun, reports.Error, Differs},
		{reports.NotRun, reports.Failed, Worse},
		{reports.Error, reports.Skipped, Differs},
		{reports.Error, reports.Passed, Better},
		{reports.Skipped, reports.Error, Worse},
		{reports.Skipped, reports.Passed, Better},
		{none, reports.Failed, Worse},
		{none, reports.Error, Worse},
		{none, reports.Skipped, Added},
		{none, reports.Passed, Added},
	} {
		var before *Cell
		if test.before != none {
			before = &Cell{Status: test.before}
		}
		if got := classOf(before, &Cell{Status: test.after}); got != test.want {
			t.Errorf("%q -> %s: %s, want %s", test.before, test.after, got, test.want)
		}
	}
}

// A cell that is missing is harmless only if one of its versions left the matrix, or if it had no verdict.
func TestMissingCells(t *testing.T) {
	before := sample()
	without := func(scenario string, versions, kubernetes []string) *Report {
		after := New("kyverno", versions, kubernetes, nil)
		for _, cell := range sample().Cells {
			if cell.Scenario == scenario {
				after.Cells = append(after.Cells, cell)
			}
		}
		return after
	}
	for name, test := range map[string]struct {
		after      *Report
		lost, gone int
	}{
		"a deleted scenario":   {without("upgrade", before.Versions, before.Kubernetes), 2, 2},
		"without its version":  {without("upgrade", []string{"v1.18.2"}, before.Kubernetes), 1, 3},
		"without Kubernetes":   {without("upgrade", before.Versions, []string{"1.34"}), 1, 3},
		"with everything left": {sample(), 0, 0},
	} {
		diff, err := Compare(before, test.after)
		if err != nil || diff.Count(Lost) != test.lost || diff.Count(Gone) != test.gone {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
}
