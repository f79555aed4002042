package survey

import (
	"maps"
	"slices"

	"github.com/rehearse-dev/rehearse/reports/upgrades"
)

// base returns the outcome with which later ones are compared, and the states of the later ones. It reports what is
// already wrong at the first state. If the answer at the object's first state is unknown, or if there is none because
// what is asked about came later, only a good one can be the base: it is not known whether a failure before that was
// there from the beginning.
func (j *judge) base(s *Series, states []int) (Outcome, []int) {
	first, late := s.Outcomes[states[0]], states[0] > j.first[s.Root]
	made := s.Kind != s.Root.GVK.GroupKind() // before, there was nothing that could run
	if late && (s.Check == Moved || s.Check == Condition && made) {
		return Outcome{Answer: Good}, states
	}
	if first.Answer != Unknown && (first.Answer == Good || !late) {
		if first.Answer != Good {
			j.add(s, upgrades.Before, states[:1], first)
		}
		j.lifted(s, first, states[1:])
		j.differs(s, first, states[1:])
		return first, states[1:]
	}
	if s.Check == Moved { // an event needs no base
		j.add(s, upgrades.Unjudged, states[:1], first)
		return Outcome{Answer: Good}, states[1:]
	}
	var unknown, failing []int
	for i, state := range states {
		switch s.Outcomes[state].Answer {
		case Good:
			j.baseless(s, unknown, failing)
			return s.Outcomes[state], states[i+1:]
		case Unknown:
			unknown = append(unknown, state)
		default:
			failing = append(failing, state)
		}
	}
	j.baseless(s, unknown, failing)
	return Outcome{Answer: Good}, nil
}

// baseless reports the states that cannot be judged, because there is no good answer of an earlier state.
func (j *judge) baseless(s *Series, unknown, failing []int) {
	if len(unknown) > 0 {
		j.add(s, upgrades.Unjudged, unknown, s.Outcomes[unknown[0]])
	}
	if len(failing) > 0 {
		seen := s.Outcomes[failing[0]]
		j.add(s, upgrades.Unjudged, failing, Outcome{
			Answer: Unknown, Words: "it is not known whether this was so from the beginning: " + seen.Words,
			Class: "baseless " + seen.Class,
		})
	}
}

// lasts reports whether a failure or a change of the first state is still there, so that no hop is to blame. Something
// that happened at the first state is over: if it happens again, that is new.
func lasts(check Check, base, now Outcome) bool {
	switch {
	case check == Moved && (base.Class != now.Class || now.Class != deleted && now.Class != unserved):
		return false
	case check == Condition && base.Class != now.Class: // it lost something that it had at the first state
		return false
	}
	return now.Answer == base.Answer && (base.Answer == Bad || base.Answer == Changed)
}

// lifted reports a write that was rejected at the first state and is accepted later: a policy, a webhook or a
// validation decides differently.
func (j *judge) lifted(s *Series, base Outcome, states []int) {
	var at []int
	for _, state := range states {
		if s.Outcomes[state].Answer == Good {
			at = append(at, state)
		}
	}
	if len(at) > 0 && base.Answer == Bad && writesSomething(s.Check) {
		j.add(s, upgrades.Changes, at, Outcome{
			Answer: Good, Words: "accepted now, rejected before: " + base.Words,
			Class: "lifted " + base.Class,
		})
	}
}

// differs reports a request that failed at the first state and fails later for another reason. The reason may be new,
// or another version's words for the old one: it is a change, so that someone looks.
func (j *judge) differs(s *Series, base Outcome, states []int) {
	if base.Answer != Bad || s.Check == Moved || s.Check == Condition {
		return
	}
	byClass := map[string][]int{}
	for _, state := range states {
		if now := s.Outcomes[state]; now.Answer == Bad && now.Class != base.Class {
			byClass[now.Class] = append(byClass[now.Class], state)
		}
	}
	for _, class := range slices.Sorted(maps.Keys(byClass)) {
		j.add(s, upgrades.Changes, byClass[class], Outcome{
			Answer: Bad, Words: s.Outcomes[byClass[class][0]].Words + "; before: " + base.Words,
			Class: "differs " + class,
		})
	}
}

func writesSomething(check Check) bool {
	return slices.Contains([]Check{Update, Label, Status, Scale, Finalizer, Delete, Evict, Apply, Create}, check)
}
