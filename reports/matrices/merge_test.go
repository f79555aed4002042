package matrices

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/reports"
)

// shards returns the two shards of a matrix of scenarios a and b on versions v1 and v2, and their runs. Shard 1 has b
// on v1 and a on v2, shard 2 has a on v1. b on v2 is not tested.
func shards(change func(first, second *Report)) ([]Part, []reports.Part) {
	planned := func(n int, titles ...string) *reports.Run {
		run := &reports.Run{
			Head: reports.Head{
				Format: reports.Format, Program: "1", Command: fmt.Sprintf("rehearse matrix --shard %d/2", n),
				Started: time.Unix(1000, 0), Finished: time.Unix(1000+int64(n), 0),
			},
			Shard: &reports.Shard{Number: n, Of: 2, Plan: "p"},
		}
		for _, title := range titles {
			run.Tracks = append(run.Tracks, &reports.Track{
				Name: "track-1", Scenarios: []*reports.Scenario{{Name: title, Status: reports.Passed}},
			})
		}
		return run
	}
	whole := func() *Report {
		return New("op", []string{"v1", "v2"}, []string{"1.34"}, []*Cell{
			{Scenario: "a", Version: "v1", Kubernetes: "1.34", Title: "a [v1 on 1.34]"},
			{Scenario: "a", Version: "v2", Kubernetes: "1.34", Title: "a [v2 on 1.34]"},
			{Scenario: "b", Version: "v1", Kubernetes: "1.34", Title: "b [v1 on 1.34]"},
			{Scenario: "b", Version: "v2", Kubernetes: "1.34", Status: reports.Skipped, Reason: "no newer one"},
		})
	}
	first, second := whole(), whole()
	runs := []*reports.Run{planned(1, "b [v1 on 1.34]", "a [v2 on 1.34]"), planned(2, "a [v1 on 1.34]")}
	for i, r := range []*Report{first, second} {
		r.OfShard(runs[i])
		r.Judge(runs[i])
	}
	if change != nil {
		change(first, second)
	}
	return []Part{{Result: second, From: "shard-2"}, {Result: first, From: "shard-1"}},
		[]reports.Part{{Run: runs[0], From: "shard-1"}, {Run: runs[1], From: "shard-2"}}
}

func TestShards(t *testing.T) {
	parts, runs := shards(nil)
	if first, second := parts[1].Result, parts[0].Result; len(first.Cells) != 3 || len(second.Cells) != 1 ||
		second.ExitCode() != 0 || !strings.HasSuffix(second.Sentence(), "1 passed; shard 2/2") {
		t.Errorf("got %d and %d cells, %s", len(first.Cells), len(second.Cells), second.Sentence())
	}
	merged, err := Merge(parts, reports.Merge(runs))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range merged.Cells {
		got = append(got, fmt.Sprintf("%s %s %s", c.Scenario, c.Version, c.Status))
	}
	if want := []string{"a v1 passed", "a v2 passed", "b v1 passed", "b v2 skipped"}; !reflect.DeepEqual(got, want) ||
		merged.Shard != nil || merged.ExitCode() != 0 ||
		merged.Command != "rehearse matrix --shard 1/2\nrehearse matrix --shard 2/2" {
		t.Errorf("got %q, shard %v, exit code %d, command %q", got, merged.Shard, merged.ExitCode(), merged.Command)
	}
}

// A cell that a dead shard did not judge is not passed, whatever the shard's matrix says.
func TestShardThatDied(t *testing.T) {
	parts, runs := shards(func(_, second *Report) { second.Finished = time.Time{} })
	runs[1].Run.Finished, runs[1].Run.Tracks[0].Scenarios[0].Status = time.Time{}, reports.NotRun
	merged, err := Merge(parts, reports.Merge(runs))
	if err != nil || reports.Unfinished(reports.PiecesOf(parts)) == nil || !merged.Interrupted {
		t.Fatalf("%v, %+v", err, merged)
	}
	if cell := merged.Cells[0]; cell.Status != reports.NotRun || merged.ExitCode() == 0 {
		t.Errorf("%+v, exit code %d", cell, merged.ExitCode())
	}
}

func TestShardsThatAreNoWhole(t *testing.T) {
	for name, c := range map[string]struct {
		change func(first, second *Report)
		want   string
	}{
		"twice":         {func(first, _ *Report) { first.Shard = &reports.Shard{Number: 2, Of: 2, Plan: "p"} }, "2 is there twice"},
		"no shard":      {func(first, _ *Report) { first.Shard = nil }, "not a shard"},
		"other system":  {func(first, _ *Report) { first.System = "po" }, "not parts of the same matrix"},
		"other version": {func(_, second *Report) { second.Versions = []string{"v1", "v3"} }, "not parts of the same matrix"},
		"lost cells":    {func(first, _ *Report) { first.Cells = first.Cells[1:] }, "have 3 cells, and the matrix has 4"},
		"another plan": {
			func(first, _ *Report) { first.Shard = &reports.Shard{Number: 1, Of: 2, Plan: "q"} }, "not parts of the same run",
		},
	} {
		parts, runs := shards(c.change)
		if _, err := Merge(parts, reports.Merge(runs)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
