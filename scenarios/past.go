package scenarios

// Sequence says which changes of objects must come in which order. An event that comes before its turn fails it; what is no event of the
// sequence, and an event that comes again after its turn, is passed over. What was there before the time began is no event.
type Sequence struct {
	// Events in their order.
	Events []SequenceItem `json:"events"`
	// Throughout names two steps: the events must have come between the beginning of the first and the end of the last. Where the last is this
	// step itself they may still come within the time below.
	Throughout []string `json:"throughout,omitempty" fixed:"true"`
	// Within is how long the events may take from now on; the step's timeout unless told. Without throughout only what comes from now on counts.
	Within Duration `json:"within,omitempty"`
}

// SequenceItem is one event of a sequence, or several of which the order does not matter.
type SequenceItem struct {
	Event `json:",inline"`
	// AnyOrder holds several events, instead of one, which may come in any order, each by a change of its own.
	AnyOrder []Event `json:"anyOrder,omitempty"`
}

// Event is a change of an object: one that is selected by its name, by labels, or as any of its kind.
type Event struct {
	// APIVersion of the object.
	APIVersion string `json:"apiVersion,omitempty" fixed:"true"`
	// Kind of the object.
	Kind string `json:"kind,omitempty" fixed:"true"`
	// Name of the object.
	Name string `json:"name,omitempty"`
	// Namespace of the object; the scenario's unless told.
	Namespace string `json:"namespace,omitempty"`
	// Selector takes objects that have these labels.
	Selector map[string]string `json:"selector,omitempty"`
	// AllNamespaces looks into every namespace instead of the scenario's.
	AllNamespaces bool `json:"allNamespaces,omitempty"`
	// Type of the change: added, modified or deleted; any unless told.
	Type string `json:"type,omitempty" fixed:"true"`
	// Before is an expression that is true of "object" as it was before the change. It is of no object that was added.
	Before string `json:"before,omitempty" expression:"before"`
	// CEL is an expression that is true of "object" as it is after the change (or was when it was deleted), and of "before", which is null
	// where the object was added.
	CEL string `json:"cel,omitempty" expression:"event"`
}

// Selection of the objects that the event may be of.
func (e Event) Selection() Selection {
	return Selection{
		ObjectReference: ObjectReference{APIVersion: e.APIVersion, Kind: e.Kind, Name: e.Name, Namespace: e.Namespace},
		Selector:        e.Selector, AllNamespaces: e.AllNamespaces,
	}
}

// Group is the events of an item, be it one or several.
func (i SequenceItem) Group() []Event {
	if i.AnyOrder != nil {
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

// Unchanged says what must not change in the objects that are selected when a time begins, all of which must stay.
type Unchanged struct {
	Selection `json:",inline"`
	// Paths in each object: metadata.uid, spec, status.containerStatuses[*].restartCount, metadata.labels["a.b/c"], spec.ports[0].port. What is at
	// a path, be it nothing, must be the same at every moment; at each path there must be something in one of the objects. A null is the same as
	// no field. In Kubernetes' own kinds an empty map or list is so, too, where the API has no other meaning for it (labels, resources), but not
	// where it has one (emptyDir). A field that another version sets by default is a change.
	Paths []string `json:"paths" fixed:"true"`
	// Throughout names two steps: the time is from the beginning of the first to the end of the last. The last is this step itself, or one
	// before it.
	Throughout []string `json:"throughout" fixed:"true"`
}

// SnapshotReference names a snapshot.
type SnapshotReference struct {
	// Name of the snapshot, in this scenario.
	Name string `json:"name" fixed:"true"`
}

// throughout is what the step's throughout names; nil when it has none.
func (s *Step) throughout() []string {
	switch {
	case s.Always != nil:
		return s.Always.Throughout
	case s.Never != nil:
		return s.Never.Throughout
	case s.Sequence != nil:
		return s.Sequence.Throughout
	case s.Unchanged != nil:
		return s.Unchanged.Throughout
	}
	return nil
}

// Span returns the numbers of the first and of the last step of the time that step i judges; false when it judges none that is past.
func (s *Scenario) Span(i int) (first, last int, ok bool) {
	names := s.Spec.Steps[i].throughout()
	if len(names) != 2 {
		return 0, 0, false
	}
	first, last = s.stepNamed(names[0]), s.stepNamed(names[1])
	return first, last, first >= 0 && last >= 0
}

// stepNamed is the number of the step that is meant by a name; -1 when there is none.
func (s *Scenario) stepNamed(name string) int {
	for i := range s.Spec.Steps {
		if s.Spec.Steps[i].Named(name) {
			return i
		}
	}
	return -1
}

// Watched lists what the step looks at in the history.
func (s *Step) Watched() []Selection {
	switch {
	case s.Eventually != nil:
		return []Selection{s.Eventually.Selection}
	case s.RolledOut != nil:
		return []Selection{s.RolledOut.Selection}
	case s.Always != nil:
		return []Selection{s.Always.Selection}
	case s.Never != nil:
		return []Selection{s.Never.Selection}
	case s.Unchanged != nil:
		return []Selection{s.Unchanged.Selection}
	case s.Sequence != nil:
		var all []Selection
		for _, item := range s.Sequence.Events {
			for _, event := range item.Group() {
				all = append(all, event.Selection())
			}
		}
		return all
	}
	return nil
}
