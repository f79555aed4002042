package scenarios

import (
	"github.com/rehearse-dev/rehearse/scenarios/internal/words"
	"github.com/rehearse-dev/rehearse/scenarios/internal/yamltree"
)

func sequenceVerb() verb {
	return verb{
		name: "sequence", takesTime: true,
		reads:      onlyReads,
		about:      func(s *Step) string { return s.Sequence.subject() },
		check:      func(v *validator, c stepCheck) { checkSequence(v, c.scenario, c.i, c.node) },
		throughout: func(s *Step) []string { return s.Sequence.Throughout },
		watches: func(s *Step) []Watch {
			var all []Watch
			for _, item := range s.Sequence.Events {
				for _, event := range item.Group() {
					all = append(all, Watch{Selection: event.Selection(), CEL: []string{event.Before, event.CEL}})
				}
			}
			return all
		},
		within: func(s *Step) *Duration { return &copied(&s.Sequence).Within },
	}
}

// Sequence says which changes of objects must come in which order. An event that comes before its turn fails it; what
// is no event of the sequence, and an event that comes again after its turn, is passed over. What was there before the
// time began is no event.
type Sequence struct {
	// Events in the required order.
	Events []SequenceItem `json:"events"`
	// Throughout names two steps: the events must occur between the beginning of the first and the end of the last. If
	// the last is this step itself, they may still occur during within.
	Throughout []string `json:"throughout,omitempty" fixed:"true"`
	// Within is the maximum time for the events, from now on. Default: the step's timeout. Without throughout, earlier
	// events do not count.
	Within Duration `json:"within,omitempty"`
}

// SequenceItem is one event of a sequence, or several events in any order.
type SequenceItem struct {
	Event `json:",inline"`
	// AnyOrder lists several events instead of one, which may occur in any order. Each needs a separate change.
	AnyOrder []Event `json:"anyOrder,omitempty"`
}

// Event is a change of an object, selected by name, by labels, or only by kind.
type Event struct {
	// APIVersion of the object.
	APIVersion string `json:"apiVersion,omitempty" fixed:"true"`
	// Kind of the object.
	Kind string `json:"kind,omitempty" fixed:"true"`
	// Name of the object.
	Name string `json:"name,omitempty" filled:"true"`
	// Namespace of the object. Default: the scenario's.
	Namespace string `json:"namespace,omitempty" filled:"true"`
	// Selector selects objects with these labels.
	Selector map[string]string `json:"selector,omitempty"`
	// AllNamespaces selects from all namespaces instead of the scenario's.
	AllNamespaces bool `json:"allNamespaces,omitempty"`
	// Type of the change: added, modified or deleted. Default: any.
	Type string `json:"type,omitempty" fixed:"true"`
	// Before is an expression that is true for "object" before the change. It never matches an added object.
	Before string `json:"before,omitempty" expression:"before"`
	// CEL is an expression that is true for "object" after the change (or at its deletion), and for "before", which is
	// null if the object was added. A missing field means that the change is not the event. After any other error of
	// an expression the sequence is not judged.
	CEL string `json:"cel,omitempty" expression:"event"`
}

// Selection returns the selection of the objects whose changes can be the event.
func (e Event) Selection() Selection {
	return Selection{
		ObjectReference: ObjectReference{APIVersion: e.APIVersion, Kind: e.Kind, Name: e.Name, Namespace: e.Namespace},
		Selector:        e.Selector, AllNamespaces: e.AllNamespaces,
	}
}

// Group returns the events of an item: a single one, or those of anyOrder.
func (i SequenceItem) Group() []Event {
	if len(i.AnyOrder) > 0 {
		return i.AnyOrder
	}
	return []Event{i.Event}
}

func (s *Sequence) subject() string {
	if len(s.Events) == 0 {
		return ""
	}
	first := s.Events[0].Group()[0]
	return "from " + ObjectReference{Kind: first.Kind, Name: first.Name}.subject()
}

func checkSequence(v *validator, s *Scenario, i int, n *yamltree.Node) {
	sequence := s.Spec.Steps[i].Sequence
	if len(sequence.Events) == 0 {
		v.At(n.At("events"), "", "a sequence without events")
	}
	for j, item := range sequence.Events {
		checkSequenceItem(v, item, n.At("events", j))
	}
	if n.Get("throughout") == nil {
		return
	}
	checkThroughout(v, s, i, n)
	if _, last, ok := s.Span(i); ok && last < i && n.Get("within") != nil {
		v.At(n.Key("within"), "name this step itself as the last, to wait for the events",
			"the period is over when the step %q has ended", words.Short(sequence.Throughout[1]))
	}
}

func checkSequenceItem(v *validator, item SequenceItem, n *yamltree.Node) {
	if n.Get("anyOrder") == nil {
		checkEvent(v, item.Event, n)
		return
	}
	if len(n.Entries) > 1 {
		v.At(n, "", "an item of a sequence is one event, or several under anyOrder")
		return
	}
	if len(item.AnyOrder) < 2 {
		v.At(n.At("anyOrder"), "", "a single event needs no anyOrder")
	}
	for i, event := range item.AnyOrder {
		checkEvent(v, event, n.At("anyOrder", i))
	}
}

func checkEvent(v *validator, e Event, n *yamltree.Node) {
	v.present(e.APIVersion, n, "apiVersion")
	if e.APIVersion == "" {
		return
	}
	v.selection(e.Selection(), n)
	v.OneOf(e.Type, []string{"added", "modified", "deleted"}, n.At("type"), "type of a change")
	if e.Type == "added" && n.Get("before") != nil {
		v.At(n.Key("before"), "", "there was no object before it was added")
	}
}
