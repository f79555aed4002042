package explorations_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/explorations"
	"github.com/rehearse-dev/rehearse/reports/upgrades"
)

// shard returns one of two shards, as it is read from its file. Each has a kind of its own.
func shard(t *testing.T, n int, change func(*explorations.Report)) explorations.Part {
	t.Helper()
	r := report()
	r.Head = reports.Head{
		Format: explorations.Format, Program: "1", Started: time.Unix(int64(1000+n), 0),
		Finished: time.Unix(int64(2000+n), 0),
	}
	r.Shard = &reports.Shard{Number: n, Of: 2, Plan: "p"}
	r.Tried, r.DryRuns, r.PerSecond = 5, 100, 50
	r.Untried = []string{"1 of 4 objects did not cross (--objects 3)"}
	r.Matrix = []*upgrades.Row{{Kind: "Pod", Objects: 1, Cells: []upgrades.Cell{{Good: 1}, {Breaks: 1}}}}
	r.Findings[0].Object = "kind: Ingress\n"
	r.Gates = []*explorations.Gate{{Name: "SomeGate", Fields: []string{"Pod spec.a"}}}
	if n == 2 {
		r.Kinds[0].Name = "Gadget.v1"
		r.Findings[0].Kinds, r.Findings[0].Object = []string{"Gadget"}, "kind: G\n"
		r.Findings = append(r.Findings, &explorations.Finding{
			ID: "content-2", Sort: explorations.Hazard, Kinds: []string{"Gadget"}, Before: "1.34.4", To: "1.35.4",
			What: "a field is gone", Words: "spec.a", Objects: 1, Proof: explorations.Shown, Known: "by design",
		})
		r.Gates[0].Fields = []string{"Gadget spec.a"}
	}
	if change != nil {
		change(r)
	}
	data, err := json.Marshal(r)
	golden.Must(t, err)
	again, err := explorations.Read(data)
	golden.Must(t, err)
	return explorations.Part{Result: again, From: fmt.Sprint("shard-", n)}
}

// Merge joins findings of the same cause and keeps the smallest object. It adds up kinds, objects and dry runs, and
// keeps what was not tried.
func TestMerge(t *testing.T) {
	parts := []explorations.Part{shard(t, 2, nil), shard(t, 1, nil)}
	merged, err := explorations.Merge(parts)
	if err != nil || reports.Unfinished(reports.PiecesOf(parts)) != nil {
		t.Fatal(err, reports.Unfinished(reports.PiecesOf(parts)))
	}
	golden.Check(t, "testdata/merged.txt", explorations.TextIn(merged, 0))
	text, err := explorations.JSON(merged)
	golden.Must(t, err)
	golden.Check(t, "testdata/merged.json", string(text))
	if merged.ExitCode() != 1 {
		t.Errorf("exit code %d", merged.ExitCode())
	}
}

// A finding is known after a merge only if it is known in each shard: the kinds of another shard may be new.
func TestMergeOfAFindingThatOneShardKnows(t *testing.T) {
	known := func(r *explorations.Report) { r.Findings[0].Known = "by design" }
	for want, changes := range map[string][]func(*explorations.Report){
		"": {known, nil}, "by design": {known, known},
	} {
		merged, err := explorations.Merge([]explorations.Part{shard(t, 1, changes[0]), shard(t, 2, changes[1])})
		golden.Must(t, err)
		if got := merged.Findings[0].Known; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestMergeOfShardsThatSayLess(t *testing.T) {
	quiet := func(r *explorations.Report) { r.Findings = nil }
	for name, c := range map[string]struct {
		change     func(*explorations.Report)
		code       int
		unfinished bool
	}{
		"nothing was found": {quiet, 0, false},
		"it has no kind": {func(r *explorations.Report) {
			r.Idle, r.Kinds, r.Findings, r.Crossed = true, []*explorations.Kind{}, nil, 0
			for _, s := range r.Path {
				s.Reached = false
			}
		}, 0, false},
		"nothing of it crossed":    {func(r *explorations.Report) { quiet(r); r.Crossed = 0 }, 0, false},
		"it did not reach a state": {func(r *explorations.Report) { quiet(r); r.Path[1].Reached = false }, 3, false},
		"it could not judge":       {func(r *explorations.Report) { quiet(r); r.Unjudged = []string{"a"} }, 3, false},
		"it died": {func(r *explorations.Report) {
			quiet(r)
			r.Finished, r.Path[0].Reached, r.Path[1].Reached = time.Time{}, false, false
		}, 3, true},
		"it was interrupted": {func(r *explorations.Report) { quiet(r); r.Interrupted = true }, 130, true},
	} {
		parts := []explorations.Part{shard(t, 1, quiet), shard(t, 2, c.change)}
		merged, err := explorations.Merge(parts)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if merged.ExitCode() != c.code || (reports.Unfinished(reports.PiecesOf(parts)) != nil) != c.unfinished ||
			merged.Finished.IsZero() != c.unfinished {
			t.Errorf("%s: exit code %d, unfinished: %v", name, merged.ExitCode(), reports.Unfinished(reports.PiecesOf(parts)))
		}
	}
}

func TestMergeOfShardsThatAreNoWhole(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*explorations.Report)
		want   string
	}{
		"twice":           {func(r *explorations.Report) { r.Shard.Number = 1 }, "shard 1 is there twice"},
		"another input":   {func(r *explorations.Report) { r.Shard.Plan = "q" }, "not parts of the same run"},
		"another program": {func(r *explorations.Report) { r.Program = "2" }, "written by rehearse 2"},
		"no shard":        {func(r *explorations.Report) { r.Shard = nil }, "not a shard"},
	} {
		_, err := explorations.Merge([]explorations.Part{shard(t, 1, nil), shard(t, 2, c.change)})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// A merged finding keeps the object that was proven, even if another shard has a smaller one without a proof.
func TestTheProofOfAMergedFinding(t *testing.T) {
	merged, err := explorations.Merge([]explorations.Part{shard(t, 1, nil), shard(t, 2, func(r *explorations.Report) {
		r.Findings[0].Proof = explorations.NotTried
	})})
	golden.Must(t, err)
	if f := merged.Findings[0]; f.Proof != explorations.Shown || f.Object != "kind: Ingress\n" || f.Objects != 4 {
		t.Errorf("it is %+v", f)
	}
}

// A merged finding is as bad as in the worst shard, also without a proof.
func TestTheSortOfAMergedFinding(t *testing.T) {
	merged, err := explorations.Merge([]explorations.Part{shard(t, 1, func(r *explorations.Report) {
		r.Findings[0].Sort = explorations.Hazard
	}), shard(t, 2, func(r *explorations.Report) {
		r.Findings[0].Sort, r.Findings[0].Proof = explorations.Defect, explorations.NotTried
	})})
	golden.Must(t, err)
	if f := merged.Findings[0]; f.Sort != explorations.Defect {
		t.Errorf("it is %+v", f)
	}
}

// A shard without a kind says so, and passes.
func TestAShardWithoutAKind(t *testing.T) {
	part := shard(t, 2, func(r *explorations.Report) { r.Idle, r.Findings, r.Crossed = true, nil, 0 })
	if want := "shard 2/2 has nothing to explore"; part.Result.ExitCode() != 0 || !strings.Contains(part.Result.Sentence(), want) {
		t.Errorf("exit code %d; it says %s, want %s", part.Result.ExitCode(), part.Result.Sentence(), want)
	}
}

// The results of several clusters add up. A state is reached if each cluster reached it.
func TestAddCrossing(t *testing.T) {
	r := &explorations.Report{Path: []*explorations.State{{Name: "a"}, {Name: "b"}}}
	for i, reached := range []bool{true, false, true} {
		r.AddCrossing([]*upgrades.State{
			{Name: "a", Way: upgrades.Start, Reached: true, Survey: 1}, {Name: "b", Way: upgrades.Up, Reached: reached, Survey: 2},
		}, []*upgrades.Row{
			{Kind: "Pod", Objects: 1, Cells: []upgrades.Cell{{Good: 1}, {Breaks: 1}}},
			{Kind: []string{"Job", "Node", "Node"}[i], Objects: 2, Cells: []upgrades.Cell{{Good: 2}, {Good: 2}}},
		}, 3)
	}
	got := fmt.Sprintf("%d crossed", r.Crossed)
	for _, s := range r.Path {
		got += fmt.Sprintf("\n%s %s %t %v", s.Name, s.Way, s.Reached, s.Seconds)
	}
	for _, row := range r.Matrix {
		got += fmt.Sprintf("\n%s %d", row.Kind, row.Objects)
		for _, cell := range row.Cells {
			got += fmt.Sprintf(" %d/%d", cell.Good, cell.Breaks)
		}
	}
	want := `9 crossed
a start true 3
b upgrade false 6
Pod 3 3/0 0/3
Job 2 2/0 2/0
Node 4 4/0 4/0`
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}
