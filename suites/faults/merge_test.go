package faults

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/harness/planning"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/suites/simulators"
)

// shards are the results of two shards, read from their files.
func shards(t *testing.T, change func(first, second *Result)) []Part {
	t.Helper()
	of := func(n int) *Result {
		return &Result{
			Head: reports.Head{
				Format: Format, Program: "1", Command: fmt.Sprintf("rehearse faults gadgets --try --shard=%d/2", n),
				Started: time.Unix(1000, 0), Finished: time.Unix(1010, 0),
			},
			Suite: "gadgets", Shard: &reports.Shard{Number: n, Of: 2, Plan: "p"},
			Trials: Names{Faults: []string{"one", "two"}, Liberties: []string{"late", AllTogether}},
		}
	}
	first, second := of(1), of(2)
	whole := matrix()
	first.Faults = &Matrix{Suite: "gadgets", Rows: whole.Rows[1:], Core: whole.Core, Took: time.Second, Partial: true}
	second.Faults = &Matrix{Suite: "gadgets", Rows: whole.Rows[:1], Core: whole.Core, Took: 2 * time.Second, Partial: true}
	first.Liberties = &Freedom{Suite: "gadgets", Trials: []Trial{{Name: AllTogether, Scenarios: 2, Took: time.Second}}}
	second.Liberties = &Freedom{Suite: "gadgets", Trials: []Trial{{Name: "late", Scenarios: 1, Took: time.Second}}}
	if change != nil {
		change(first, second)
	}
	var parts []Part
	for _, r := range []*Result{second, first} {
		data, err := json.Marshal(r)
		golden.Must(t, err)
		again, err := Read(data)
		golden.Must(t, err)
		parts = append(parts, Part{Result: again, From: fmt.Sprintf("shard-%d", r.Shard.Number)})
	}
	return parts
}

// The merged trials have the same order as without shards. A requirement that caught nothing in any shard is idle.
func TestMerge(t *testing.T) {
	parts := shards(t, nil)
	merged, err := Merge(parts)
	if err != nil || reports.Unfinished(reports.PiecesOf(parts)) != nil {
		t.Fatal(err, reports.Unfinished(reports.PiecesOf(parts)))
	}
	golden.Check(t, "testdata/merged.txt", merged.String())
	if merged.Err() != nil || merged.Unjudged() != nil || len(merged.Untried()) > 0 || merged.Shard != nil {
		t.Errorf("%v, %v, %v, %v", merged.Err(), merged.Unjudged(), merged.Untried(), merged.Shard)
	}
	parts = shards(t, func(first, _ *Result) { first.Faults.Rows[0].Caught = []string{"A"} })
	for _, part := range parts {
		if part.Result.Err() != nil {
			t.Errorf("%s, whose faults are caught, says %v", part.From, part.Result.Err())
		}
	}
	if merged, err = Merge(parts); err != nil || !strings.Contains(fmt.Sprint(merged.Err()),
		"core requirement B catches no fault") {
		t.Errorf("%v: %v", err, merged.Err())
	}
}

// If a shard ended early, some trials have no result, and no requirement is reported as idle.
func TestMergeOfUnfinishedShards(t *testing.T) {
	parts := shards(t, func(first, _ *Result) { first.Faults, first.Liberties, first.Finished = nil, nil, time.Time{} })
	merged, err := Merge(parts)
	golden.Must(t, err)
	if got := reports.Unfinished(reports.PiecesOf(parts)); got == nil || !strings.HasPrefix(got.Error(), "shard 1/2 ended early") {
		t.Errorf("unfinished: %v", got)
	}
	if got := strings.Join(merged.Untried(), ", "); got != "fault two, liberty all-together" || !merged.Finished.IsZero() {
		t.Errorf("untried: %s; finished %s", got, merged.Finished)
	}
	if merged.Err() != nil {
		t.Errorf("it says %v", merged.Err())
	}
	if got := merged.String(); !strings.HasSuffix(got, "\nno result, since the run ended early: fault two, liberty all-together\n") {
		t.Errorf("got:\n%s", got)
	}
	if got := parts[0].Result.String(); strings.Contains(got, "no result") {
		t.Errorf("a shard says of the trials of another one:\n%s", got)
	}
}

func TestMergeOfShardsThatAreNoWhole(t *testing.T) {
	for name, c := range map[string]struct {
		change func(first, second *Result)
		want   string
	}{
		"twice":           {func(first, _ *Result) { first.Shard.Number = 2 }, "shard 2 is there twice"},
		"missing":         {func(first, second *Result) { first.Shard.Of, second.Shard.Of = 3, 3 }, "missing: 3/3"},
		"another input":   {func(first, _ *Result) { first.Shard.Plan = "q" }, "not parts of the same run"},
		"another program": {func(first, _ *Result) { first.Program = "2" }, "written by rehearse 2"},
		"no shard":        {func(first, _ *Result) { first.Shard = nil }, "not a shard"},
	} {
		t.Run(name, func(t *testing.T) {
			parts := shards(t, nil)
			c.change(parts[1].Result, parts[0].Result)
			if _, err := Merge(parts); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// If the suite fails without faults in one shard, it fails; the other shard's faults are still shown.
func TestMergeOfAShardThatIsNotGreen(t *testing.T) {
	merged, err := Merge(shards(t, func(first, _ *Result) {
		first.Faults.Rows, first.Faults.Before = nil, []string{"x failed"}
	}))
	golden.Must(t, err)
	if got := fmt.Sprint(merged.Err()); got != "without faults, before: x failed" {
		t.Errorf("it says %s", got)
	}
	if text := merged.String(); !strings.Contains(text, "DID NOT PASS before") || !strings.Contains(text, "1 of 1 faults") {
		t.Errorf("it shows\n%s", text)
	}
	if got := merged.Untried(); !slices.Equal(got, []string{"fault two"}) {
		t.Errorf("untried: %s", got)
	}
}

// Each fault is in exactly one shard, although each shard is computed independently of the others.
func TestFaultsAreDealt(t *testing.T) {
	var all []simulators.Fault
	for i := range 23 {
		all = append(all, simulators.Fault{Name: fmt.Sprint("f", i), ClusterWide: i%5 == 0})
	}
	for of := 1; of < 30; of++ {
		seen := map[string]int{}
		for n := range of {
			for _, fault := range planning.Deal(planning.Shard{Number: n + 1, Of: of}, all, workOf) {
				seen[fault.Name]++
			}
		}
		for _, fault := range all {
			if seen[fault.Name] != 1 {
				t.Errorf("of %d shards, %d have %s", of, seen[fault.Name], fault.Name)
			}
		}
	}
}

// A kind that is not tried has no options. If the kind is not given, a name that a fault and a liberty share means the
// fault.
func TestDivided(t *testing.T) {
	suite := free()
	suite.Faults = []simulators.Fault{fault("loud", "A"), fault("wordy", "B")}
	for _, c := range []struct {
		only            []string
		kind            string
		bugs, liberties string
	}{
		{nil, "", "[]", "[]"},
		{nil, KindFaults, "[]", "none"},
		{nil, KindLiberties, "none", "[]"},
		{[]string{"loud"}, "", "[loud]", "none"},
		{[]string{"late"}, "", "none", "[late]"},
		{[]string{"wordy", "late"}, "", "[wordy]", "[late]"},
		{[]string{"wordy"}, KindLiberties, "none", "[wordy]"},
	} {
		bugs, liberties := Options{Suite: suite, Only: c.only}.divided(c.kind)
		text := func(o *Options) string {
			if o == nil {
				return "none"
			}
			return fmt.Sprint(o.Only)
		}
		if text(bugs) != c.bugs || text(liberties) != c.liberties {
			t.Errorf("%s of kind %q: %s and %s, want %s and %s", c.only, c.kind, text(bugs), text(liberties), c.bugs,
				c.liberties)
		}
	}
}

// Liberties beside each fault have no effect if only liberties are tried.
func TestCheckOfLibertiesBesideNoFault(t *testing.T) {
	suite := free()
	suite.Faults = []simulators.Fault{fault("loud", "A")}
	for _, c := range []struct {
		only []string
		kind string
		ok   bool
	}{{nil, "", true}, {nil, KindLiberties, false}, {[]string{"late"}, "", false}, {[]string{"loud"}, "", true}} {
		err := Options{Suite: suite, Only: c.only, With: []string{"late"}}.Check(c.kind)
		if (err == nil) != c.ok || err != nil && !strings.Contains(err.Error(), "no fault is tried") {
			t.Errorf("%s of kind %q: %v", c.only, c.kind, err)
		}
	}
}
