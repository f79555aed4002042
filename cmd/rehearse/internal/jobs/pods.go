package jobs

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/api/core/v1"
)

// activity is what a Job does.
type activity string

const (
	finished activity = "finished"
	working  activity = "working" // a pod runs, or has run since the last look
	idle     activity = "idle"
)

// stalledError says that no pod of the Job could run.
type stalledError struct {
	job, namespace string
	timeout        time.Duration
}

func (e *stalledError) Error() string {
	return fmt.Sprintf("no pod of the Job %s in namespace %s has run for %v (--timeout); with --keep, the Job remains, "+
		"and kubectl describe shows its events", e.job, e.namespace, e.timeout)
}

// note records and shows why an attempt at a shard may have no report: its pod does not start or failed, or the report
// is broken. "" says that nothing is in its way. Each look finds the same again, so each is noted once.
func (g *gathering) note(index int, pod, why string) {
	text := "pod " + pod + ": " + why
	g.mu.Lock()
	fresh := !g.noted[text]
	if fresh {
		g.noted[text], g.trouble[index] = true, ""
		if why != "" {
			g.trouble[index] = text
		}
	}
	g.mu.Unlock()
	if fresh && why != "" {
		g.say(index, text)
	}
}

// whyNot returns why a pod has not started, or why it failed; "" if there is no reason.
func whyNot(pod *v1.Pod) string {
	if isLost(pod) {
		return fmt.Sprintf("node %s does not confirm that the pod has ended; if the node is lost, kubectl delete node %s "+
			"lets the Job retry the shard", pod.Spec.NodeName, pod.Spec.NodeName)
	}
	for i, c := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if t := c.State.Terminated; t != nil && t.ExitCode != 0 {
			why := strings.TrimSpace(fmt.Sprintf("%s (exit code %d) %s", t.Reason, t.ExitCode, t.Message))
			if i < len(pod.Status.InitContainerStatuses) {
				why = c.Name + ": " + why
			}
			return why
		}
		if w := c.State.Waiting; w != nil && w.Message != "" {
			return w.Reason + ": " + w.Message
		}
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == v1.PodScheduled && c.Status == v1.ConditionFalse || c.Type == v1.DisruptionTarget {
			return c.Reason + ": " + c.Message
		}
	}
	return ""
}

// isLost reports whether a node does not delete a pod. A pod's deletion time includes its grace period.
func isLost(pod *v1.Pod) bool {
	ended := pod.Status.Phase == v1.PodSucceeded || pod.Status.Phase == v1.PodFailed
	return !ended && pod.Spec.NodeName != "" && pod.DeletionTimestamp != nil &&
		time.Since(pod.DeletionTimestamp.Time) > time.Minute
}

func started(pod *v1.Pod) bool {
	for _, c := range pod.Status.ContainerStatuses {
		if c.State.Running != nil || c.State.Terminated != nil {
			return true
		}
	}
	return false
}

// isRunning reports whether a container of a pod runs. A pod that is being deleted does not count: the pod of a lost
// node remains in this state, and still seems to run.
func isRunning(pod *v1.Pod) bool {
	return pod.DeletionTimestamp == nil && slices.ContainsFunc(
		slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses),
		func(c v1.ContainerStatus) bool { return c.State.Running != nil })
}
