package jobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// defaultPatience is how long the API server may be unavailable.
const defaultPatience = 2 * time.Minute

// gathering follows the pods of a Job, shows their output, and saves the reports in it at once: a pod and its log may
// be deleted at any time.
type gathering struct {
	client         kubernetes.Interface
	namespace, job string
	of             int
	out            io.Writer
	dir            string
	interval       time.Duration
	// patience is how long the API server may be unavailable, and the log of a pod that has ended.
	patience time.Duration

	mu sync.Mutex
	// reports are those of the shards, by index. trouble is why the last attempt left none, and unread why a log could
	// not be read.
	reports         map[int]attempt
	trouble, unread map[int]string
	// shown are all troubles that were shown.
	shown map[int][]string
	// over says that the Job has ended.
	over      bool
	followed  map[types.UID]bool
	followers sync.WaitGroup
}

// attempt is the report folder of an attempt at a shard, and when the attempt ended.
type attempt struct {
	folder   string
	finished time.Time
}

// wait returns when the Job has ended and the logs of its pods have been read.
func (g *gathering) wait(ctx context.Context) error {
	g.reports, g.trouble, g.unread = map[int]attempt{}, map[int]string{}, map[int]string{}
	g.shown = map[int][]string{}
	g.followed = map[types.UID]bool{}
	ctx, cancel := context.WithCancel(ctx)
	defer g.followers.Wait()
	defer cancel()
	answered := time.Now()
	for {
		ended, err := g.look(ctx)
		switch {
		case err == nil && ended:
			g.mu.Lock()
			g.over = true
			g.mu.Unlock()
			g.followers.Wait()
			return ctx.Err()
		case err == nil:
			answered = time.Now()
		case apierrors.IsNotFound(err):
			return fmt.Errorf("the Job %s was deleted before it ended", g.job)
		case ctx.Err() == nil && time.Since(answered) > g.patience:
			return fmt.Errorf("the cluster has not answered for %v: %w", g.patience, err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(g.interval):
		}
	}
}

// look follows pods that have started since the last look, and reports whether the Job has ended.
func (g *gathering) look(ctx context.Context) (bool, error) {
	// The Job is read first: if it has ended, the list contains all its pods.
	job, err := g.client.BatchV1().Jobs(g.namespace).Get(ctx, g.job, metav1.GetOptions{})
	if err != nil {
		return false, err
	}
	pods, err := g.client.CoreV1().Pods(g.namespace).List(ctx, metav1.ListOptions{
		LabelSelector: batchv1.JobNameLabel + "=" + g.job,
	})
	if err != nil {
		return false, err
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		index, err := strconv.Atoi(pod.Labels[batchv1.JobCompletionIndexAnnotation])
		if err != nil || !metav1.IsControlledBy(pod, job) {
			continue
		}
		g.note(index, pod)
		if !g.followed[pod.UID] && started(pod) {
			g.followed[pod.UID] = true
			g.followers.Go(func() { g.follow(ctx, index, pod.Name, pod.UID) })
		}
	}
	for _, c := range job.Status.Conditions {
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == v1.ConditionTrue {
			return true, nil
		}
	}
	return false, nil
}

// note records and shows why a pod does not start, or failed.
func (g *gathering) note(index int, pod *v1.Pod) {
	why := whyNot(pod)
	if why == "" {
		return
	}
	g.broken(index, pod.Name, errors.New(why))
}

// whyNot returns why a pod has not started, or why it failed; "" if there is no reason.
func whyNot(pod *v1.Pod) string {
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

func started(pod *v1.Pod) bool {
	for _, c := range pod.Status.ContainerStatuses {
		if c.State.Running != nil || c.State.Terminated != nil {
			return true
		}
	}
	return false
}

// say prints a line of a shard.
func (g *gathering) say(index int, line string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	fmt.Fprintf(g.out, "[%d/%d] %s\n", index+1, g.of, line)
}
