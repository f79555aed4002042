package assertions

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// progress is how far the rollout of an object is.
type progress struct {
	// has says what is done, lacks what is missing. Nothing is missing if the object is rolled out.
	has, lacks []string
	// unknown: nothing in the object shows its progress.
	unknown bool
}

func (p *progress) done() bool { return len(p.lacks) == 0 && !p.unknown }

func (p *progress) lack(is bool, format string, args ...any) {
	if is {
		p.lacks = append(p.lacks, fmt.Sprintf(format, args...))
	}
}

// of notes that n of the wanted number are done.
func (p *progress) of(n, wanted int64, what string) {
	text := fmt.Sprintf("%d of %d %s", n, wanted, what)
	if n < wanted {
		p.lacks = append(p.lacks, text)
		return
	}
	p.has = append(p.has, text)
}

// progressOf judges as "kubectl rollout status" does, by rules for a few more kinds, and all others by their
// conditions.
func progressOf(object *unstructured.Unstructured) *progress {
	p := &progress{}
	stale := staleStatus(object)
	switch rules := rolloutOf(object.GroupVersionKind()); {
	case object.GetDeletionTimestamp() != nil:
		p.lack(true, "it is being deleted")
	case stale != "":
		p.lack(true, "%s", stale)
	case rules != nil:
		rules(object, p)
	default:
		byConditions(object, p)
	}
	return p
}

// rolloutOf returns the rules of a kind that is judged by more than its conditions; nil if it has none.
func rolloutOf(gvk schema.GroupVersionKind) func(*unstructured.Unstructured, *progress) {
	switch gvk.Group + "/" + gvk.Kind {
	case "apps/Deployment":
		return deployment
	case "apps/StatefulSet":
		return statefulSet
	case "apps/DaemonSet":
		return daemonSet
	case "apps/ReplicaSet", "/ReplicationController":
		return replicaSet
	case "batch/Job":
		return job
	}
	return nil
}

func deployment(object *unstructured.Unstructured, p *progress) {
	want, updated, total := replicas(object), number(object, "status", "updatedReplicas"), number(object, "status",
		"replicas")
	p.of(updated, want, "updated")
	p.lack(total > updated, "%d old ones left", total-updated)
	p.lack(updated > want, "%d to be removed", updated-want)
	readiness(object, want, p)
	if progressing := conditionOf(object, "Progressing"); progressing["reason"] == "ProgressDeadlineExceeded" {
		p.lack(true, "it exceeded its progress deadline: %v", progressing["message"])
	}
	paused, _, err := unstructured.NestedBool(object.Object, "spec", "paused")
	p.lack(err == nil && paused && len(p.lacks) > 0, "it is paused")
	failures(object, p)
}

func statefulSet(object *unstructured.Unstructured, p *progress) {
	want, updated, total := replicas(object), number(object, "status", "updatedReplicas"), number(object, "status",
		"replicas")
	strategy, _, err := unstructured.NestedString(object.Object, "spec", "updateStrategy", "type")
	partition := number(object, "spec", "updateStrategy", "rollingUpdate", "partition")
	switch {
	case err == nil && strategy == "OnDelete":
		p.of(updated, want, "updated (OnDelete: by deleting the old pods)")
	case partition > 0:
		p.of(updated, max(0, want-partition), fmt.Sprintf("updated (partition %d)", partition))
	default:
		p.of(updated, want, "updated")
	}
	p.lack(total > want, "%d to be removed", total-want)
	readiness(object, want, p)
}

func daemonSet(object *unstructured.Unstructured, p *progress) {
	want := number(object, "status", "desiredNumberScheduled")
	p.lack(want == 0, "no node accepts its pods")
	p.of(number(object, "status", "updatedNumberScheduled"), want, "updated")
	available(number(object, "status", "numberReady"), number(object, "status", "numberAvailable"), want, p)
}

func replicaSet(object *unstructured.Unstructured, p *progress) {
	want, total := replicas(object), number(object, "status", "replicas")
	p.lack(total > want, "%d to be removed", total-want)
	readiness(object, want, p)
	failures(object, p)
}

func job(object *unstructured.Unstructured, p *progress) {
	want := int64(1)
	if completions, found, err := unstructured.NestedInt64(object.Object, "spec", "completions"); err == nil && found {
		want = completions
	}
	succeeded, failed := number(object, "status", "succeeded"), number(object, "status", "failed")
	if conditionOf(object, "Complete")["status"] == "True" {
		p.has = append(p.has, fmt.Sprintf("complete, %d succeeded", succeeded))
		return
	}
	p.lack(true, "%d of %d succeeded", succeeded, want)
	p.lack(failed > 0, "%d failed", failed)
	for _, kind := range []string{"Failed", "Suspended"} {
		if c := conditionOf(object, kind); c["status"] == "True" {
			p.lack(true, "%s", said(c))
		}
	}
}

func readiness(object *unstructured.Unstructured, want int64, p *progress) {
	available(number(object, "status", "readyReplicas"), number(object, "status", "availableReplicas"), want, p)
}

// available counts the ready replicas, and among them those that have been ready for minReadySeconds.
func available(ready, available, want int64, p *progress) {
	p.of(ready, want, "ready")
	if ready >= want {
		p.of(available, want, "available")
	}
}

// failures reports why pods could not be created.
func failures(object *unstructured.Unstructured, p *progress) {
	if c := conditionOf(object, "ReplicaFailure"); c["status"] == "True" {
		p.lack(true, "%s", said(c))
	}
}

// byConditions judges by the usual conditions: Ready, Available or Reconciling must say that all is done, and none
// may say that it is not.
func byConditions(object *unstructured.Unstructured, p *progress) {
	stale := staleConditions(object)
	p.unknown = true
	for _, kind := range []string{"Ready", "Available", "Reconciling", "Progressing", "Stalled"} {
		c := conditionOf(object, kind)
		if c == nil {
			continue
		}
		wanted := "True"
		if !slices.Contains([]string{"Ready", "Available"}, kind) {
			wanted = "False"
		}
		p.unknown = p.unknown && slices.Contains([]string{"Progressing", "Stalled"}, kind)
		switch {
		case stale[kind] != "":
			p.lack(true, "%s", stale[kind])
		// A Deployment reports NewReplicaSetAvailable when it is done.
		case c["status"] == wanted, kind == "Progressing" && c["reason"] == "NewReplicaSetAvailable":
			p.has = append(p.has, fmt.Sprintf("%s is %v", kind, c["status"]))
		default:
			p.lack(true, "%s", said(c))
		}
	}
	p.lack(p.unknown, "it has none of the conditions Ready, Available and Reconciling")
}

func conditionOf(object *unstructured.Unstructured, kind string) map[string]any {
	for _, c := range conditionsOf(object) {
		if c["type"] == kind {
			return c
		}
	}
	return nil
}

// said describes a condition: Ready is False (NoQuota: nothing left).
func said(c map[string]any) string {
	var why []string
	for _, field := range []string{"reason", "message"} {
		if text, ok := c[field].(string); ok && text != "" {
			why = append(why, text)
		}
	}
	text := fmt.Sprintf("%v is %v", c["type"], c["status"])
	if len(why) > 0 {
		text += " (" + strings.Join(why, ": ") + ")"
	}
	return text
}

// replicas returns the wanted replicas, 1 by default.
func replicas(object *unstructured.Unstructured) int64 {
	if n, found, err := unstructured.NestedInt64(object.Object, "spec", "replicas"); err == nil && found {
		return n
	}
	return 1
}

// number returns the number in a field, 0 if it is absent.
func number(object *unstructured.Unstructured, path ...string) int64 {
	n, _, err := unstructured.NestedInt64(object.Object, path...)
	if err != nil {
		return 0
	}
	return n
}
