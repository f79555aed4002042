package assertions

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/harness/matching"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/expressions"
)

// candidate is a selected object, and whether it matches.
type candidate struct {
	object  *unstructured.Unstructured
	matches bool
	// differs: its fields are not as wanted, so CEL was not evaluated.
	differs bool
	// celError is why CEL could not be evaluated; nil when it was.
	celError error
	// unclear: CEL failed, so it is unknown whether the object matches. If a field is missing, it does not match; but
	// this says nothing if the field is one of another object (judge.strict). It is also unclear if doubtful is set.
	unclear bool
	// doubtful is why a field that is not as wanted may mean the same (judge.excludes).
	doubtful string
	// stale is why the object's status cannot be used: it is of an earlier generation.
	stale string
	// progress of the object's rollout, if that is judged.
	progress *progress
}

// answer is the result of CEL.
type answer struct {
	holds bool
	err   error
}

// judge knows the selected objects at one moment, and whether the assertion is true of them.
type judge struct {
	assertion scenarios.Assertion
	scope     history.Scope
	cel       Evaluate
	// why explains why the expression is false; nil if that is unknown.
	why func(expression string, variables map[string]any) string
	// usesAll: the expression is about all objects (all), so each change may change the result of every candidate.
	usesAll bool
	// usesEach: it is also about the object, so it may be true of one and false of another.
	usesEach bool
	// strict: an expression about all objects must have a value, since one object without a field must not hide what the
	// others have. It is not strict where the expression is only waited for.
	strict bool
	// excludes: the verb demands that objects do not match, so a doubtful difference must not be enough.
	excludes   bool
	all        []any
	candidates map[[2]string]*candidate
	// answer of CEL for all candidates, if one is enough; nil if CEL was not evaluated for this state yet.
	answer *answer
	// asksOfNone: the expression must not be true of no objects either. ofNone is whether it is.
	asksOfNone, ofNone bool
	// rollout: an object matches when it is rolled out.
	rollout bool
	// current: a status must be of the object's generation. stale is what is not, if the expression is about all
	// objects.
	current bool
	stale   staleAmong
	basis
	// matched is how many candidates match. unclear counts those for which it is unknown. undecided counts those with a
	// stale status.
	matched, unclear, undecided int
}

var quotedText = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'`)

// The variables of which the judges must know whether an expression uses them.
var objectVariable, objectsVariable, beforeVariable = variable("object"), variable("objects"), variable("before")

func variable(name string) *regexp.Regexp { return regexp.MustCompile(`(?:^|[^.\w])` + name + `\b`) }

// mentions reports whether an expression uses a variable. A field of that name, and the name in a text, do not count.
func mentions(expression string, variable *regexp.Regexp) bool {
	return variable.MatchString(quotedText.ReplaceAllString(expression, `""`))
}

func newJudge(in Input) *judge {
	return &judge{
		assertion: in.Assertion,
		scope:     in.Scope,
		cel:       in.CEL,
		why:       in.Why,
		usesAll:   mentions(in.Assertion.CEL, objectsVariable),
		usesEach:  mentions(in.Assertion.CEL, objectVariable),
	}
}

// forbids reports whether a verb requires that something does not match at some moment, or that it always does.
func forbids(verb string, assertion scenarios.Assertion) bool {
	return verb == "always" || verb == "never" || assertion.Absent ||
		assertion.Count != nil && assertion.Count.Max != nil
}

// excludesMatches reports whether a verb demands that objects do not match.
func excludesMatches(verb string, assertion scenarios.Assertion) bool {
	return verb == "never" && !assertion.Absent || verb != "never" && assertion.Absent ||
		assertion.Count != nil && assertion.Count.Max != nil
}

// begin replaces what was known with the objects of a view.
func (j *judge) begin(view history.View) {
	j.candidates, j.matched, j.unclear, j.undecided = map[[2]string]*candidate{}, 0, 0, 0
	for _, object := range view.Objects {
		j.add(object)
		j.candidates[[2]string{object.GetNamespace(), object.GetName()}] = &candidate{object: object}
	}
	j.decideAll()
}

// apply applies one change. It returns false if the state after the change is no longer kept.
func (j *judge) apply(change history.Change) bool {
	key := [2]string{change.Namespace, change.Name}
	switch {
	case change.Type == history.Deleted:
		j.remove(key)
	case change.Object == nil:
		return false
	case j.scope.Contains(change.Object):
		j.remove(key)
		j.add(change.Object)
		j.candidates[key] = &candidate{object: change.Object}
		if !j.usesAll {
			j.decide(j.candidates[key])
		}
	default:
		j.remove(key)
	}
	if j.usesAll && !change.More {
		j.decideAll()
	}
	return true
}

func (j *judge) remove(key [2]string) {
	if c := j.candidates[key]; c != nil {
		j.count(c, -1)
	}
	delete(j.candidates, key)
}

// count adds a candidate to its counts, or subtracts it.
func (j *judge) count(c *candidate, one int) {
	if c.matches {
		j.matched += one
	}
	if c.unclear {
		j.unclear += one
	}
	if c.stale != "" {
		j.undecided += one
	}
}

func (j *judge) decideAll() {
	if j.usesAll {
		j.all = nil
		for _, c := range j.sorted() {
			j.all = append(j.all, c.object.Object)
		}
		if j.current {
			j.stale = j.staleAmongAll()
		}
	}
	j.answer = nil
	for _, c := range j.candidates {
		j.decide(c)
	}
	j.ofNone = false
	if j.asksOfNone && len(j.candidates) == 0 {
		holds, err := j.cel(j.assertion.CEL, map[string]any{"objects": []any{}})
		j.ofNone = holds && err == nil
	}
}

func (j *judge) decide(c *candidate) {
	j.count(c, -1)
	*c = candidate{object: c.object}
	j.judge(c, j.all)
	if j.current {
		j.rejectStale(c)
	}
	j.count(c, 1)
}

// judge decides whether a candidate matches, among all of them.
func (j *judge) judge(c *candidate, all []any) {
	if j.rollout {
		c.progress = progressOf(c.object)
		c.matches = c.progress.done()
		return
	}
	differences := matching.Match(j.assertion.Match, c.object.Object)
	switch {
	case len(differences) > 0:
		c.differs = true
		if j.excludes {
			c.doubtful = matching.Doubtful(differences)
			c.unclear = c.doubtful != ""
		}
	case j.assertion.CEL == "":
		c.matches = true
	default:
		c.matches, c.celError = j.evaluate(c, all)
		c.matches = c.matches && c.celError == nil
		var missing *expressions.MissingError
		c.unclear = c.celError != nil && (j.strict || !errors.As(c.celError, &missing))
	}
}

// evaluate evaluates CEL. An expression about all objects together, and about none in particular, is evaluated once
// for all of them.
func (j *judge) evaluate(c *candidate, all []any) (bool, error) {
	if j.answer != nil {
		return j.answer.holds, j.answer.err
	}
	holds, err := j.cel(j.assertion.CEL, j.variables(c, all))
	if j.usesAll && !j.usesEach {
		j.answer = &answer{holds, err}
	}
	return holds, err
}

func (j *judge) variables(c *candidate, all []any) map[string]any {
	variables := map[string]any{"object": c.object.Object}
	if j.usesAll {
		variables["objects"] = all
	}
	return variables
}

// sorted returns the candidates by namespace and name.
func (j *judge) sorted() []*candidate {
	sorted := make([]*candidate, 0, len(j.candidates))
	for _, c := range j.candidates {
		sorted = append(sorted, c)
	}
	slices.SortFunc(sorted, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(a.object.GetNamespace(), b.object.GetNamespace()), cmp.Compare(a.object.GetName(),
			b.object.GetName()))
	})
	return sorted
}

// matching returns the candidates that match, by namespace and name.
func (j *judge) matching() []*candidate {
	return slices.DeleteFunc(j.sorted(), func(c *candidate) bool { return !c.matches })
}

// surely reports whether the assertion is true now (or false, if wanted is false), whatever the unclear and stale
// candidates turn out to be.
func (j *judge) surely(wanted bool) bool {
	for unclear := range j.unclear + j.undecided + 1 {
		if j.holds(j.matched+unclear) != wanted {
			return false
		}
	}
	return true
}

// doubt returns why it is unknown whether the assertion is true now. It returns nil if that is known, or if only a
// stale status prevents it.
func (j *judge) doubt() error {
	if j.unclear == 0 || j.surely(true) || j.surely(false) {
		return nil
	}
	unclear := slices.DeleteFunc(j.sorted(), func(c *candidate) bool { return !c.unclear })
	if why := unclear[0].doubtful; why != "" {
		return fmt.Errorf("it is unclear whether %s matches: %s", unclear[0].object.GetName(), why)
	}
	err := fmt.Errorf("the expression could not be evaluated for %s: %w", names(unclear), unclear[0].celError)
	var missing *expressions.MissingError
	if errors.As(err, &missing) {
		return fmt.Errorf("%w; it is about all objects, and not every object has this: let it ask first whether it is "+
			"there, as in has(o.spec.nodeName)", err)
	}
	return err
}

// holds reports whether the assertion is true if that many candidates match.
func (j *judge) holds(n int) bool {
	switch {
	case j.assertion.Absent:
		return n == 0 && !j.ofNone
	case j.assertion.Count != nil:
		return j.assertion.Count.Holds(n, len(j.candidates))
	default:
		return n >= 1 || j.ofNone
	}
}

// failing returns the candidates that do not match, the closest first.
func (j *judge) failing() []*candidate {
	failing := slices.DeleteFunc(j.sorted(), func(c *candidate) bool { return c.matches })
	objects := make([]any, len(failing))
	for i, c := range failing {
		objects[i] = c.object.Object
	}
	closest := make([]*candidate, len(failing))
	for to, from := range matching.Closest(j.assertion.Match, objects) {
		closest[to] = failing[from]
	}
	return closest
}
