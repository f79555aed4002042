package planning

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/scenarios"
)

func TestParseShard(t *testing.T) {
	for text, want := range map[string]Shard{"": {}, "1/1": {1, 1}, "2/5": {2, 5}} {
		if got, err := ParseShard(text); err != nil || got != want || got.String() != text {
			t.Errorf("%q is %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"0/5", "6/5", "2", "2/", "/5", "a/b", "-1/2", "1/0"} {
		if got, err := ParseShard(text); err == nil {
			t.Errorf("%q is %v, want an error", text, got)
		}
	}
}

func tracksForShards(lengths []int) []*Track {
	var tracks []*Track
	for i, states := range lengths {
		tracks = append(tracks, &Track{
			Name: fmt.Sprintf("track-%d", i+1), Path: make([]clusters.State, states),
			Entries: []*Entry{{Scenario: &scenarios.Scenario{}}},
		})
		tracks[i].Entries[0].Scenario.Metadata.Name = fmt.Sprint("s", i)
	}
	return tracks
}

// Each track is in one shard, in the original order. No shard takes longer than the mean plus the longest track.
func TestShardsAreTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tracks := tracksForShards(rapid.SliceOfN(rapid.IntRange(1, 9), 1, 30).Draw(t, "tracks"))
		of := rapid.IntRange(1, 8).Draw(t, "of")
		times := Timings{Scenarios: map[string]Times{}}
		for _, track := range tracks {
			if rapid.Bool().Draw(t, "known") {
				took := time.Duration(rapid.IntRange(1, 100).Draw(t, "took")) * time.Second
				times.Scenarios[track.Entries[0].Scenario.Title()] = Times{Setup: []time.Duration{took}}
			}
		}
		lengths := lengthsOf(tracks, times)
		var all, longest time.Duration
		for _, track := range tracks {
			all, longest = all+lengths[track], max(longest, lengths[track])
		}
		seen := map[*Track]int{}
		for n := range of {
			mine := Shard{n + 1, of}.tracksOf(tracks, times)
			if !slices.IsSortedFunc(mine, func(a, b *Track) int { return slices.Index(tracks, a) - slices.Index(tracks, b) }) {
				t.Fatalf("shard %d has another order", n+1)
			}
			var work time.Duration
			for _, track := range mine {
				seen[track]++
				work += lengths[track]
			}
			if work > all/time.Duration(of)+longest {
				t.Fatalf("shard %d takes %s; all of %d take %s, and the longest track %s", n+1, work, of, all, longest)
			}
		}
		for _, track := range tracks {
			if seen[track] != 1 {
				t.Fatalf("%s is in %d shards", track.Name, seen[track])
			}
		}
	})
}

// A shard may get no work. The whole run gets all of it.
func TestDeal(t *testing.T) {
	length := func(n int) int { return n }
	for _, c := range []struct {
		shard Shard
		work  []int
		want  []int
	}{
		{Shard{}, []int{1, 2}, []int{1, 2}},
		{Shard{2, 3}, nil, nil},
		{Shard{3, 3}, []int{1, 2}, nil},
		{Shard{1, 2}, []int{1, 1, 5, 2, 1}, []int{5}},
		{Shard{2, 2}, []int{1, 1, 5, 2, 1}, []int{1, 1, 2, 1}},
	} {
		if got := Deal(c.shard, c.work, length); !slices.Equal(got, c.want) {
			t.Errorf("shard %s of %v is %v, want %v", c.shard, c.work, got, c.want)
		}
	}
}
