package scenarios

import (
	"errors"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/rehearse-dev/rehearse/scenarios/expressions"
	"github.com/rehearse-dev/rehearse/scenarios/fieldpath"
	"github.com/rehearse-dev/rehearse/scenarios/internal/tags"
	"github.com/rehearse-dev/rehearse/scenarios/internal/yamltree"
)

// verb describes one verb of a step in the language. harness/verbs.go defines how it runs.
type verb struct {
	// name is the name of the verb's field of Step in YAML.
	name string
	// about returns what a step is about, for its title; "" if there is nothing to add.
	about func(*Step) string
	// check finds errors in a decoded step. shape is optional: it finds errors in the YAML that decoding into the Go types
	// would hide. It returns false after an error.
	check func(*validator, stepCheck)
	shape func(*validator, *yamltree.Node) bool
	// results are the variables that the outputs of a step can use; nil if it returns nothing. empty is optional: it
	// reports that this step returns no object, although its verb has results.
	results []string
	empty   func(*Step) bool

	// write: the verb sends a write to the API server and supports expect, dryRun, fieldValidation and as. sends says
	// which fields the write sends.
	write bool
	sends contents
	// target returns the object that a write is about. makes returns the object that it may create; nil if it never
	// creates one. changes: it may change an existing object, and not only its number of replicas.
	target  func(*Step) ObjectReference
	makes   func(*Step) Object
	changes bool
	// way returns the value of this verb for a step with write and each. object is the object of write. existing is the
	// name of the stored object to change; nil if it is the object itself. way is nil for verbs that each does not
	// support.
	way func(object, existing *yamltree.Node) *yamltree.Node

	// watches lists the objects that a step looks at in the history.
	watches func(*Step) []Watch
	// throughout returns the names of the steps in a step's throughout.
	throughout func(*Step) []string
	// within returns a pointer to the time limit in the verb's value. It copies that value first, so that a change of the
	// limit affects only this step.
	within func(*Step) *Duration

	// asksOne: the step can choose an API server or a control plane with via. Every write can, too. component returns the
	// component that via chooses; nil if via chooses an API server.
	asksOne   bool
	component func(*Step) *ComponentReference
	// reads reports whether the step only reads. It is nil if the verb writes, runs programs, or makes components write.
	reads func(*Step) bool

	// changesCluster: if the step fails, the state of the cluster is unknown. revives: the API server answers again after
	// the step.
	changesCluster, revives bool
	// takesTime: loads can run during the step. lasts: what the step requires must hold for a period.
	takesTime, lasts bool
	// ownExpect: the verb has its own expect field. ofSteps: it contains steps, which are writes. replaced: the loader
	// replaces the step with steps of other verbs.
	ownExpect, ofSteps, replaced bool
}

// contents says which fields a write sends.
type contents int

const (
	noFields contents = iota
	// ownFields: always the same fields, which the kind has.
	ownFields
	// objectFields: fields of an object, which the kind may not have.
	objectFields
)

// stepCheck is the step to check.
type stepCheck struct {
	// scenario contains the step at index i. It is nil for a write that is part of another step.
	scenario *Scenario
	i        int
	step     *Step
	// node is the YAML of the verb's field.
	node *yamltree.Node
	// accepted: the API server must accept the write.
	accepted bool
}

// Watch is what a step looks at in the history: objects and their fields.
type Watch struct {
	Selection
	// Match is a partial object, CEL are expressions, and Paths are paths of fields.
	Match map[string]any
	CEL   []string
	Paths []string
	// Demanded: the assertion requires matching objects. If a custom resource lacks a field, the step then fails;
	// otherwise this is an error of the scenario.
	Demanded bool
	// FromTheStart: changes before the step matter, too, so the kind is watched from the start of the scenario.
	FromTheStart bool
}

// FieldUse is a field that a step uses, and where: match, paths, or the expression.
type FieldUse struct {
	fieldpath.Use
	Where string
}

// Fields lists the fields that it uses, as far as its paths and expressions can be read. The error joins the others.
func (w Watch) Fields(e *expressions.Evaluator) ([]FieldUse, error) {
	var all []FieldUse
	var errs []error
	add := func(where string, uses ...fieldpath.Use) {
		for _, use := range uses {
			all = append(all, FieldUse{use, where})
		}
	}
	add("match", fieldpath.Matched(w.Match)...)
	for _, text := range w.Paths {
		path, err := fieldpath.Parse(text)
		if errs = append(errs, err); err == nil {
			add("paths", path.Fields())
		}
	}
	for _, text := range w.CEL {
		uses, err := e.Fields(text)
		errs = append(errs, err)
		add("cel: "+text, uses...)
	}
	return all, errors.Join(errs...)
}

// Verbs lists the verbs of loaded steps. The loader replaces all other verbs.
func Verbs() []string { return verbNames(func(v verb) bool { return !v.replaced }) }

// verbNames lists the verbs for which of returns true.
func verbNames(of func(verb) bool) []string {
	var names []string
	for _, v := range verbs() {
		if of(v) {
			names = append(names, v.name)
		}
	}
	return names
}

// table holds the verbs by name. It is built only once: a scenario of a thousand steps looks up its verbs a million
// times.
var table struct {
	once   sync.Once
	byName map[string]verb
}

// verbNamed returns the verb with a name. For an unknown name, it returns a verb that does nothing.
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

// underLoad lists the verbs of steps that take time, so that loads can run during them.
func underLoad() []string { return verbNames(func(v verb) bool { return v.takesTime }) }

func (s *Step) verb() verb { return verbNamed(s.Verb()) }

// Verb returns the name of the step's verb, such as create, transition or eventually; "" if it has none.
func (s *Step) Verb() string {
	v := reflect.ValueOf(s).Elem()
	for _, f := range verbFields() {
		if !v.FieldByIndex(f.Index).IsZero() {
			return f.Name
		}
	}
	return ""
}

// ChangesCluster reports whether the step changes the cluster itself. If such a step fails, the state of the cluster is
// unknown.
func (s *Step) ChangesCluster() bool { return s.verb().changesCluster }

// Writes reports whether the step or a load during it may write objects: it sends writes, runs a program, or makes
// components write. For a transition, only its loads count.
func (s *Step) Writes() bool {
	reads := s.verb().reads
	return reads == nil || !reads(s) || slices.ContainsFunc(s.During, func(l Requests) bool { return l.Read == nil })
}

// onlyReads is the field reads of a verb that never writes.
func onlyReads(*Step) bool { return true }

// Target returns the object that a write is about; an empty reference for other steps.
func (s *Step) Target() ObjectReference {
	if v := s.verb(); v.target != nil {
		return v.target(s)
	}
	return ObjectReference{}
}

// Makes returns the object that a write may create; nil for other steps.
func (s *Step) Makes() Object {
	if v := s.verb(); v.makes != nil {
		return v.makes(s)
	}
	return nil
}

// Changes reports whether the step is a write that may change an existing object, and not only its number of replicas.
// A deletion does not count.
func (s *Step) Changes() bool { return s.verb().changes }

// Watches lists what the step looks at in the history.
func (s *Step) Watches() []Watch {
	if v := s.verb(); v.watches != nil {
		return v.watches(s)
	}
	return nil
}

// About returns references to the objects that the step and its loads write or look at. The first one is empty if the
// step is not a write.
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

// copied replaces a value with a copy of it, and returns the copy.
func copied[T any](value **T) *T {
	c := **value
	*value = &c
	return &c
}

// Hurried returns the step with its timeout and its own time limit reduced to most if they are longer. otherwise is the
// timeout of a step that sets none. A step that changes the cluster, or whose requirement must hold for a period, stays
// unchanged.
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

// throughout returns the names of the steps in the step's throughout; nil if it has none.
func (s *Step) throughout() []string {
	if v := s.verb(); v.throughout != nil {
		return v.throughout(s)
	}
	return nil
}

// verbFields lists the fields of Step that are verbs.
func verbFields() []tags.Field {
	var verbs []tags.Field
	for _, f := range tags.Of(reflect.TypeFor[Step]()) {
		if f.Verb {
			verbs = append(verbs, f)
		}
	}
	return verbs
}
