// Package survey finds out what becomes of objects at each state of a cluster: whether they read as before, whether
// they can be edited, deleted and created again, and whether anything moved while nobody touched it. It writes nothing
// but dry runs.
package survey

import (
	"context"
	"errors"
	"fmt"
	"net/http"
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

// Survey asks the same questions of the same objects at every state that its cluster comes to.
type Survey struct {
	client    dynamic.Interface
	discovery discovery.DiscoveryInterface
	history   *history.Recorder
	requests  atomic.Int64
	options   Options

	targets  []*Target
	baseline map[*Target]contents
	// standing is what held of each object, by uid, when it was first seen.
	standing map[string]standing
	// asked are the given objects that are sent dry runs; nil before it is known.
	asked map[*Target]bool
	// dependents says the same of what belongs to a given object, by its kind.
	dependents map[dependent]bool
	answers
}

// Options of a survey.
type Options struct {
	// Settle is for how long an untouched cluster is watched at each state, from when leaders have their leases.
	Settle time.Duration
	// Sample is how many given objects of one kind and shape are sent dry runs. Default: all. Everything is read in any
	// case.
	Sample int
	// Dependents are how many given objects of one kind have what belongs to them sent dry runs, by the kind of the
	// latter. Default: all.
	Dependents map[schema.GroupKind]int
	// Except are checks that are left out.
	Except []Check
	// Progress hears of long work. May be nil.
	Progress clusters.Progress
}

// New returns a survey of a cluster.
func New(config *rest.Config, options Options) (*Survey, error) {
	if options.Progress == nil {
		options.Progress = func(string, ...any) {}
	}
	s := &Survey{
		options: options, baseline: map[*Target]contents{}, standing: map[string]standing{},
		answers: answers{series: map[key]*Series{}, except: options.Except, state: -1},
	}
	counted := writes.Configure(config, "rehearse-upgrade")
	counted.Wrap(func(next http.RoundTripper) http.RoundTripper { return counter{next, &s.requests} })
	var err1, err2, err3 error
	s.client, err1 = dynamic.NewForConfig(counted)
	s.discovery, err2 = discovery.NewDiscoveryClientForConfig(counted)
	s.history, err3 = history.New(writes.Configure(config, "rehearse-upgrade"))
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, fmt.Errorf("make a client for the survey: %w", err)
	}
	for _, resource := range movers() {
		s.history.Stream(resource)
	}
	return s, nil
}

// Close ends the watches.
func (s *Survey) Close() { s.history.Close() }

// Requests is how many the survey has sent, watches apart.
func (s *Survey) Requests() int64 { return s.requests.Load() }

// Add puts objects that were created under survey.
func (s *Survey) Add(objects ...Created) {
	for _, o := range objects {
		s.targets = append(s.targets, &Target{
			Given: o.Object, GVK: o.Object.GVK(), Namespace: o.Namespace,
			Name: o.Object.Content.GetName(), UID: o.UID,
		})
	}
}

// Replace puts objects that were deleted and created anew under survey again: what there is to see of them is compared
// with what they are at the next state. The gone ones that are not among the created are not asked about any more.
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
		delete(s.standing, t.UID)
		delete(s.baseline, t)
		t.UID = anew[t.Given].UID
	}
}

// Created is an object that the cluster has accepted.
type Created struct {
	Object *manifests.Object
	// Namespace that it is in; "" for one that is cluster-scoped.
	Namespace string
	UID       string
}

// Begin watches what moves from now on: it comes before a transition. Before the first one it returns when nothing
// moves any more.
func (s *Survey) Begin(ctx context.Context) (Mark, error) {
	found, err := s.look(ctx)
	if err != nil {
		return Mark{}, err
	}
	if err := s.caughtUp(ctx); err != nil {
		return Mark{}, err
	}
	return s.markOf(ctx, found)
}

// At surveys the state that the cluster has come to since the mark, and returns when it has been watched for the time
// to settle. That time begins when all leaders have renewed their leases, or others have taken them over. The new mark
// is of that moment: the next transition can be judged from it when nothing is written before.
// The error is of what kept the state from being surveyed; what could not be judged of an object is in its series.
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
	settled := time.NewTimer(s.options.Settle)
	defer settled.Stop()
	found, err := s.look(ctx)
	if err != nil {
		return Mark{}, err
	}
	s.judgeReading(found)
	s.probeAll(ctx, found)
	select {
	case <-settled.C:
	case <-ctx.Done():
		return Mark{}, context.Cause(ctx)
	}
	if found, err = s.look(ctx); err != nil {
		return Mark{}, err
	}
	s.judgeContents(found)
	s.judgeMoves(ctx, since, found)
	s.judgeStanding(found)
	return s.markOf(ctx, found)
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
