package survey

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// standing is what an object has achieved according to its status. An upgrade must not take it away.
type standing struct {
	// conditions that are True.
	conditions []string
	// stuck is why it does not run: no node takes the Pod, or its Pods cannot be created.
	stuck string
	phase string
	// pods is how many pods a Job has or had. unfinished says that it will create more.
	pods       int64
	unfinished bool
	// counts of ready things, and addresses that others may use, by field.
	counts    map[string]int64
	addresses map[string]string
	// stored are versions in storedVersions of a CustomResourceDefinition that it no longer defines.
	stored []string
	// warnings are the type checking warnings about a policy's expressions.
	warnings []string
}

// ran reports whether a Job had created pods by the last look.
func (s standing) ran() bool { return s.pods > 0 }

// continues reports whether a Job creates pods one after another.
func (s standing) continues() bool { return s.ran() && s.unfinished }

// judgeStanding compares each object's status with its status when it was first seen.
func (s *Survey) judgeStanding(found *observation) {
	s.waiting = nil
	for _, t := range found.targets {
		o := found.object(t, "")
		if o == nil || o.GetDeletionTimestamp() != nil {
			continue
		}
		now := standingOf(o)
		before, known := s.standing[t.UID]
		switch {
		case !known && t.timed && s.state > 0: // its time came; no transition made it
			s.standing[t.UID] = now
		case !known:
			s.note(t, Condition, first(s, t, now))
		case t.timed, movesWithTime(t.root()), overdue(o):
		case s.moved(t.root()): // its pods are starting; the check "moved" reports that
		default:
			o := stands(before, now)
			s.note(t, Condition, o)
			if o.Answer == Good {
				before = before.with(now)
			}
		}
		if known {
			before.pods, before.unfinished = now.pods, now.unfinished
			s.standing[t.UID] = before
		}
	}
}

// with adds what the object has achieved since, and leaves out what was wrong and has ended. A count that was there
// already may grow, and shrink to what it was.
func (s standing) with(now standing) standing {
	s.conditions = slices.DeleteFunc(slices.Clone(s.conditions), func(condition string) bool {
		return bad(condition) && !slices.Contains(now.conditions, condition)
	})
	for _, condition := range now.conditions {
		if !slices.Contains(s.conditions, condition) {
			s.conditions = append(s.conditions, condition)
		}
	}
	counts, addresses := maps.Clone(now.counts), maps.Clone(now.addresses)
	for field, n := range s.counts {
		if n > 0 {
			counts[field] = n
		}
	}
	s.phase = now.phase
	maps.Copy(addresses, s.addresses)
	s.counts, s.addresses = counts, addresses
	if now.stuck == "" {
		s.stuck = ""
	}
	return s
}

// first is the outcome when an object is first seen. A new Pod of something that rolls out may wait for its place. What
// was created since the last state must run, and a recreated object must have something ready if it had before.
func first(s *Survey, t *Target, now standing) Outcome {
	before, anew := s.anew[t.root()]
	s.standing[t.UID] = now
	if s.state > 0 && !anew && t.GVK.Kind == "Pod" {
		if now.stuck != "" {
			s.waiting = append(s.waiting, waiting{t, now.stuck})
		}
		now.stuck = "" // if it still waits at the next state, that is reported
	}
	o := now.alone()
	if o.Answer != Good || t.Root != nil {
		return o
	}
	for _, field := range ready() {
		if was := before.counts[field]; was > 0 && now.counts[field] == 0 {
			return Outcome{Answer: Bad, Words: fmt.Sprintf("%s was %d before it was recreated, and is 0", field, was)}
		}
	}
	return o
}

// good reports whether True is the desired status of a condition type. It is not if the name says that something is
// wrong, or that work goes on, which ends in the normal course.
func good(kind string) bool {
	for _, word := range []string{
		"fail", "pressure", "unavailable", "terminating", "nonstructural", "stalled", "degraded",
		"disruption", "pending", "progressing", "reconciling", "suspended", "error",
		"inprogress", "issuing", "updating", "upgrading", "scalingup", "scalingdown", "rollingout", "deleting", "paused",
		"initializing", "creating", "evicted", "remediating", "migrating", "installing", "provisioning", "restarting",
		"restoring",
	} {
		if strings.Contains(strings.ToLower(kind), word) {
			return false
		}
	}
	return true
}

// bad reports whether a condition type must not become True.
func bad(kind string) bool {
	return slices.Contains([]string{
		"Failed", "FailureTarget", "ReplicaFailure", "NonStructuralSchema", "Stalled",
		"Degraded", "DisruptionTarget",
	}, kind)
}

func counted() []string {
	return append(ready(), "availableReplicas", "numberAvailable", "succeeded", "currentHealthy")
}

// ready are the counts of ready Pods.
func ready() []string { return []string{"readyReplicas", "numberReady"} }

func standingOf(o *unstructured.Unstructured) standing {
	now := standing{counts: map[string]int64{}, addresses: map[string]string{}}
	for _, condition := range conditionsOf(o) {
		if condition["status"] == "True" {
			now.conditions = append(now.conditions, fmt.Sprint(condition["type"]))
		}
	}
	now.stuck = whyStuck(o)
	now.phase, _, _ = unstructured.NestedString(o.Object, "status", "phase")
	for _, field := range counted() {
		if n, ok, _ := unstructured.NestedInt64(o.Object, "status", field); ok {
			now.counts[field] = n
		}
	}
	if ip, _, _ := unstructured.NestedString(o.Object, "status", "podIP"); ip != "" {
		now.addresses["podIP"] = ip
	}
	if ingress, _, _ := unstructured.NestedSlice(o.Object, "status", "loadBalancer", "ingress"); len(ingress) > 0 {
		now.addresses["loadBalancer"] = fmt.Sprint(ingress)
	}
	switch o.GetKind() {
	case "Job":
		now.pods = podsOfJob(o)
		have := number(o, "status", "active") + now.counts["succeeded"]
		now.unfinished = !ended(o) && have < numberOr(o, 1, "spec", "completions")
	case "EndpointSlice":
		now.counts["ready endpoints"] = readyEndpoints(o)
	case "CustomResourceDefinition":
		now.stored = storedAndGone(o)
	case "ValidatingAdmissionPolicy":
		warnings, _, _ := unstructured.NestedSlice(o.Object, "status", "typeChecking", "expressionWarnings")
		for _, warning := range warnings {
			if fields, ok := warning.(map[string]any); ok {
				now.warnings = append(now.warnings, fmt.Sprintf("%v: %v", fields["fieldRef"], fields["warning"]))
			}
		}
	}
	return now
}

func readyEndpoints(o *unstructured.Unstructured) int64 {
	endpoints, _, _ := unstructured.NestedSlice(o.Object, "endpoints")
	var n int64
	for _, endpoint := range endpoints {
		fields, _ := endpoint.(map[string]any)
		if ready, has, _ := unstructured.NestedBool(fields, "conditions", "ready"); ready || !has {
			n++
		}
	}
	return n
}

// storedAndGone are the versions in status.storedVersions that spec.versions lacks. Updates of the definition are
// rejected until the objects are migrated.
func storedAndGone(o *unstructured.Unstructured) []string {
	var has, gone []string
	versions, _, _ := unstructured.NestedSlice(o.Object, "spec", "versions")
	for _, version := range versions {
		if fields, ok := version.(map[string]any); ok {
			has = append(has, fmt.Sprint(fields["name"]))
		}
	}
	stored, _, _ := unstructured.NestedStringSlice(o.Object, "status", "storedVersions")
	for _, version := range stored {
		if !slices.Contains(has, version) {
			gone = append(gone, version)
		}
	}
	return gone
}

// alone is the outcome when an object is first seen, so that there is nothing to compare with. It must run: what an
// upgrade does to something that never ran is not known.
func (s standing) alone() Outcome {
	switch {
	case len(s.stored) > 0:
		return Outcome{Answer: Bad, Words: goneWords(s.stored)}
	case s.stuck != "":
		return s.doesNotRun()
	}
	return Outcome{Answer: Good}
}

// notRunning is the class of things that never ran.
const notRunning = "does not run"

func (s standing) doesNotRun() Outcome {
	return Outcome{Answer: Bad, Words: s.stuck, Class: notRunning}
}

func goneWords(versions []string) string {
	return fmt.Sprintf("status.storedVersions has %s, which spec.versions does not", strings.Join(versions, ", "))
}

// stands compares two states of an object. The outcome is Bad if it lost anything that it had achieved.
func stands(before, now standing) Outcome {
	lost := lossesBetween(before, now)
	var warnings []string
	for _, warning := range now.warnings {
		if !slices.Contains(before.warnings, warning) {
			warnings = append(warnings, "a new warning about its expressions: "+warning)
		}
	}
	switch {
	case len(lost.words) > 0:
		return Outcome{
			Answer: Bad, Words: strings.Join(append(lost.words, warnings...), "; "),
			Class: strings.Join(lost.class, " "),
		}
	case len(warnings) > 0:
		return Outcome{Answer: Changed, Words: strings.Join(warnings, "; ")}
	case before.stuck != "" && now.stuck != "":
		return now.doesNotRun()
	}
	return Outcome{Answer: Good}
}
