package survey

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/reports/upgrades"
)

// sighting is what one or several checks of an object show for one cause.
type sighting struct {
	severity upgrades.Severity
	series   []*Series
	states   []int
	outcome  Outcome
}

// add records what a series shows. Checks of an object that fail alike are one sighting: a validation that rejects an
// update also rejects a label.
func (j *judge) add(s *Series, severity upgrades.Severity, states []int, o Outcome) {
	for _, state := range states {
		j.mark(s.Root, state, severity)
	}
	for _, other := range j.seen {
		first := other.series[0]
		if other.severity == severity && first.Root == s.Root && first.Kind == s.Kind && other.outcome.Class == o.Class &&
			slices.Equal(other.states, states) {
			other.series = append(other.series, s)
			return
		}
	}
	j.seen = append(j.seen, &sighting{severity: severity, series: []*Series{s}, states: states, outcome: o})
}

// checks lists the sighting's checks, the most serious first.
func (s *sighting) checks() []string {
	var names []string
	for _, series := range s.series {
		names = append(names, string(series.Check))
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(weight(a), weight(b)) })
	return names
}

// findings joins the sightings that have one cause, of all objects.
func (j *judge) findings() []*upgrades.Finding {
	joined := map[string]*upgrades.Finding{}
	var order []*upgrades.Finding
	for _, seen := range j.seen {
		s := seen.series[0]
		checks := seen.checks()
		object := upgrades.Object{Name: s.Root.String(), Place: s.Root.Given.Place()}
		id := fmt.Sprint(seen.severity, checks, kindOf(s), seen.states, seen.outcome.Class)
		if f := joined[id]; f != nil {
			f.Objects = append(f.Objects, object)
			continue
		}
		joined[id] = j.finding(seen, checks, object)
		order = append(order, joined[id])
	}
	for _, f := range order {
		j.finish(f)
	}
	return order
}

func (j *judge) finding(seen *sighting, checks []string, object upgrades.Object) *upgrades.Finding {
	s, at := seen.series[0], seen.states[0]
	for _, series := range seen.series {
		if string(series.Check) == checks[0] {
			s = series
		}
	}
	f := &upgrades.Finding{
		Severity: seen.severity, Check: checks[0], Checks: checks[1:], Kind: kindOf(s), Objects: []upgrades.Object{object},
		State: at, States: seen.states, Hop: j.hop(at), What: what(s, seen), Words: seen.outcome.Words,
		Advice: advice(s.Check, seen.outcome.Class, seen.severity, j.path[at].Way),
	}
	if seen.severity == upgrades.Breaks {
		f.Back, f.Flips = j.back(s, seen.outcome.Class, at), j.path[at].Flips
	}
	if s.Check == Moved && seen.outcome.Class == podsMoved {
		f.What = podsRestart
	}
	return f
}

// podsRestart is a placeholder for the sentence about pods, until the number of objects is known.
const podsRestart = "pods restart"

// finish sets what depends on all objects of a finding, and records the finding in its checks.
func (j *judge) finish(f *upgrades.Finding) {
	if f.What == podsRestart {
		f.What = j.restart(f)
	}
	if f.Severity == upgrades.Breaks || f.Severity == upgrades.Changes {
		f.Cause, f.Link = cause(f, j.path)
	}
	if f.Severity == upgrades.Breaks {
		f.Flips = upgrades.LikelyFirst(f.Flips, f.Kind, f.Words)
	}
	for _, name := range append([]string{f.Check}, f.Checks...) {
		if check := j.checks[[2]string{name, f.Kind}]; check != nil && f.Severity.Worse(check.Severity) {
			check.Severity, check.Message = f.Severity, f.What+": "+f.Words
		}
	}
}

// restart is the sentence about objects whose pods were replaced or restarted.
func (j *judge) restart(f *upgrades.Finding) string {
	all := 0
	for _, t := range j.targets {
		if t.GVK.GroupKind().String() == f.Kind {
			all++
		}
	}
	kind, _, _ := strings.Cut(f.Kind, ".")
	if len(f.Objects) == all {
		return fmt.Sprintf("every %s's pods restart without any write", kind)
	}
	return fmt.Sprintf("the pods of %d of %d %s restart without any write", len(f.Objects), all, plural(kind))
}

// Endings of upgrades.Finding.Back, which callers use to distinguish the cases.
const (
	Fixes        = " fixes it"
	DoesNotFix   = " does not fix it"
	NotRehearsed = " was not rehearsed"
)

// back returns whether the opposite transition fixes what a state broke: the outcomes of that class.
func (j *judge) back(s *Series, class string, state int) string {
	undoes := upgrades.Back
	name := "the rollback"
	if j.path[state].Way == upgrades.Back {
		undoes, name = upgrades.Up, "the next upgrade"
	}
	later, reached := j.opposite(s, state, undoes)
	switch {
	case len(later) == 0 && reached && class == deleted: // a deleted object has no outcomes
		return name + DoesNotFix
	case len(later) == 0:
		return name + NotRehearsed
	case s.Check == Moved && !gone(class):
		return again(name, later)
	case slices.ContainsFunc(later, func(o Outcome) bool { return fixed(s.Check, class, o) }):
		return name + Fixes
	case later[len(later)-1].Answer == Unknown:
		return "whether " + name + " fixes it could not be judged"
	}
	return name + DoesNotFix
}

// again returns whether the opposite transition moves the pods, too.
func again(name string, later []Outcome) string {
	has := func(answer Answer) bool {
		return slices.ContainsFunc(later, func(o Outcome) bool { return o.Answer == answer })
	}
	switch {
	case has(Bad):
		return name + " does it again"
	case has(Unknown):
		return "whether " + name + " does it again could not be judged"
	}
	return name + " does not do it again"
}

// opposite are a check's outcomes at the states of the first opposite transition after a state. reached says whether
// any of these states was reached.
func (j *judge) opposite(s *Series, state int, undoes string) (outcomes []Outcome, reached bool) {
	for i := state + 1; i < len(j.path); i++ {
		way := j.path[i].Way
		if way == upgrades.Redeploy || reached && way != undoes {
			break // recreated objects, and a second rollback, do not show what the first one did
		}
		if way != undoes {
			continue
		}
		reached = reached || j.path[i].Reached
		if o, asked := s.Outcomes[i]; asked {
			outcomes = append(outcomes, o)
		}
	}
	return outcomes, reached
}

// fixed reports whether a failure of a class is over at a later state, at which something else may have failed.
func fixed(check Check, class string, now Outcome) bool {
	switch now.Answer {
	case Good:
		return true
	case Changed:
		return describes(check) // what was lost is there again
	case Bad:
		failed := strings.Fields(class)
		return describes(check) && !slices.ContainsFunc(strings.Fields(now.Class), func(word string) bool {
			return slices.ContainsFunc(failed, func(other string) bool { return within(word, other) || within(other, word) })
		})
	}
	return false
}
