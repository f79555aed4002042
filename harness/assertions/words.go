package assertions

import (
	"fmt"

	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/scenarios"
)

func (w *explainer) wanted() string {
	object := described(w.assertion.Kind, w.scope)
	switch {
	case !w.rollout:
		return wanted(w.assertion, w.scope)
	case w.scope.Name != "":
		return object + " is rolled out"
	default:
		return fmt.Sprintf("every %s is rolled out, at least one", object)
	}
}

// wanted describes an assertion: "at least one Service in namespace x matches".
func wanted(a scenarios.Assertion, scope history.Scope) string {
	one, many := "exists", "exist"
	if len(a.Match) > 0 || a.CEL != "" {
		one, many = "matches", "match"
	}
	some := func(number string) string {
		return fmt.Sprintf("%s of kind %s %s", number, described(a.Kind, scope), many)
	}
	object := described(a.Kind, scope)
	switch {
	case a.Absent:
		return fmt.Sprintf("no %s %s", object, one)
	case a.Count == nil && scope.Name != "":
		return fmt.Sprintf("%s %s", object, one)
	case a.Count == nil:
		return fmt.Sprintf("at least one %s %s", object, one)
	case a.Count.All:
		return fmt.Sprintf("every %s %s, at least one", object, one)
	case a.Count.Min == nil && a.Count.Max == nil:
		return some("any number")
	case a.Count.Max == nil:
		return some(fmt.Sprintf("at least %d", *a.Count.Min))
	case a.Count.Min == nil:
		return some(fmt.Sprintf("at most %d", *a.Count.Max))
	case *a.Count.Min == *a.Count.Max:
		return some(fmt.Sprintf("exactly %d", *a.Count.Min))
	default:
		return some(fmt.Sprintf("%d to %d", *a.Count.Min, *a.Count.Max))
	}
}

// described names the objects of a scope: "Service web in namespace x".
func described(kind string, scope history.Scope) string {
	text := kind
	if scope.Name != "" {
		text += " " + scope.Name
	}
	if scope.Namespace != "" {
		text += " in namespace " + scope.Namespace
	}
	if scope.Selector != nil && !scope.Selector.Empty() {
		text += fmt.Sprintf(" with labels %s", scope.Selector)
	}
	return text
}
