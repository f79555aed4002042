package survey

import (
	"fmt"

	"github.com/rehearse-dev/rehearse/reports/upgrades"
)

// kindOf names the kind that a series is about: "Deployment.apps", or "Pod of Deployment.apps" for its dependents.
func kindOf(s *Series) string {
	if root := s.Root.GVK.GroupKind(); s.Kind != root {
		return fmt.Sprintf("%s of %s", s.Kind, root)
	}
	return s.Kind.String()
}

// what is the sentence of a finding, about its most serious check.
func what(s *Series, seen *sighting) string {
	answer := seen.outcome.Answer
	// it names the object, of goes after a noun, and its returns a noun with its owner.
	it, of := "it", ""
	its := func(noun string) string { return "its " + noun }
	if s.Kind != s.Root.GVK.GroupKind() {
		it = "one of its " + plural(s.Kind.Kind)
		of = " of " + it
		its = func(noun string) string { return "the " + noun + of }
	}
	if answer == Unknown {
		return fmt.Sprintf("the check %q%s could not be judged", s.Check, of)
	}
	if seen.severity == upgrades.Changes && answer == Good && s.Check != Warning {
		return "a write" + of + " that was rejected before is accepted now"
	}
	if seen.severity == upgrades.Changes && answer == Bad {
		return fmt.Sprintf("the check %q%s failed before, and fails for another reason now", s.Check, of)
	}
	switch s.Check {
	case Condition:
		switch {
		case answer == Changed:
			return its("status") + " changed"
		case seen.outcome.Class == notRunning:
			return it + " does not run"
		}
		return its("status") + " is worse than before"
	case Read:
		return it + " cannot be read"
	case Content:
		if answer == Changed {
			return "its content changed, but nothing of it is lost"
		}
		return "its content is not what it was"
	case Update:
		return "a write of " + it + " that changes nothing is rejected"
	case Label:
		return it + " cannot be labelled"
	case Keep:
		return "a write" + of + " drops fields that it does not mention"
	case Finalizer:
		return its("finalizers") + " cannot be removed"
	case Status:
		return its("status") + " cannot be written"
	case Scale:
		return it + " cannot be scaled"
	case Delete:
		return it + " cannot be deleted"
	case Evict:
		return it + " cannot be evicted"
	case Create:
		return "its manifest would not be accepted in a new cluster"
	case Apply:
		return "its manifest cannot be applied"
	case Warning:
		return "its manifest draws a new warning"
	}
	switch {
	case answer == Changed:
		return "controllers acted without any write"
	case seen.outcome.Class == unserved:
		return "its kind is no longer served"
	}
	return "it was deleted without a request"
}

// advice says what to do about a finding that appeared on the given way.
func advice(check Check, class string, severity upgrades.Severity, way string) string {
	lost := check == Moved && gone(class)
	switch severity {
	case upgrades.Unjudged:
		return "fix the reason, and rehearse again"
	case upgrades.Before:
		return "it fails before any upgrade: fix it first, so that the upgrade can be judged"
	case upgrades.Changes:
		return ""
	}
	if way == upgrades.Back && (check != Moved || lost) {
		return "do not create such objects before you have ruled out a rollback, or change them before you roll back"
	}
	if lost {
		return "back these objects up before the upgrade, and find out what removes them"
	}
	switch check {
	case Condition:
		return "find the reason before you upgrade: whatever depends on this status may fail"
	case Moved:
		if way == upgrades.Back {
			return "expect this if you roll back: plan it like a rollout of all of these at once"
		}
		return "expect this during the upgrade: plan it like a rollout of all of these at once, or choose another patch " +
			"release of the target"
	case Keep:
		return "do not edit or label it after the upgrade before you know what it loses, or change it before the upgrade"
	case Read, Content:
		return "change or remove these objects before the upgrade"
	case Create:
		return "change the manifest before the upgrade: the stored object lives on, but a restore, or GitOps into a new " +
			"cluster, fails"
	case Apply:
		return "change the manifest before the upgrade: the next kubectl apply or GitOps sync fails"
	}
	return "change the object before the upgrade: afterwards such a write is rejected"
}
