package planning

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// Shard is one of several parts of a run, each for its own machine. The zero value is the whole run.
type Shard struct {
	// Number of the part, from 1, and how many parts there are.
	Number, Of int
}

// ParseShard parses 2/5, the second of five parts. "" is the whole run.
func ParseShard(text string) (Shard, error) {
	if text == "" {
		return Shard{}, nil
	}
	number, of, _ := strings.Cut(text, "/")
	n, err1 := strconv.Atoi(number)
	all, err2 := strconv.Atoi(of)
	if err1 != nil || err2 != nil || n < 1 || all < 1 || n > all {
		return Shard{}, fmt.Errorf("shard %q: want NUMBER/ALL, from 1/ALL to ALL/ALL; 2/5 is the second of five", text)
	}
	return Shard{Number: n, Of: all}, nil
}

// String is 2/5; "" for the whole run.
func (s Shard) String() string {
	if s.Of == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Number, s.Of)
}

// Timings are the durations of the tracks in an earlier run, by the names of their scenarios.
type Timings map[string]time.Duration

// TimingsOf reads the times of a run.
func TimingsOf(run *reports.Run) Timings {
	times := Timings{}
	for _, track := range run.Tracks {
		var took time.Duration
		for _, step := range track.Setup { // the first step creates the cluster, and the last one deletes it
			took = max(took, reports.Elapsed(track.Setup[0].Started, step.Finished))
		}
		for _, s := range track.Scenarios {
			times[s.Name] = took
		}
	}
	return times
}

// tracksOf returns the shard's tracks.
func (s Shard) tracksOf(tracks []*Track, times Timings) []*Track {
	lengths := lengthsOf(tracks, times)
	return Deal(s, tracks, func(track *Track) time.Duration { return lengths[track] })
}

// Deal returns the shard's part of some work, in the original order. It assigns the longest pieces first, each to the
// shard with the least work. So the same work gives the same shards on every machine.
func Deal[Piece any, Length int | time.Duration](s Shard, all []Piece, lengthOf func(Piece) Length) []Piece {
	if s.Of == 0 {
		return all
	}
	var mine []Piece
	for i, number := range dealt(s.Of, all, lengthOf) {
		if number == s.Number {
			mine = append(mine, all[i])
		}
	}
	return mine
}

// dealt returns the number of each piece's shard, from 1.
func dealt[Piece any, Length int | time.Duration](of int, all []Piece, lengthOf func(Piece) Length) []int {
	lengths, longest := make([]Length, len(all)), make([]int, len(all))
	for i, piece := range all {
		lengths[i], longest[i] = lengthOf(piece), i
	}
	slices.SortStableFunc(longest, func(a, b int) int { return cmp.Compare(lengths[b], lengths[a]) })
	work, numbers := make([]Length, of), make([]int, len(all))
	for _, i := range longest {
		least := slices.Index(work, slices.Min(work))
		work[least] += lengths[i]
		numbers[i] = least + 1
	}
	return numbers
}

// shardsOf returns the number of each track's shard.
func (o Options) shardsOf(tracks []*Track) []int {
	lengths := lengthsOf(tracks, o.Timings)
	return dealt(max(o.Shard.Of, 1), tracks, func(track *Track) time.Duration { return lengths[track] })
}

// lengthsOf estimates the durations of the tracks: as in the earlier run or, if unknown, in proportion to their
// states.
func lengthsOf(tracks []*Track, times Timings) map[*Track]time.Duration {
	lengths := map[*Track]time.Duration{}
	known, states := time.Duration(0), 0
	for _, track := range tracks {
		for _, entry := range track.Entries {
			lengths[track] = max(lengths[track], times[entry.Scenario.Title()])
		}
		if lengths[track] > 0 {
			known, states = known+lengths[track], states+len(track.Path)
		}
	}
	perState := time.Second
	if states > 0 {
		perState = known / time.Duration(states)
	}
	for _, track := range tracks {
		if lengths[track] == 0 {
			lengths[track] = perState * time.Duration(len(track.Path))
		}
	}
	return lengths
}

// digestOf is equal for shards of one run: plans with the same scenarios and systems on the same tracks, and with the
// same shard for each track. Different timings can deal the tracks differently: then a track could be in no shard.
//
// A state's text does not tell the definitions of its systems apart. Those of the scenarios are in their files. Those
// that replace them are hashed as the contents of their files, because their paths may differ between machines.
func (o Options) digestOf(tracks []*Track, skipped []*Skipped, leftOut []LeftOut) string {
	sum := sha256.New()
	write := func(s *scenarios.Scenario) { fmt.Fprintf(sum, "%s\x00%s\x00%s\x00", s.Title(), s.Text, s.Definitions) }
	for _, name := range slices.Sorted(maps.Keys(o.Definitions)) {
		fmt.Fprintf(sum, "%s\x00%s\x00", name, o.Definitions[name])
	}
	for i, number := range o.shardsOf(tracks) {
		track := tracks[i]
		fmt.Fprintf(sum, "%s\x00%d\x00", track.Name, number)
		for _, state := range track.Path { // the same on every machine
			fmt.Fprintf(sum, "%s\x00", state)
		}
		for _, entry := range track.Entries {
			write(entry.Scenario)
		}
	}
	for _, one := range skipped {
		write(one.Scenario)
	}
	for _, out := range leftOut {
		write(out.Scenario)
	}
	return hex.EncodeToString(sum.Sum(nil))
}
