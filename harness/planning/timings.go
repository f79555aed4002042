package planning

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/reports"
)

// Timings are what an earlier run took.
type Timings struct {
	// Scenarios are the times of the scenarios, by their titles.
	Scenarios map[string]Times
	// AtOnce is how many clusters ran at the same time. 0 means 1.
	AtOnce int
}

// Times are the times of a scenario and its track.
type Times struct {
	// Setup is what the track took without its scenarios: up to each state, and at the end its deletion.
	Setup []time.Duration
	// Own is how long the scenario itself took in each state. Share is its part of the time that all scenarios of its
	// track took there, side by side.
	Own, Share []time.Duration
}

// TimingsOf reads the times of a run.
func TimingsOf(run *reports.Run) Timings {
	times := Timings{Scenarios: map[string]Times{}, AtOnce: 1}
	periods := map[int64][]period{}
	for _, track := range run.Tracks {
		steps := slices.DeleteFunc(slices.Clone(track.Setup), func(s *reports.Step) bool { return s.Finished.IsZero() })
		if len(steps) == 0 {
			continue
		}
		began := track.RunStarted.UnixNano()
		periods[began] = append(periods[began], period{steps[0].Started, steps[len(steps)-1].Finished})
		times.addTrack(track, steps)
	}
	for _, all := range periods { // each is of one machine, if shards were merged
		times.AtOnce = max(times.AtOnce, atOnce(all))
	}
	return times
}

// addTrack adds the times of a track's scenarios. The first step creates the cluster, and the last one deletes it.
func (t Timings) addTrack(track *reports.Track, steps []*reports.Step) {
	var setup, phases []time.Duration
	until := steps[0].Started
	for i, step := range steps {
		switch {
		case i == 0:
			setup = append(setup, reports.Elapsed(step.Started, step.Finished))
		case step.Verb == "transition" || i == len(steps)-1:
			phases = append(phases, reports.Elapsed(until, step.Started))
			setup = append(setup, reports.Elapsed(step.Started, step.Finished))
		default: // no scenario runs before the systems are installed and the snapshot is taken
			setup[0] += reports.Elapsed(until, step.Finished)
		}
		until = step.Finished
	}
	own, all := map[*reports.Scenario][]time.Duration{}, make([]time.Duration, len(phases))
	for _, s := range track.Scenarios {
		own[s] = ownTimes(s, phases)
		for i, took := range own[s] {
			all[i] += took
		}
	}
	for i, took := range all {
		if took == 0 {
			setup[i] += phases[i]
		}
	}
	for _, s := range track.Scenarios {
		share := make([]time.Duration, len(own[s]))
		for i, took := range own[s] {
			if all[i] > 0 {
				share[i] = time.Duration(float64(phases[i]) * float64(took) / float64(all[i]))
			}
		}
		t.Scenarios[s.Name] = Times{Setup: setup, Own: own[s], Share: share}
	}
}

// ownTimes returns how long a scenario took in each state, at most as long as the track was in it.
func ownTimes(s *reports.Scenario, phases []time.Duration) []time.Duration {
	var all []time.Duration
	began, took := s.Started, time.Duration(0)
	next := func() {
		if n := len(all); n < len(phases) {
			all = append(all, min(took, phases[n]))
		}
		took = 0
	}
	for _, step := range s.Steps {
		if step.Finished.IsZero() {
			break
		}
		if step.Verb == "transition" {
			next()
			began = step.Finished
			continue
		}
		took = max(took, reports.Elapsed(began, step.Finished))
	}
	next()
	return all
}

// period is when a cluster existed.
type period struct{ from, to time.Time }

// atOnce returns how many clusters of a run existed at the same time, on average, until the last one began.
func atOnce(all []period) int {
	byStart := func(a, b period) int { return a.from.Compare(b.from) }
	first, last := slices.MinFunc(all, byStart).from, slices.MaxFunc(all, byStart).from
	begun := 0
	var existed time.Duration
	for _, one := range all {
		until := last
		if one.to.Before(last) {
			until = one.to
		} else {
			begun++
		}
		existed += reports.Elapsed(one.from, until)
	}
	if took := reports.Elapsed(first, last); took > time.Second {
		return int(math.Round(float64(existed) / float64(took)))
	}
	return begun // all began together
}

// lengthOf estimates how long a track takes with some of its scenarios; 0 if it is unknown.
func (t Timings) lengthOf(entries []*Entry) time.Duration {
	var setup, longest, shares []time.Duration
	var deletion, length time.Duration
	for _, entry := range entries {
		times := t.Scenarios[entry.Scenario.Title()]
		last := len(times.Setup) - 1
		if last < 0 {
			continue
		}
		deletion = max(deletion, times.Setup[last])
		setup = eachOf(setup, times.Setup[:min(last, entry.States)], longerOf)
		longest = eachOf(longest, times.Own, longerOf)
		shares = eachOf(shares, times.Share, sumOf)
	}
	for _, took := range slices.Concat(setup, eachOf(longest, shares, longerOf)) {
		length += took
	}
	return length + deletion
}

// LongestScenario returns how long the longest scenario takes on a cluster of its own: no shard can be shorter.
func (t Timings) LongestScenario() time.Duration {
	longest := time.Duration(0)
	for _, times := range t.Scenarios {
		longest = max(longest, times.alone())
	}
	return longest
}

// alone returns how long the scenario takes on a cluster of its own.
func (t Times) alone() time.Duration {
	last, length := len(t.Setup)-1, time.Duration(0)
	if last < 0 {
		return 0
	}
	for _, took := range slices.Concat(t.Setup[:min(last, len(t.Own))], t.Own, t.Setup[last:]) {
		length += took
	}
	return length
}

func longerOf(a, b time.Duration) time.Duration { return max(a, b) }

func sumOf(a, b time.Duration) time.Duration { return a + b }

// eachOf combines the durations in the same places. A missing one is zero.
func eachOf(a, b []time.Duration, combine func(a, b time.Duration) time.Duration) []time.Duration {
	all := make([]time.Duration, max(len(a), len(b)))
	copy(all, a)
	for i, took := range b {
		all[i] = combine(all[i], took)
	}
	return all
}

// lengthsOf estimates the durations of the tracks: as in the earlier run or, if unknown, in proportion to their
// states.
func lengthsOf(tracks []*Track, times Timings) map[*Track]time.Duration {
	lengths := map[*Track]time.Duration{}
	known, states := time.Duration(0), 0
	for _, track := range tracks {
		if lengths[track] = times.lengthOf(track.Entries); lengths[track] > 0 {
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

// longestFirst puts the longest tracks first, so that a shard does not end with a single long one.
func (t Timings) longestFirst(tracks []*Track) {
	lengths := lengthsOf(tracks, t)
	slices.SortStableFunc(tracks, func(a, b *Track) int { return cmp.Compare(lengths[b], lengths[a]) })
}
