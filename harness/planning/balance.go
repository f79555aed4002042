package planning

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// part is a whole track or some of its scenarios, for one shard.
type part struct {
	whole   *Track
	entries []*Entry
	length  time.Duration
	name    string
	shard   int // from 1
}

// tracksOf returns the shard's tracks, in the original order.
func (s Shard) tracksOf(tracks []*Track, times Timings) []*Track {
	if s.Of == 0 {
		return tracks
	}
	var mine []*Track
	for _, one := range balanced(s.Of, tracks, times) {
		if one.shard == s.Number {
			mine = append(mine, one.track())
		}
	}
	return mine
}

// balanced deals tracks to shards, and returns them in their original order. If the times of the scenarios are known,
// tracks that are too long for one shard are split. Each part needs a cluster of its own, so they are split only if
// that shortens the longest shard. The same input gives the same parts everywhere.
func balanced(of int, tracks []*Track, times Timings) []part {
	lengths := lengthsOf(tracks, times)
	parts := map[*Track][]part{}
	longest, sum := time.Duration(0), time.Duration(0)
	for _, track := range tracks {
		parts[track] = []part{{whole: track, entries: track.Entries, length: lengths[track]}}
		longest, sum = max(longest, lengths[track]), sum+lengths[track]
	}
	best, shortest := times.deal(of, inOrder(tracks, parts))
	least := sum / time.Duration(2*of*max(times.AtOnce, 1))
	for limit := longest * 19 / 20; of > 1 && limit > least; limit = limit * 19 / 20 {
		split := false
		for _, track := range tracks {
			if lengths[track] <= limit {
				continue
			}
			if smaller := times.split(track, limit); smaller != nil {
				parts[track], split = smaller, true
			}
		}
		if !split {
			continue
		}
		if dealt, takes := times.deal(of, inOrder(tracks, parts)); takes < shortest*97/100 {
			best, shortest = dealt, takes
		}
	}
	return named(tracks, best)
}

func inOrder(tracks []*Track, parts map[*Track][]part) []part {
	var all []part
	for _, track := range tracks {
		all = append(all, parts[track]...)
	}
	return all
}

// split splits a track into parts that are not longer than a limit; nil if that is impossible. The
// scenarios with the longest paths come first, so that the last parts may need fewer states.
func (t Timings) split(track *Track, limit time.Duration) []part {
	entries := slices.Clone(track.Entries)
	slices.SortStableFunc(entries, func(a, b *Entry) int {
		return cmp.Or(cmp.Compare(b.States, a.States), cmp.Compare(t.lengthOf([]*Entry{b}), t.lengthOf([]*Entry{a})))
	})
	var parts []part
	for _, entry := range entries {
		one := part{whole: track, entries: []*Entry{entry}, length: t.lengthOf([]*Entry{entry})}
		if one.length > limit {
			return nil
		}
		at := slices.IndexFunc(parts, func(other part) bool { return t.join(other, one).length <= limit })
		if at < 0 {
			parts = append(parts, one)
		} else {
			parts[at] = t.join(parts[at], one)
		}
	}
	if len(parts) < 2 {
		return nil
	}
	return parts
}

// join makes one part of two of the same track.
func (t Timings) join(a, b part) part {
	a.entries = slices.Concat(a.entries, b.entries)
	a.length = t.lengthOf(a.entries)
	return a
}

// deal assigns the longest parts first, each to the shard that then takes the least time. It returns the parts, and
// what the longest shard takes.
func (t Timings) deal(of int, parts []part) (dealt []part, longest time.Duration) {
	parts = slices.Clone(parts)
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(b.length, a.length) })
	shards := make([][]part, of)
	for _, one := range parts {
		least, work := 0, t.with(shards[0], one)
		for n := range shards {
			if more := t.with(shards[n], one); t.timeOf(more) < t.timeOf(work) {
				least, work = n, more
			}
		}
		shards[least] = work
	}
	for n, work := range shards {
		longest = max(longest, t.timeOf(work))
		for _, one := range work {
			one.shard = n + 1
			dealt = append(dealt, one)
		}
	}
	return dealt, longest
}

// with adds a part to the work of a shard. Parts of the same track share a cluster.
func (t Timings) with(work []part, one part) []part {
	work = slices.Clone(work)
	at := slices.IndexFunc(work, func(other part) bool { return other.whole == one.whole })
	if at < 0 {
		return append(work, one)
	}
	work[at] = t.join(work[at], one)
	return work
}

// timeOf estimates how long a shard takes that runs its longest tracks first, and several at the same time.
func (t Timings) timeOf(work []part) time.Duration {
	lengths := make([]time.Duration, len(work))
	for i, one := range work {
		lengths[i] = one.length
	}
	slices.SortFunc(lengths, func(a, b time.Duration) int { return cmp.Compare(b, a) })
	places := make([]time.Duration, max(t.AtOnce, 1))
	for _, length := range lengths {
		places[slices.Index(places, slices.Min(places))] += length
	}
	return slices.Max(places)
}

// named returns the parts in the order of their tracks and shards, and names them.
func named(tracks []*Track, parts []part) []part {
	parts = slices.Clone(parts)
	at := func(one part) int { return slices.Index(tracks, one.whole) }
	slices.SortStableFunc(parts, func(a, b part) int {
		return cmp.Or(cmp.Compare(at(a), at(b)), cmp.Compare(a.shard, b.shard))
	})
	numbers := map[*Track]int{}
	for i, one := range parts {
		parts[i].name = one.whole.Name
		if len(one.entries) < len(one.whole.Entries) {
			numbers[one.whole]++
			parts[i].name = fmt.Sprintf("%s-%d", one.whole.Name, numbers[one.whole])
		}
	}
	return parts
}

// track returns the part as a track of its own. Its scenarios are in the original order.
func (p part) track() *Track {
	if len(p.entries) == len(p.whole.Entries) {
		return p.whole
	}
	own := *p.whole
	own.Name, own.Entries = p.name, nil
	states := 0
	for _, entry := range p.whole.Entries {
		if slices.Contains(p.entries, entry) {
			own.Entries, states = append(own.Entries, entry), max(states, entry.States)
		}
	}
	own.Path, own.TransitionOptions = own.Path[:states], own.TransitionOptions[:states-1]
	return &own
}
