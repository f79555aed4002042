package harness

import (
	"context"
	"fmt"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness/writes"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// notBrokenError says that a cluster reached a state although it was expected to break.
type notBrokenError struct {
	state  clusters.State
	wanted *scenarios.Broken
}

func (e *notBrokenError) Error() string {
	return fmt.Sprintf("wanted %s to break, with a message that %s; the cluster is now %s, but nothing is broken",
		e.wanted.Culprit(), writes.Describe(*e.wanted.Message), e.state)
}

// asBroken judges a transition that is expected to break a component. It returns what broke if that is the expected
// component, with the expected message, and nothing else broke. Any other result is an error; if the state was
// reached, it is a *notBrokenError.
func asBroken(ctx context.Context, wanted *scenarios.Broken, state clusters.State, err error) (*clusters.BrokenError,
	error,
) {
	if err == nil {
		return nil, &notBrokenError{state, wanted}
	}
	if ctx.Err() != nil {
		return nil, err
	}
	broken, other := clusters.Breakage(err)
	var found *clusters.BrokenError
	unlike := fmt.Sprintf("%s is not what broke", wanted.Culprit())
	for _, b := range broken {
		if b.Component != wanted.Culprit() {
			other = append(other, b)
			continue
		}
		difference := writes.Unlike(*wanted.Message, b.Words)
		if difference == "" {
			found = b
			continue
		}
		unlike = fmt.Sprintf("what %s says %s", wanted.Culprit(), difference)
	}
	switch {
	case found == nil:
		return nil, fmt.Errorf("%w\nexpected a different failure: %s", err, unlike)
	case len(other) > 0:
		return nil, fmt.Errorf("%w\nwanted %s to break, and no other", err, wanted.Culprit())
	}
	return found, nil
}

// wreck returns what the last transition broke, as expected; nil otherwise.
func (c *transitions) wreck() *clusters.BrokenError { return c.wrecked.Load() }

// forgetDeaths drops the reported deaths of components and systems, in a cluster that was expected to break.
func (c *transitions) forgetDeaths() {
	for {
		select {
		case death := <-c.run.componentDied():
			c.run.Progress("died while the cluster was broken, as expected: %v", death)
		case death := <-c.run.systemDied():
			c.run.Progress("died while the cluster was broken, as expected: %v", death)
		default:
			return
		}
	}
}
