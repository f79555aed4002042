// Package survey checks objects at each state of a cluster: whether they are unchanged, whether they can be edited,
// deleted and created again, and whether anything happened to them without a user action. It writes dry runs only.
package survey

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/harness/manifests"
	"github.com/rehearse-dev/rehearse/harness/writes"
)

// Survey runs the same checks on the same objects at every state of its cluster.
type Survey struct {
	client    dynamic.Interface
	discovery discovery.DiscoveryInterface
	history   *history.Recorder
	requests  atomic.Int64
	options   Options

	targets  []*Target
	baseline map[*Target]contents
	// former is the first baseline of an object that was recreated.
	former map[*Target]contents
	// standing is the standing of each object, by uid, when it was first seen.
	standing map[string]standing
	// anew are the given objects that were created or recreated since the last state, with their earlier standing.
	anew map[*Target]standing
	// made are the dependents that were there at the last look, or that it could not list.
	made []*Target
	// had are the subresources that objects had, by uid.
	had map[string]subresources
	// asked says for which given objects dry runs are sent; nil before they are chosen.
	asked map[*Target]bool
	// dependents says the same about dependents, by given object and kind.
	dependents map[dependent]bool
	answers
}

// Options of a survey.
type Options struct {
	// Settle is how long the untouched cluster is watched at each state, after leaders have their leases and controllers
	// work.
	Settle time.Duration
	// Sample is the maximum number of given objects of one kind and shape that get dry runs. Default: all. All objects
	// are still read.
	Sample int
	// Dependents maps a kind of dependents to the maximum number of given objects of one kind whose dependents get dry
	// runs. Default: all.
	Dependents map[schema.GroupKind]int
	// Elsewhere reports whether another shard surveys the object with a uid. What belongs to it is surveyed there, too.
	// May be nil.
	Elsewhere func(uid string) bool
	// Writes reduces what is read after a restart of the API server (history.WithWrites). May be nil.
	Writes history.Writes
	// Except are checks to skip.
	Except []Check
	// Progress is called during long work. May be nil.
	Progress clusters.Progress
}

// New returns a survey of a cluster.
func New(config *rest.Config, options Options) (*Survey, error) {
	if options.Progress == nil {
		options.Progress = func(string, ...any) {}
	}
	s := &Survey{
		options: options, baseline: map[*Target]contents{}, standing: map[string]standing{}, had: map[string]subresources{},
		anew: map[*Target]standing{}, former: map[*Target]contents{},
		answers: answers{series: map[key]*Series{}, except: options.Except, state: -1},
	}
	counted := writes.Configure(config, "rehearse-upgrade")
	counted.Wrap(func(next http.RoundTripper) http.RoundTripper { return counter{next, &s.requests} })
	var err1, err2, err3 error
	s.client, err1 = dynamic.NewForConfig(counted)
	s.discovery, err2 = discovery.NewDiscoveryClientForConfig(counted)
	s.history, err3 = history.New(writes.Configure(config, "rehearse-upgrade"), history.WithWrites(options.Writes))
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, fmt.Errorf("make a client for the survey: %w", err)
	}
	for _, resource := range movers() {
		s.history.Stream(resource)
	}
	return s, nil
}

// Close stops the watches.
func (s *Survey) Close() { s.history.Close() }

// Pause ends the watches of surveys until resume is called. Use it to replace the API server's storage
// (history.Recorder.Pause).
func Pause(ctx context.Context, surveys []*Survey) (resume func(), err error) {
	paused := 0
	resume = func() {
		for _, s := range surveys[:paused] {
			s.history.Resume()
		}
	}
	for _, s := range surveys {
		if err := s.history.Pause(ctx); err != nil {
			resume()
			return nil, err
		}
		paused++
	}
	return resume, nil
}

// Requests is the number of requests that the survey has sent, without watches.
func (s *Survey) Requests() int64 { return s.requests.Load() }

// Add adds created objects to the survey.
func (s *Survey) Add(objects ...Created) {
	for _, o := range objects {
		t := &Target{
			Given: o.Object, GVK: o.Object.GVK(), Namespace: o.Namespace,
			Name: o.Object.Content.GetName(), UID: o.UID,
		}
		s.targets = append(s.targets, t)
		s.anew[t] = standing{}
	}
}

// Replace registers that objects were deleted and created again. Their content and status at the next state are the new
// baseline. Deleted objects that were not created again are no longer checked.
func (s *Survey) Replace(gone []*manifests.Object, created ...Created) {
	anew := make(map[*manifests.Object]Created, len(created))
	for _, o := range created {
		anew[o.Object] = o
	}
	left := make(map[*manifests.Object]bool, len(gone))
	for _, o := range gone {
		left[o] = true
	}
	for _, t := range s.targets {
		if !left[t.Given] {
			continue
		}
		uid := anew[t.Given].UID
		delete(s.anew, t)
		if uid != "" {
			s.anew[t] = s.standing[t.UID]
		}
		delete(s.standing, t.UID)
		if s.former[t] == nil {
			s.former[t] = s.baseline[t]
		}
		delete(s.baseline, t)
		s.had[uid] = s.had[t.UID]
		t.UID = uid
	}
	s.made = slices.DeleteFunc(s.made, func(t *Target) bool { return left[t.Root.Given] })
}

// Created is an object that the cluster has accepted.
type Created struct {
	Object *manifests.Object
	// Namespace of the object; "" if it is cluster-scoped.
	Namespace string
	UID       string
}

// Begin returns the mark of now. Call it before a transition: At reports what happens after the mark.
func (s *Survey) Begin(ctx context.Context) (Mark, error) {
	controllers := workingControllers(ctx, s.client)
	looked := s.history.Seq()
	found, err := s.look(ctx)
	if err != nil {
		return Mark{}, err
	}
	if err := s.caughtUp(ctx); err != nil {
		return Mark{}, err
	}
	return s.markOf(ctx, s.history.Seq(), looked, found, Mark{controllers: controllers})
}

// At surveys the state that the cluster has reached since the mark. It returns when the cluster has been watched for
// Options.Settle. That time begins when all leaders have renewed their leases, or others have taken them over, and
// when the controllers of workloads have handled a new object. The new mark is of the end of that time; use it for the
// next transition if nothing is written before.
// An error means that the state could not be surveyed. A check that could not be judged is in its series instead.
func (s *Survey) At(ctx context.Context, since Mark) (Mark, error) {
	s.state++
	mark, err := s.at(ctx, since)
	if err != nil {
		s.forget()
	}
	return mark, err
}

func (s *Survey) at(ctx context.Context, since Mark) (Mark, error) {
	if err := awaitLeaders(ctx, s.leases, since); err != nil {
		return Mark{}, err
	}
	early := awaitControllers(ctx, s.client, since)
	settled := time.NewTimer(s.options.Settle)
	defer settled.Stop()
	found, err := s.look(ctx)
	if err != nil {
		return Mark{}, err
	}
	found.recheck(ctx, s.client)
	s.judgeReading(found)
	s.probeAll(ctx, found)
	select {
	case <-settled.C:
	case <-ctx.Done():
		return Mark{}, context.Cause(ctx)
	}
	looked := s.history.Seq()
	if found, err = s.look(ctx); err != nil {
		return Mark{}, err
	}
	found.early = early
	s.judgeContents(found)
	upTo := s.judgeMoves(ctx, since, found)
	s.judgeStanding(found)
	clear(s.anew)
	return s.markOf(ctx, upTo, looked, found, since)
}

// counter counts requests.
type counter struct {
	next  http.RoundTripper
	count *atomic.Int64
}

func (c counter) RoundTrip(request *http.Request) (*http.Response, error) {
	c.count.Add(1)
	return c.next.RoundTrip(request)
}
