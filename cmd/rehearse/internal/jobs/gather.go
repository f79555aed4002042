package jobs

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/rehearse-dev/rehearse/clusters/pauses"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/pastruns"
	"github.com/rehearse-dev/rehearse/reports/terminal"
)

// defaultPatience is how long the API server may be unavailable, and defaultLinger how long a pod may outlast its Job:
// more than its grace period.
const (
	defaultPatience = 2 * time.Minute
	defaultLinger   = 2 * time.Minute
)

// gathering follows the pods of a Job, shows their output, and saves the reports in it at once: a pod and its log may
// be deleted at any time.
type gathering struct {
	client         kubernetes.Interface
	namespace, job string
	uid            types.UID // of the Job
	of             int
	out            io.Writer
	dir            string
	interval       time.Duration
	// patience is how long the API server may be unavailable, and the log of a pod that has ended.
	patience time.Duration
	// linger is how long a pod may seem to run after the end of the Job, because its node may not report its end; 0: for
	// any time. lingered ends then.
	linger   time.Duration
	lingered context.Context //nolint:containedctx // an event, not the context of a call
	// timeout is how long the Job may be without a running pod; 0: for any time.
	timeout time.Duration

	mu sync.Mutex
	// reports are those of the shards, by index. trouble is why the last attempt left none, and unread why a log could
	// not be read.
	reports         map[int]attempt
	trouble, unread map[int]string
	// noted is what was said about the pods.
	noted map[string]bool
	// over says that the Job has ended.
	over      bool
	followed  map[types.UID]bool
	followers sync.WaitGroup
}

// attempt is the report folder of the attempt at a shard that counts so far, and the head of the report.
type attempt struct {
	folder string
	head   *pastruns.Head
}

// wait returns when the Job has ended and the logs of its pods have been read. It returns a *stalledError if no pod
// has run for the timeout.
func (g *gathering) wait(ctx context.Context) error {
	g.reports, g.trouble, g.unread = map[int]attempt{}, map[int]string{}, map[int]string{}
	g.followed, g.noted = map[types.UID]bool{}, map[string]bool{}
	lingered, outlast := context.WithCancel(context.WithoutCancel(ctx))
	defer outlast()
	g.lingered = lingered
	reading, stop := context.WithCancel(ctx)
	defer g.followers.Wait()
	defer stop()
	answered := time.Now()
	worked := answered
	for {
		now, err := g.look(reading)
		switch {
		case err == nil && now == finished:
			g.finish(outlast)
			return ctx.Err()
		case err == nil:
			answered = time.Now()
			if now == working {
				worked = answered
			} else if g.timeout > 0 && answered.Sub(worked) >= g.timeout {
				return &stalledError{job: g.job, namespace: g.namespace, timeout: g.timeout}
			}
		case apierrors.IsNotFound(err):
			return fmt.Errorf("the Job %s was deleted before it ended", g.job)
		case ctx.Err() == nil && time.Since(answered) > g.patience:
			return fmt.Errorf("the cluster has not answered for %v: %w", g.patience, err)
		}
		if !pauses.For(ctx, g.interval) {
			return ctx.Err()
		}
	}
}

// finish waits until the logs have been read. It stops reading those of pods that do not end after the Job.
func (g *gathering) finish(outlast context.CancelFunc) {
	g.mu.Lock()
	g.over = true
	g.mu.Unlock()
	if g.linger > 0 {
		defer time.AfterFunc(g.linger, outlast).Stop()
	}
	g.followers.Wait()
}

// look follows pods that have started since the last look, and returns what the Job does.
func (g *gathering) look(ctx context.Context) (activity, error) {
	// The Job is read first: if it has ended, the list contains all its pods.
	job, err := g.client.BatchV1().Jobs(g.namespace).Get(ctx, g.job, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	if job.UID != g.uid { // somebody else's, in the place of ours
		return "", apierrors.NewNotFound(batchv1.Resource("jobs"), g.job)
	}
	pods, err := g.client.CoreV1().Pods(g.namespace).List(ctx, metav1.ListOptions{
		LabelSelector: batchv1.JobNameLabel + "=" + g.job,
	})
	if err != nil {
		return "", err
	}
	now := idle
	for i := range pods.Items {
		pod := &pods.Items[i]
		index, err := strconv.Atoi(pod.Labels[batchv1.JobCompletionIndexAnnotation])
		if err != nil || !metav1.IsControlledBy(pod, job) {
			continue
		}
		g.note(index, pod.Name, whyNot(pod))
		if isRunning(pod) {
			now = working
		}
		if !g.followed[pod.UID] && started(pod) {
			g.followed[pod.UID], now = true, working
			g.followers.Go(func() { g.follow(ctx, index, pod.Name, pod.UID) })
		}
	}
	for _, c := range job.Status.Conditions {
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == v1.ConditionTrue {
			return finished, nil
		}
	}
	return now, nil
}

// say prints a line of a shard.
func (g *gathering) say(index int, line string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	fmt.Fprintf(g.out, "[%d/%d] %s\n", index+1, g.of, terminal.Clean(line))
}
