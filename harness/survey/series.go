package survey

import (
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/harness/manifests"
	"github.com/rehearse-dev/rehearse/reports"
)

// Check names a question about an object. docs/upgrade.md lists the questions.
type Check string

// The checks.
const (
	Read      Check = "read"
	Content   Check = "content"
	Update    Check = "update"
	Label     Check = "label"
	Keep      Check = "keep"
	Finalizer Check = "finalizer"
	Status    Check = "status"
	Scale     Check = "scale"
	Evict     Check = "evict"
	Delete    Check = "delete"
	Create    Check = "create"
	Apply     Check = "apply"
	Moved     Check = "moved"
	Warning   Check = "warning"
	Condition Check = "condition"
)

// Checks lists all of them, the most serious first.
func Checks() []Check {
	return []Check{
		Moved, Read, Condition, Content, Keep, Update, Label, Status, Scale, Finalizer, Delete, Evict, Apply, Create, Warning,
	}
}

// Answer to a check.
type Answer int

// The answers, from the best to the worst.
const (
	// NotAsked: the check does not apply to the object, or the object did not exist.
	NotAsked Answer = iota
	// Good: as it should be.
	Good
	// Changed: something is different, but nothing is broken.
	Changed
	// Unknown: it could not be judged.
	Unknown
	// Bad: rejected, lost, replaced or deleted.
	Bad
)

// Outcome of a check at a state.
type Outcome struct {
	Answer Answer
	// Words are the API server's message, or what was seen.
	Words string
	// Class is equal for outcomes of one cause. Default: the words without names and values.
	Class string
}

// Broken reports whether one of these checks of a given object is bad at the current state.
func (s *answers) Broken(given *manifests.Object, checks ...Check) bool {
	for k, series := range s.series {
		if k.root.Given == given && k.kind == k.root.GVK.GroupKind() && slices.Contains(checks, k.check) &&
			series.Outcomes[s.state].Answer == Bad {
			return true
		}
	}
	return false
}

// Target is an object that is surveyed.
type Target struct {
	// Given is the manifest; nil for an object that a controller made.
	Given           *manifests.Object
	GVK             schema.GroupVersionKind
	Namespace, Name string
	UID             string
	// Root is the given object that it belongs to; nil for a given object.
	Root *Target
	// owner is the uid of its controller. timed says that it, or an owner between it and the given object, comes and goes
	// with time: a CronJob, or a Job that expires. Both are unset for a given object.
	owner string
	timed bool
	// template is equal for objects that come from one template (templateOf); "" for a given object.
	template string
}

// String is kind, namespace and name, such as "Deployment shop/web".
func (t *Target) String() string {
	if t.Namespace == "" {
		return t.GVK.Kind + " " + t.Name
	}
	return t.GVK.Kind + " " + t.Namespace + "/" + t.Name
}

// root is the given object.
func (t *Target) root() *Target {
	if t.Root == nil {
		return t
	}
	return t.Root
}

type key struct {
	root  *Target
	kind  schema.GroupKind
	check Check
}

// Series are the outcomes of one check over the states.
type Series struct {
	Check Check
	// Root is the given object.
	Root *Target
	// Kind is the kind that was checked: the given object's, or that of its dependents.
	Kind schema.GroupKind
	// Outcomes by the number of the state. For several objects, it is the worst one. A state without an outcome has no
	// key.
	Outcomes map[int]Outcome
}

// answers are the series of a survey. Outcomes of the current state are added to them.
type answers struct {
	series map[key]*Series
	order  []*Series
	// first is the first state at which each given object was checked, whether the check applies or not.
	first map[*Target]int
	// except are the checks that are skipped.
	except []Check
	// waiting are the Pods that wait for their place at the current state.
	waiting []waiting
	// state is the number of the current state.
	state int
}

// waiting is a new Pod that does not run yet, and why.
type waiting struct {
	pod *Target
	why string
}

// forget drops the outcomes of the current state, because its survey did not finish.
func (s *answers) forget() {
	s.waiting = nil
	for _, series := range s.order {
		delete(series.Outcomes, s.state)
	}
}

// note records an outcome at the current state.
func (s *answers) note(t *Target, check Check, o Outcome) {
	if s.first == nil {
		s.first = map[*Target]int{}
	}
	if _, known := s.first[t.root()]; !known {
		s.first[t.root()] = s.state
	}
	if o.Answer == NotAsked || slices.Contains(s.except, check) {
		return
	}
	k := key{t.root(), t.GVK.GroupKind(), check}
	series := s.series[k]
	if series == nil {
		series = &Series{Check: check, Root: k.root, Kind: k.kind, Outcomes: map[int]Outcome{}}
		s.series[k] = series
		s.order = append(s.order, series)
	}
	if o.Class == "" {
		o.Class = classOf(o.Words, t.Name)
	}
	lost := describes(check) && o.Answer == Bad
	if lost {
		o.Class = strings.Join(slices.Sorted(slices.Values(strings.Fields(o.Class))), " ")
	}
	switch before, ok := series.Outcomes[s.state]; {
	case ok && before.Answer == Bad && lost:
		series.Outcomes[s.state] = before.and(o)
	case !ok || before.Answer < o.Answer:
		series.Outcomes[s.state] = o
	}
}

// betweenParts separates the losses or warnings in the words of an outcome.
const betweenParts = "; "

// and adds what another object, version or write has lost, unless the outcome has it already. The result does not
// depend on the order: dry runs are answered in any.
func (o Outcome) and(other Outcome) Outcome {
	class := reports.Union(strings.Fields(o.Class), strings.Fields(other.Class))
	slices.Sort(class)
	together := strings.Join(class, " ")
	switch {
	case together == o.Class && together == other.Class:
		o.Words = min(o.Words, other.Words)
		return o
	case together == o.Class:
		return o
	case together == other.Class:
		return other
	}
	words := reports.Union(strings.Split(o.Words, betweenParts), strings.Split(other.Words, betweenParts))
	slices.Sort(words)
	return Outcome{Answer: o.Answer, Words: strings.Join(words, betweenParts), Class: together}
}

// values matches quoted texts and list indices.
var values = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|\[\d+\]`)

// classOf is the words without values and the object's name: equal for several objects with one cause.
func classOf(words, name string) string {
	own := regexp.MustCompile(`(^|[^a-z0-9.-])` + regexp.QuoteMeta(name) + `($|[^a-z0-9.-])`)
	return own.ReplaceAllString(values.ReplaceAllString(words, "_"), "${1}NAME$2")
}

func plural(kind string) string {
	switch {
	case strings.HasSuffix(kind, "s"):
		return kind
	case strings.HasSuffix(kind, "y"):
		return strings.TrimSuffix(kind, "y") + "ies"
	}
	return kind + "s"
}
