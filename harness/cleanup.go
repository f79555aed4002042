package harness

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/rehearse-dev/rehearse/harness/writes"
	"github.com/rehearse-dev/rehearse/reports"
)

// cleanUp removes what the scenario made, in the reverse order, and waits until it is gone. What would not go is an error of the scenario, in a step of
// its own, which names what keeps it: a scenario that leaves something behind has not passed.
//
// Objects outside of the scenario's namespace are always awaited, since they are in the way of others. The namespace itself is awaited only
// while other scenarios run on the cluster, or when the cluster is somebody else's: a cluster of ours is deleted with all that is in it.
// Nothing is removed from a cluster that is kept, nor from one of ours when the run was interrupted or the cluster broke, be it as expected.
func (s *scenarioRun) cleanUp(ctx context.Context) {
	_, borrowed := borrowedFrom(s.provider)
	if s.Keep || (!borrowed && (ctx.Err() != nil || s.wreck() != nil)) {
		return
	}
	ctx = context.WithoutCancel(ctx)
	var err error
	for again := true; again; {
		crossings := s.barrier.crossings()
		err = s.removeMade(ctx, borrowed)
		// While others take the cluster through a transition nothing may be removable.
		again = err != nil && s.barrier.settle(ctx, crossings)
	}
	if err != nil {
		step := &reports.Step{Name: "remove what the scenario made", Verb: reports.Cleanup}
		s.Recorder.StartStep(s.entry.result, step, s.track.Path[s.at].String())
		s.Recorder.FinishStep(s.entry.result, step, reports.Outcome{Status: reports.Error, Message: err.Error()})
	}
}

func (s *scenarioRun) removeMade(ctx context.Context, borrowed bool) error {
	ctx, cancel := context.WithTimeout(ctx, s.CleanupTimeout)
	defer cancel()
	namespace, others := s.divide()
	problems := s.removeAll(ctx, others)
	if namespace != nil {
		problems = append(problems, s.removeNamespace(ctx, *namespace, borrowed))
	}
	return errors.Join(problems...)
}

// divide takes the scenario's namespace out of what was made; what is in it goes with it.
func (s *scenarioRun) divide() (namespace *writes.Made, others []writes.Made) {
	for _, made := range s.made {
		switch {
		case made.Resource == namespaces && made.Name == s.namespace:
			namespace = &made
		case made.Namespaced && made.Namespace == s.namespace:
		default:
			others = append(others, made)
		}
	}
	slices.Reverse(others)
	return namespace, others
}

func (s *scenarioRun) removeAll(ctx context.Context, all []writes.Made) []error {
	problems := make([]error, len(all))
	var removing sync.WaitGroup
	for i, made := range all {
		removing.Go(func() { problems[i] = writes.Remove(ctx, s.client, made) })
	}
	removing.Wait()
	return problems
}

// removeNamespace deletes the namespace. When the cluster is deleted anyway, nobody waits for it once the last scenario has ended.
func (s *scenarioRun) removeNamespace(ctx context.Context, namespace writes.Made, borrowed bool) error {
	if borrowed {
		return writes.Remove(ctx, s.client, namespace)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-s.quiet:
			cancel()
		case <-ctx.Done():
		}
	}()
	err := writes.Remove(ctx, s.client, namespace)
	select {
	case <-s.quiet:
		return nil
	default:
		return err
	}
}
