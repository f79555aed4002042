package scenarios

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// throughout checks the names of the steps that a time goes from and to.
func (v *validator) throughout(s *Scenario, i int, n *node) {
	names, at := s.Spec.Steps[i].throughout(), n.get("throughout")
	if len(names) != 2 {
		v.at(at, "throughout: [first step, last step]", "want the names of two steps, not of %d", len(names))
		return
	}
	first, last := v.stepNumber(s, names[0], at.at(0)), v.stepNumber(s, names[1], at.at(1))
	switch {
	case first < 0 || last < 0:
	case first >= i:
		v.at(at.at(0), "", "the step %q is not before this one: there is nothing to look back on", short(names[0]))
	case last > i:
		v.at(at.at(1), "put this step after it", "the step %q comes only after this one", short(names[1]))
	case first > last:
		v.at(at, "", "the step %q comes after the step %q", short(names[0]), short(names[1]))
	}
}

// stepNumber is the number of the one step that is meant by a name; -1 when there is none.
func (v *validator) stepNumber(s *Scenario, name string, n *node) int {
	meant := v.reference(s.Spec.Steps, name, n, "step")
	for i := range s.Spec.Steps {
		if &s.Spec.Steps[i] == meant {
			return i
		}
	}
	return -1
}

func (v *validator) sequence(s *Scenario, i int, n *node) {
	sequence := s.Spec.Steps[i].Sequence
	if len(sequence.Events) == 0 {
		v.at(n.at("events"), "", "a sequence without events")
	}
	for j, item := range sequence.Events {
		v.sequenceItem(item, n.at("events", j))
	}
	if n.get("throughout") == nil {
		return
	}
	v.throughout(s, i, n)
	if _, last, ok := s.Span(i); ok && last < i && n.get("within") != nil {
		v.at(n.key("within"), "name this step itself as the last, to wait for the events", "the time is over when the step %q has ended", short(sequence.Throughout[1]))
	}
}

func (v *validator) sequenceItem(item SequenceItem, n *node) {
	if n.get("anyOrder") == nil {
		v.event(item.Event, n)
		return
	}
	if len(n.entries) > 1 {
		v.at(n, "", "an item of a sequence is one event, or several in anyOrder")
		return
	}
	if len(item.AnyOrder) < 2 {
		v.at(n.at("anyOrder"), "", "one event alone has an order")
	}
	for i, event := range item.AnyOrder {
		v.event(event, n.at("anyOrder", i))
	}
}

func (v *validator) event(e Event, n *node) {
	v.present(e.APIVersion, n, "apiVersion")
	if e.APIVersion == "" {
		return
	}
	v.selection(e.Selection(), n)
	v.oneOf(e.Type, []string{"added", "modified", "deleted"}, n.at("type"), "type of a change")
	if e.Type == "added" && n.get("before") != nil {
		v.at(n.key("before"), "", "there was no object before it was added")
	}
}

func (v *validator) unchanged(s *Scenario, i int, n *node) {
	unchanged := s.Spec.Steps[i].Unchanged
	v.selection(unchanged.Selection, n)
	if len(unchanged.Paths) == 0 {
		v.at(n.at("paths"), "such as metadata.uid", "no path is given")
	}
	for j, text := range unchanged.Paths {
		if _, err := ParseFieldPath(text); err != nil {
			v.at(n.at("paths", j), "such as spec, or status.containerStatuses[*].restartCount", "%v", err)
		}
	}
	v.throughout(s, i, n)
}

func (v *validator) snapshot(s *Scenario, i int, n *node) {
	name := s.Spec.Steps[i].Snapshot.Name
	for _, message := range validation.IsDNS1123Label(name) {
		message, _, _ = strings.Cut(message, " (e.g.")
		v.at(n.at("name"), "", "the snapshot's name %q: %s", short(name), message)
	}
	for j := range i {
		if earlier := s.Spec.Steps[j].Snapshot; earlier != nil && earlier.Name == name {
			v.at(n.at("name"), "", "there is a snapshot %q already, of the step in line %d", short(name), s.Spec.Steps[j].Position.Line)
		}
	}
}

func (v *validator) restore(s *Scenario, i int, n *node) {
	name := s.Spec.Steps[i].Restore.Name
	var names []string
	for j := range i {
		if earlier := s.Spec.Steps[j].Snapshot; earlier != nil {
			names = append(names, earlier.Name)
		}
	}
	v.oneOf(name, names, n.at("name"), "earlier snapshot")
	v.present(name, n, "name")
}
