package survey

import (
	"fmt"

	"github.com/rehearse-dev/rehearse/reports/upgrades"
)

// kindOf names the kind that a series is about: "Deployment.apps", or "Pod of Deployment.apps" for what belongs to it.
func kindOf(s *Series) string {
	if root := s.Root.GVK.GroupKind(); s.Kind != root {
		return fmt.Sprintf("%s of %s", s.Kind, root)
	}
	return s.Kind.String()
}

// what is the sentence of a finding: that of its first check.
func what(s *Series, seen *sighting) string {
	answer := seen.outcome.Answer
	it, its := "it", "its"
	if s.Kind != s.Root.GVK.GroupKind() {
		it, its = "one of its "+plural(s.Kind.Kind), "their"
	}
	if answer == Unknown {
		return fmt.Sprintf("the check %q of %s could not be judged", s.Check, it)
	}
	if seen.severity == upgrades.Changes && answer == Good && s.Check != Warning {
		return "a write of " + it + " that was rejected is accepted"
	}
	switch s.Check {
	case Condition:
		if answer == Changed {
			return "what its status says is different"
		}
		return "what held of " + it + " does not hold any more"
	case Read:
		return it + " cannot be read"
	case Content:
		if answer == Changed {
			return "its content reads differently"
		}
		return "its content is not what it was"
	case Update:
		return "a write of " + it + " that changes nothing is rejected"
	case Label:
		return it + " cannot be labelled"
	case Keep:
		return "a write of " + it + " drops what the write does not mention"
	case Finalizer:
		return its + " finalizers cannot be removed"
	case Status:
		return its + " status cannot be written"
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
	if answer == Changed {
		return "controllers acted though nobody touched it"
	}
	return "it moved though nobody touched it"
}

// advice says what to do about a finding that came on that way.
func advice(check Check, severity upgrades.Severity, way string) string {
	switch severity {
	case upgrades.Unjudged:
		return "look at the reason, and rehearse again"
	case upgrades.Before:
		return "it is so before any upgrade: mend it first, so that it can be judged"
	case upgrades.Changes:
		return ""
	}
	if way == upgrades.Back && check != Moved {
		return "have no such objects until you are sure not to go back, or change them before you do"
	}
	switch check {
	case Condition:
		return "find out why before you upgrade: whoever relies on it is cut off"
	case Moved:
		return "expect this during the upgrade: plan it like a rollout of all of these at once, or choose another patch " +
			"release of the target"
	case Keep:
		return "after the upgrade do not edit or label it before you know what it loses; or change it before"
	case Read, Content:
		return "do not upgrade with these objects stored: change or remove them before"
	case Create:
		return "change the manifest before the upgrade: the stored object lives on, but a restore, or GitOps into a new " +
			"cluster, fails"
	case Apply:
		return "change the manifest before the upgrade: the next kubectl apply or GitOps sync fails"
	}
	return "change the object before the upgrade: afterwards it is stuck as it is"
}
