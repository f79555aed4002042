package planning

import (
	"fmt"
	"slices"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// Path returns the states that the scenario goes through on its track.
func (e *Entry) Path(t *Track) []clusters.State { return t.Path[:e.States] }

// rides reports whether the scenario leaves the track before its end.
func (e *Entry) rides(t *Track) bool { return e.States < len(t.Path) }

// leaving describes where the scenario leaves the track.
func (e *Entry) leaving(t *Track) string {
	if !e.rides(t) {
		return ""
	}
	return fmt.Sprintf(", leaves after start %d", e.States)
}

// leads returns the first scenario of the track that goes through its whole path.
func (t *Track) leads() *Entry {
	for _, entry := range t.Entries {
		if !entry.rides(t) {
			return entry
		}
	}
	return t.Entries[0]
}

// Breaks returns what the n-th transition of the track is expected to break, or nil. Only a scenario that is alone on
// its track expects such a thing.
func (t *Track) Breaks(n int) *scenarios.Broken {
	if len(t.Entries) != 1 {
		return nil
	}
	if step := t.Entries[0].Scenario.Transition(n); step != nil {
		return step.Breaks()
	}
	return nil
}

// share puts the scenarios of a track onto the longest track whose path begins with their whole path, and names the
// remaining tracks. Tracks of scenarios that need their own cluster are not shared.
func (p *planner) share() {
	for _, track := range slices.Clone(p.order) {
		if other := p.longer(track); other != nil {
			other.Entries = append(other.Entries, track.Entries...)
			p.order = slices.DeleteFunc(p.order, func(t *Track) bool { return t == track })
		}
	}
	for i, track := range p.order {
		track.Name = fmt.Sprintf("track-%d", i+1)
	}
}

// longer returns the track with the longest path that continues this one's path, or nil.
func (p *planner) longer(track *Track) *Track {
	var longest *Track
	for _, other := range p.order {
		if track.Alone != "" || other.Alone != "" || len(other.Path) <= len(track.Path) ||
			trackKey(other.Path[:len(track.Path)],
				other.TransitionOptions[:len(track.TransitionOptions)]) != trackKey(track.Path, track.TransitionOptions) {
			continue
		}
		if longest == nil || len(other.Path) > len(longest.Path) {
			longest = other
		}
	}
	return longest
}

// shareFirstStates lets tracks begin with a snapshot of the first track with the same first state.
func (p *planner) shareFirstStates() {
	if _, able := p.provider.(clusters.Copier); !able || !p.options.Snapshots {
		return
	}
	first := map[string]*Track{}
	for _, track := range p.order {
		if !canBeCopied(track.Path[0]) {
			continue
		}
		key := pathKey(track.Path[:1])
		if first[key] == nil {
			first[key] = track
			continue
		}
		track.From = first[key]
		track.From.Serves = append(track.From.Serves, track)
	}
}

// canBeCopied reports whether the systems of a cluster in that state work with data that other instances of them
// stored. It is unknown what a foreign program stores at its installation (leader, certificates, addresses).
func canBeCopied(state clusters.State) bool {
	return !slices.ContainsFunc(state.Systems, func(s clusters.System) bool { return s.Simulated == nil })
}
