package assertions

import (
	"errors"
	"fmt"
	"slices"

	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/expressions"
)

// event is an awaited event of a sequence.
type event struct {
	scenarios.Event
	// part is the number of the stream that reports it. scope selects its objects.
	part  int
	scope history.Scope
	// number of the event in the sequence, from 1, and group it is in, from 0.
	number, group int
	// change that was the event; nil before it occurred.
	change *history.Change
	// celError is why its expressions could not be evaluated the last time; nil when they were.
	celError error
}

// order follows changes in their order, and knows which event of a sequence is next.
type order struct {
	cel    Evaluate
	events []*event
	groups [][]*event
	// next is the group that is waited for.
	next int
	// candidates are the changes that are events of the next group. by maps each event to its candidate.
	candidates []candidacy
	by         map[*event]int
	// early is the event that occurred before its turn, by earlyChange.
	early       *event
	earlyChange *history.Change
	// skipped counts changes that may be events, but whose states were dropped from memory.
	skipped int
	// unclear is why an expression could not be evaluated, the first time; what it means is unknown. A field that is
	// missing is clear: the change is not the event.
	unclear error
}

// candidacy is a change and the events of a group that it may be.
type candidacy struct {
	change history.Change
	events []*event
}

// decided reports that no further change can make a difference.
func (o *order) decided() bool { return o.complete() || o.early != nil }

func (o *order) complete() bool { return o.next == len(o.groups) }

// see assigns one change to an event. A change that is an event of the next group counts as that. Otherwise, if it is
// an event whose turn is over, it counts as that event once more. Otherwise, if it is a later event, it occurred
// before its turn.
func (o *order) see(part int, change history.Change) {
	if o.decided() {
		return
	}
	var now, later []*event
	before, lost := false, false
	for _, e := range o.events {
		if e.part != part {
			continue
		}
		if e.lost(change) {
			lost = true
			continue
		}
		if !o.is(e, change) {
			continue
		}
		switch {
		case e.group < o.next:
			before = true
		case e.group == o.next:
			now = append(now, e)
		default:
			later = append(later, e)
		}
	}
	if lost {
		o.skipped++
	}
	switch {
	case len(now) > 0:
		o.take(candidacy{change, now})
	case !before && len(later) > 0:
		o.early, o.earlyChange = later[0], &change
	}
}

// take assigns the change to an event of the group. Other changes may have to move to another event, since each event
// has its own change. A change that finds no event now never will.
func (o *order) take(c candidacy) {
	if o.by == nil {
		o.by = map[*event]int{}
	}
	o.candidates = append(o.candidates, c)
	if !o.assign(len(o.candidates)-1, map[*event]bool{}) {
		o.candidates = o.candidates[:len(o.candidates)-1]
		return
	}
	for e, i := range o.by {
		e.change = &o.candidates[i].change
	}
	if len(o.by) == len(o.groups[o.next]) {
		o.next++
		o.candidates, o.by = nil, nil
	}
}

// assign finds an event for a candidate. Other candidates may have to take another of their events.
func (o *order) assign(candidate int, tried map[*event]bool) bool {
	for _, e := range o.candidates[candidate].events {
		if tried[e] {
			continue
		}
		tried[e] = true
		other, taken := o.by[e]
		if !taken || o.assign(other, tried) {
			o.by[e] = candidate
			return true
		}
	}
	return false
}

// named reports whether the change has the type, the namespace and the name of the event. These are always kept.
func (e *event) named(change history.Change) bool {
	return (e.Type == "" || e.Type == string(change.Type)) &&
		(e.scope.Namespace == "" || e.scope.Namespace == change.Namespace) &&
		(e.scope.Name == "" || e.scope.Name == change.Name)
}

// asks reports whether the event needs more of the object than its name.
func (e *event) asks() bool { return e.CEL != "" || e.Before != "" || e.scope.Selector != nil }

// lost reports whether the change may be the event, but too little of it is kept to decide that.
func (e *event) lost(change history.Change) bool {
	switch {
	case !e.named(change), !e.asks():
		return false
	case change.Object == nil:
		return true
	}
	asksBefore := e.Before != "" || mentions(e.CEL, beforeVariable)
	return asksBefore && change.Before == nil && change.Type != history.Added && e.scope.Contains(change.Object)
}

// is reports whether the change is the event. An expression that has no value is not true.
func (o *order) is(e *event, change history.Change) bool {
	switch {
	case !e.named(change):
		return false
	case !e.asks():
		return true
	case change.Object == nil, !e.scope.Contains(change.Object):
		return false
	}
	if e.Before != "" {
		if change.Before == nil || !o.holds(e, e.Before, change, map[string]any{"object": change.Before.Object}) {
			return false
		}
	}
	if e.CEL == "" {
		return true
	}
	variables := map[string]any{"object": change.Object.Object, "before": nil}
	if change.Before != nil {
		variables["before"] = change.Before.Object
	}
	return o.holds(e, e.CEL, change, variables)
}

func (o *order) holds(e *event, expression string, change history.Change, variables map[string]any) bool {
	holds, err := o.cel(expression, variables)
	e.celError = err
	var missing *expressions.MissingError
	nothingBefore := change.Before == nil && mentions(expression, beforeVariable)
	if err != nil && o.unclear == nil && !nothingBefore && !errors.As(err, &missing) {
		o.unclear = fmt.Errorf("event %d: the expression could not be evaluated for %s: %w", e.number, change.Name, err)
	}
	return holds && err == nil
}

// taken lists the events that occurred, in the order in which they did.
func (o *order) taken() []*event {
	came := slices.DeleteFunc(slices.Clone(o.events), func(e *event) bool { return e.change == nil })
	slices.SortStableFunc(came, func(a, b *event) int { return int(a.change.Seq - b.change.Seq) })
	return came
}

// missing lists the events of the next group that have not occurred.
func (o *order) missing() []*event {
	if o.complete() {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(o.groups[o.next]), func(e *event) bool { return e.change != nil })
}
