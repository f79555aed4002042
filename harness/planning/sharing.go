package planning

import (
	"fmt"
	"slices"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// Path is the states that the scenario goes through on its track.
func (e *Entry) Path(t *Track) []clusters.State { return t.Path[:e.States] }

// rides says whether the scenario leaves the track before its end.
func (e *Entry) rides(t *Track) bool { return e.States < len(t.Path) }

// leaving says in a plan where the scenario leaves the track.
func (e *Entry) leaving(t *Track) string {
	if !e.rides(t) {
		return ""
	}
	return fmt.Sprintf(", leaves after start %d", e.States)
}

// leads is the first scenario of the track that goes all the way.
func (t *Track) leads() *Entry {
	for _, entry := range t.Entries {
		if !entry.rides(t) {
			return entry
		}
	}
	return t.Entries[0]
}

// Breaks is what the n-th transition of the track is expected to break; nil for most. Only a scenario that is alone
// expects such a thing.
func (t *Track) Breaks(n int) *scenarios.Broken {
	if len(t.Entries) != 1 {
		return nil
	}
	if step := t.Entries[0].Scenario.Transition(n); step != nil {
		return step.Breaks()
	}
	return nil
}

// share lets the scenarios of each track whose path is the beginning of another's ride on the longest such track, and
// names the tracks that are left. A scenario that wants its cluster alone neither rides nor is ridden on.
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

// longer is the track with the longest path of those that begin as this one's does and go on; nil when there is none.
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

// shareFirstStates lets tracks begin with a snapshot of the first one that has the same first state.
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

// canBeCopied says whether a cluster in that state is the same when its systems find what others of theirs have stored.
// What a foreign program stores when it is installed (who leads, certificates, where it is reached) is not known.
func canBeCopied(state clusters.State) bool {
	return !slices.ContainsFunc(state.Systems, func(s clusters.System) bool { return s.Simulated == nil })
}
