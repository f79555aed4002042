package reports

import (
	"strings"
	"testing"
	"time"
)

func shard(n, of int, tracks ...string) Part {
	run := &Run{
		Head:     Head{Program: "1", Started: time.Unix(int64(n), 0), Finished: time.Unix(int64(10+n), 0)},
		Provider: "local", Shard: &Shard{Number: n, Of: of, Plan: "p"},
	}
	for _, name := range tracks {
		run.Tracks = append(run.Tracks, &Track{Name: name, Scenarios: []*Scenario{{Name: "on " + name, Status: Passed}}})
	}
	return Part{Run: run, From: "shard " + string(rune('0'+n))}
}

func TestShardsBecomeOneRun(t *testing.T) {
	run, err := MergeShards([]Part{
		shard(3, 3, "track-3-1"), shard(2, 3, "track-2", "track-10"), shard(1, 3, "track-3-2", "skipped"),
	})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, track := range run.Tracks {
		names = append(names, track.Name)
	}
	if got, want := strings.Join(names, " "), "track-2 track-3-1 track-3-2 track-10 skipped"; got != want {
		t.Errorf("the tracks are %q, want %q", got, want)
	}
	if run.Shard != nil || run.Interrupted || ExitCode(run) != ExitPassed {
		t.Errorf("shard %v, interrupted %v, exit code %d", run.Shard, run.Interrupted, ExitCode(run))
	}
	if empty := shard(3, 3).Run; ExitCode(empty) != ExitPassed {
		t.Errorf("a shard without a track has exit code %d", ExitCode(empty))
	}
}

func TestShardsThatAreNoWhole(t *testing.T) {
	other := func(change func(*Run)) Part {
		part := shard(2, 2)
		change(part.Run)
		return part
	}
	for name, test := range map[string]struct {
		parts []Part
		want  string
	}{
		"none":            {nil, "there are none"},
		"missing":         {[]Part{shard(2, 3)}, "missing: 1/3, 3/3"},
		"twice":           {[]Part{shard(1, 2), shard(1, 2)}, "shard 1 is there twice"},
		"another number":  {[]Part{shard(1, 2), shard(2, 3)}, "one of 3 shards"},
		"other scenarios": {[]Part{shard(1, 2), other(func(r *Run) { r.Shard.Plan = "q" })}, "not parts of the same run"},
		"other provider":  {[]Part{shard(1, 2), other(func(r *Run) { r.Provider = "kind" })}, "not parts of the same run"},
		"other program":   {[]Part{shard(1, 2), other(func(r *Run) { r.Program = "2" })}, "written by rehearse 2"},
		"a whole run":     {[]Part{shard(1, 2), other(func(r *Run) { r.Shard = nil })}, "not a shard"},
	} {
		if _, err := MergeShards(test.parts); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}
