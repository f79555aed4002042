package planning

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// shared returns a track with a scenario for each number of states, and what each took in its last state, in seconds.
func shared(name string, times Timings, states []int, took []int) *Track {
	track := &Track{Name: name}
	for i, n := range states {
		s := &scenarios.Scenario{}
		s.Metadata.Name = fmt.Sprintf("%s-s%d", name, i+1)
		track.Entries = append(track.Entries, &Entry{Scenario: s, States: n})
		own := make([]time.Duration, n)
		own[n-1] = time.Duration(took[i]) * time.Second
		times.Scenarios[s.Title()] = Times{
			Setup: slices.Repeat([]time.Duration{4 * time.Second}, slices.Max(states)+1), Own: own, Share: own,
		}
	}
	for n := range slices.Max(states) {
		track.Path = append(track.Path, clusters.State{Version: fmt.Sprintf("1.%d", 30+n)})
	}
	track.TransitionOptions = make([]TransitionOptions, len(track.Path)-1)
	return track
}

// A track that is too long for one shard is split by its scenarios. A part goes only through the states that its
// scenarios need.
func TestLongTracksAreSplit(t *testing.T) {
	times := Timings{Scenarios: map[string]Times{}, AtOnce: 2}
	tracks := []*Track{
		shared("track-1", times, []int{2, 1, 1, 1}, []int{20, 10, 10, 10}), shared("track-2", times, []int{1}, []int{5}),
	}
	var got []string
	for n := range 3 {
		for _, track := range (Shard{n + 1, 3}).tracksOf(tracks, times) {
			var names []string
			for _, entry := range track.Entries {
				names = append(names, entry.Scenario.Title())
			}
			got = append(got, fmt.Sprintf("%d/3 %s: %d states, %s, %v", n+1, track.Name, len(track.Path),
				strings.Join(names, " "), times.lengthOf(track.Entries)))
		}
	}
	want := []string{
		"1/3 track-1-1: 2 states, track-1-s1, 32s", "2/3 track-1-2: 1 states, track-1-s2 track-1-s3, 28s",
		"3/3 track-1-3: 1 states, track-1-s4, 18s", "3/3 track-2: 1 states, track-2-s1, 13s",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the shards are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if whole := (Shard{}).tracksOf(tracks, times); len(whole) != 2 || whole[0] != tracks[0] || len(tracks[0].Path) != 2 {
		t.Errorf("the whole run has %d tracks, the first of them with %d states; want what was planned", len(whole),
			len(tracks[0].Path))
	}
}

// Each scenario is in one shard, with all its states, and splitting never makes the longest shard longer.
func TestSplitTracksAreTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		times := Timings{Scenarios: map[string]Times{}, AtOnce: rapid.IntRange(0, 3).Draw(t, "at once")}
		var tracks []*Track
		for i, n := range rapid.SliceOfN(rapid.IntRange(1, 8), 1, 6).Draw(t, "scenarios") {
			tracks = append(tracks, shared(fmt.Sprintf("track-%d", i+1), times,
				rapid.SliceOfN(rapid.IntRange(1, 4), n, n).Draw(t, "states"),
				rapid.SliceOfN(rapid.IntRange(0, 60), n, n).Draw(t, "took")))
		}
		of := rapid.IntRange(1, 8).Draw(t, "of")
		whole := map[*Track][]part{}
		for _, track := range tracks {
			whole[track] = []part{{whole: track, entries: track.Entries, length: times.lengthOf(track.Entries)}}
		}
		_, longest := times.deal(of, inOrder(tracks, whole))
		seen, names := map[*Entry]int{}, map[string]bool{}
		for n := range of {
			var work []part
			for _, track := range (Shard{n + 1, of}).tracksOf(tracks, times) {
				if names[track.Name] {
					t.Fatalf("two tracks have the name %s", track.Name)
				}
				names[track.Name] = true
				for _, entry := range track.Entries {
					if seen[entry]++; entry.States > len(track.Path) {
						t.Fatalf("%s has %d states, and its scenario needs %d", track.Name, len(track.Path), entry.States)
					}
				}
				work = append(work, part{length: times.lengthOf(track.Entries)})
			}
			if took := times.timeOf(work); took > longest {
				t.Fatalf("shard %d takes %s, and %s without splitting", n+1, took, longest)
			}
		}
		for _, track := range tracks {
			for _, entry := range track.Entries {
				if seen[entry] != 1 {
					t.Fatalf("%s is in %d shards", entry.Scenario.Title(), seen[entry])
				}
			}
		}
	})
}

// The parts of a track are merged into a run with each scenario once.
func TestPartsOfTracksAreMerged(t *testing.T) {
	set := onVersions("1.36", "1.36", "1.36", "1.35")
	times := Timings{Scenarios: map[string]Times{}}
	for i, s := range set {
		s.Metadata.Name = fmt.Sprint("s", i)
		took := []time.Duration{20 * time.Second}
		times.Scenarios[s.Title()] = Times{Setup: []time.Duration{time.Second, 0}, Own: took, Share: took}
	}
	var parts []reports.Part
	for n := range 2 {
		plan, err := New(t.Context(), paper{}, set, func(*scenarios.Step) Verb { return Verb{} },
			Options{Shard: Shard{n + 1, 2}, Timings: times})
		golden.Must(t, err)
		parts = append(parts, reports.Part{Run: plan.Result(), From: fmt.Sprint("shard ", n+1)})
	}
	merged, err := reports.MergeShards(parts)
	golden.Must(t, err)
	var got []string
	for _, track := range merged.Tracks {
		for _, s := range track.Scenarios {
			got = append(got, track.Name+" "+s.Name)
		}
	}
	if want := []string{"track-1-1 s0", "track-1-1 s1", "track-1-2 s2", "track-2 s3"}; !slices.Equal(got, want) {
		t.Errorf("the merged run has %q, want %q", got, want)
	}
}

// The times of a run are those of its clusters, and the parts of its scenarios in them.
func TestTimingsOf(t *testing.T) {
	at := func(second int) time.Time { return time.Unix(int64(1000+second), 0) }
	step := func(verb string, from, to int) *reports.Step {
		return &reports.Step{Verb: verb, Started: at(from), Finished: at(to)}
	}
	long := &reports.Scenario{Name: "long", Started: at(8), Steps: []*reports.Step{
		step("create", 8, 14), step("transition", 14, 24), step("update", 24, 26), {Verb: "delete"},
	}}
	short := &reports.Scenario{Name: "short", Started: at(8), Steps: []*reports.Step{step("create", 9, 11)}}
	run := &reports.Run{Tracks: []*reports.Track{{
		Setup: []*reports.Step{
			step("create", 0, 5), step("install", 6, 7), step("snapshot", 7, 8), step("transition", 17, 24),
			step("delete", 30, 31),
		},
		Scenarios: []*reports.Scenario{long, short},
	}, {
		Setup:     []*reports.Step{step("create", 0, 5), step("delete", 20, 21)},
		Scenarios: []*reports.Scenario{{Name: "waits", Started: at(5)}},
	}, {Name: "unplanned"}}}
	got := TimingsOf(run)
	for name, want := range map[string]string{
		"long":  "setup [8s 7s 1s], own [6s 2s], share [6s 6s]",
		"short": "setup [8s 7s 1s], own [3s], share [3s]",
		"waits": "setup [20s 1s], own [0s], share [0s]",
	} {
		one := got.Scenarios[name]
		if text := fmt.Sprintf("setup %v, own %v, share %v", one.Setup, one.Own, one.Share); text != want {
			t.Errorf("%s: %s, want %s", name, text, want)
		}
	}
	entries := map[string]*Entry{}
	for name, states := range map[string]int{"long": 2, "short": 1, "unknown": 1} {
		entries[name] = &Entry{Scenario: &scenarios.Scenario{}, States: states}
		entries[name].Scenario.Metadata.Name = name
	}
	for _, c := range []struct {
		of   []string
		want time.Duration
	}{
		{[]string{"long", "short"}, 31 * time.Second}, // as in the run
		{[]string{"long"}, 28 * time.Second},
		{[]string{"short", "unknown"}, 12 * time.Second},
		{[]string{"unknown"}, 0},
	} {
		var of []*Entry
		for _, name := range c.of {
			of = append(of, entries[name])
		}
		if took := got.lengthOf(of); took != c.want {
			t.Errorf("%v takes %v, want %v", c.of, took, c.want)
		}
	}
	if took := got.LongestScenario(); took != 24*time.Second {
		t.Errorf("the longest scenario takes %v, want 24s", took)
	}
	if got.AtOnce != 2 {
		t.Errorf("%d clusters at once, want 2", got.AtOnce)
	}
}
