package scenarios

import (
	"reflect"
	"sync"
	"time"

	"github.com/rehearse-dev/rehearse/scenarios/internal/tags"
	"github.com/rehearse-dev/rehearse/scenarios/internal/yamltree"
)

// verb is what the language knows of one of a step's verbs. How it runs is the harness's (harness/verbs.go).
type verb struct {
	// name of the field of Step that holds it.
	name string
	// about says in a word what a step is about; "" where it says nothing.
	about func(*Step) string
	// check finds what is wrong with a step; shape, which may be nil, what the types of its fields would not tell, before
	// it is decoded.
	check func(*validator, stepCheck)
	shape func(*validator, *yamltree.Node) bool
	// results are the variables that the outputs of a step have; none where it returns nothing. empty says that a step
	// which has them returns no object; nil for never.
	results []string
	empty   func(*Step) bool

	// write sends a write to the API server: it has expect, dryRun, fieldValidation and as. sends are its fields.
	write bool
	sends contents
	// target is the object that a write is about, and makes the one that it may make; changes says that it may change one
	// that exists.
	target  func(*Step) ObjectReference
	makes   func(*Step) Object
	changes bool
	// way makes the verb's value of the object of write, and of the name of what exists, nil for the object itself. It is
	// nil for what each cannot name.
	way func(object, existing *yamltree.Node) *yamltree.Node

	// watches lists what a step looks at in the history.
	watches func(*Step) []Watch
	// throughout is what a step's throughout names.
	throughout func(*Step) []string
	// within is the limit of a step's own, in a value that the step alone has.
	within func(*Step) *Duration

	// asksOne says that it can choose an API server, or a control plane. Every write can.
	asksOne bool

	// changesCluster: after a failure it is not known what the cluster is. revives: after it the API server answers again.
	changesCluster, revives bool
	// takesTime: loads can go on meanwhile. lasts: what it demands must hold for a time.
	takesTime, lasts bool
	// ownExpect: its own fields say what is expected. ofSteps: it holds writes. replaced: the loader makes steps with
	// other verbs of it.
	ownExpect, ofSteps, replaced bool
}

// contents are the fields that a write sends.
type contents int

const (
	noFields contents = iota
	// ownFields are always the same ones.
	ownFields
	// objectFields are those of an object, which its kind may not have.
	objectFields
)

// stepCheck is a step that is checked.
type stepCheck struct {
	// scenario that has the step as its i-th one; nil for a write that is a part of a step.
	scenario *Scenario
	i        int
	step     *Step
	// node of the verb's own field.
	node *yamltree.Node
	// accepted: what is written must come to be stored.
	accepted bool
}

// Watch is what a step looks at in the history: objects, and what it asks of them.
type Watch struct {
	Selection
	// Match is a partial object, CEL are expressions, and Paths those of fields.
	Match map[string]any
	CEL   []string
	Paths []string
	// Demanded: there must be an object of which that is true.
	Demanded bool
	// FromTheStart: what happens before the step matters, too.
	FromTheStart bool
}

// Verbs lists the verbs that steps have once they are loaded.
func Verbs() []string { return verbNames(func(v verb) bool { return !v.replaced }) }

// verbNames lists the verbs that a condition is true of.
func verbNames(of func(verb) bool) []string {
	var names []string
	for _, v := range verbs() {
		if of(v) {
			names = append(names, v.name)
		}
	}
	return names
}

// table is verbs, made once: a scenario of a thousand steps asks for its verbs a million times.
var table struct {
	once   sync.Once
	byName map[string]verb
}

// verbNamed returns a verb by its name, and one that can nothing where there is none.
func verbNamed(name string) verb {
	table.once.Do(func() {
		table.byName = map[string]verb{}
		for _, v := range verbs() {
			table.byName[v.name] = v
		}
	})
	if v, ok := table.byName[name]; ok {
		return v
	}
	return verb{about: func(*Step) string { return "" }, check: func(*validator, stepCheck) {}}
}

// Writes lists the verbs that send a write to the API server.
func Writes() []string { return verbNames(func(v verb) bool { return v.write }) }

// underLoad lists the verbs that take their time, so that a load can go on meanwhile.
func underLoad() []string { return verbNames(func(v verb) bool { return v.takesTime }) }

func (s *Step) verb() verb { return verbNamed(s.Verb()) }

// Verb is the name of the step's verb: create, transition, eventually, ...
func (s *Step) Verb() string {
	v := reflect.ValueOf(s).Elem()
	for _, f := range verbFields() {
		if !v.FieldByIndex(f.Index).IsZero() {
			return f.Name
		}
	}
	return ""
}

// ChangesCluster says whether the step changes the cluster itself: after a failure it is not known what the cluster is.
func (s *Step) ChangesCluster() bool { return s.verb().changesCluster }

// Target is the object that the step, a write, is about; its zero value for all others.
func (s *Step) Target() ObjectReference {
	if v := s.verb(); v.target != nil {
		return v.target(s)
	}
	return ObjectReference{}
}

// Makes is the object that the step, a write, may make; nil for all others.
func (s *Step) Makes() Object {
	if v := s.verb(); v.makes != nil {
		return v.makes(s)
	}
	return nil
}

// Changes says whether the step is a write that may change an object that exists, and not only its number of replicas.
func (s *Step) Changes() bool { return s.verb().changes }

// Watches lists what the step looks at in the history.
func (s *Step) Watches() []Watch {
	if v := s.verb(); v.watches != nil {
		return v.watches(s)
	}
	return nil
}

// About names the kinds of the objects that the step, or a load during it, writes or looks at.
func (s *Step) About() []ObjectReference {
	all := []ObjectReference{s.Target()}
	for i := range s.During {
		all = append(all, s.During[i].About())
	}
	for _, watch := range s.Watches() {
		all = append(all, watch.ObjectReference)
	}
	return all
}

// Hurried is the step with at most that long to wait; otherwise is what it has where it says nothing. What must hold
// for a time is left as it is, and so is what changes the cluster.
func (s Step) Hurried(most, otherwise time.Duration) Step {
	v := s.verb()
	if v.changesCluster || v.lasts {
		return s
	}
	if s.Timeout.Or(otherwise) > most {
		s.Timeout = Duration(most)
	}
	if v.within != nil {
		within := v.within(&s)
		*within = min(*within, Duration(most))
	}
	return s
}

// throughout is what the step's throughout names; nil when it has none.
func (s *Step) throughout() []string {
	if v := s.verb(); v.throughout != nil {
		return v.throughout(s)
	}
	return nil
}

// verbFields lists the verbs of a step.
func verbFields() []tags.Field {
	var verbs []tags.Field
	for _, f := range tags.Of(reflect.TypeFor[Step]()) {
		if f.Verb {
			verbs = append(verbs, f)
		}
	}
	return verbs
}
