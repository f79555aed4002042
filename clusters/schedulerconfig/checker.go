// Package schedulerconfig checks, before anything starts, whether a kube-scheduler accepts the profiles of a state.
// It runs that program itself, with its own types, defaults, gates and validation. So this package needs no knowledge
// of versions.
package schedulerconfig

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/rehearse-dev/rehearse/clusters"
)

// Checker asks kube-schedulers, and caches their answers. The zero value is ready for concurrent use.
type Checker struct {
	mu       sync.Mutex
	verdicts map[string]verdict
}

// verdict is an answer: the problems of a state's profiles. Without an answer, nothing is cached.
type verdict struct{ problems error }

// Check asks the program of each of the state's kube-schedulers about its profiles, with the gates and flags that the
// state sets for it. program returns the path of a version's kube-scheduler. Check joins all errors. Each has the path
// of its field, which begins with the state's schedulerProfiles or schedulers; the error of a program that gave no
// answer has none.
func (c *Checker) Check(ctx context.Context, program func(version string) (string, error), state clusters.State) error {
	questions := []question{{component: clusters.Scheduler, profiles: state.SchedulerProfiles, path: "schedulerProfiles"}}
	for i, scheduler := range state.Schedulers {
		questions = append(questions,
			question{
				component: scheduler.Component(), profiles: scheduler.Profiles,
				path: fmt.Sprintf("schedulers[%d].profiles", i),
			})
	}
	var problems []error
	for _, q := range questions {
		if len(q.profiles) == 0 {
			continue // there is nothing to ask
		}
		q.state = state
		var err error
		if q.program, err = program(state.VersionOf(q.component)); err != nil {
			return err
		}
		v, err := c.answer(ctx, q)
		if err != nil {
			return err
		}
		problems = append(problems, v.problems)
	}
	return errors.Join(problems...)
}

// answer returns the cached answer, or asks.
func (c *Checker) answer(ctx context.Context, q question) (verdict, error) {
	key, err := json.Marshal([]any{
		q.program, q.state.VersionOf(q.component), q.path, q.profiles, q.state.Gates(q.component),
		q.state.Flags(q.component),
	})
	if err != nil {
		return verdict{}, fmt.Errorf("write %s as JSON: %w", q.path, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if known, ok := c.verdicts[string(key)]; ok {
		return known, nil
	}
	v, err := q.ask(ctx)
	if err != nil {
		return verdict{}, err
	}
	if c.verdicts == nil {
		c.verdicts = map[string]verdict{}
	}
	c.verdicts[string(key)] = v
	return v, nil
}

// unanswered is the error of a kube-scheduler that gave no answer about profiles.
func (q question) unanswered(err error) error {
	return fmt.Errorf("ask %s about its profiles: %w", q.program, err)
}
