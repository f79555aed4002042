// Package schedulerconfig tells, before anything starts, whether a kube-scheduler takes the profiles of a state. It asks that very program: its
// own types, defaults, gates and validation give the verdict, so there is nothing here to know of any version.
package schedulerconfig

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/rehearse-dev/rehearse/clusters"
)

// Checker asks kube-schedulers, and remembers what they said. The zero value is ready for use, by several at once.
type Checker struct {
	mu       sync.Mutex
	verdicts map[string]verdict
}

// verdict is an answer: what is wrong with a state's profiles. That nobody could be asked is no verdict, and not kept.
type verdict struct{ problems error }

// Check asks the program, the kube-scheduler of the state's version, about the state's profiles, with the gates and flags that the
// state gives it. Each thing that is wrong is a part of the joined error, with the path of its field, beginning at the state's
// schedulerProfiles. A *NotAskedError says that the program gave no answer, and nothing against the profiles.
func (c *Checker) Check(ctx context.Context, program string, state clusters.State) error {
	if len(state.SchedulerProfiles) == 0 {
		return nil
	}
	key, err := json.Marshal([]any{program, state.Version, state.SchedulerProfiles, state.Gates(clusters.Scheduler), state.Components[clusters.Scheduler].Flags})
	if err != nil {
		return fmt.Errorf("write schedulerProfiles as JSON: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if known, ok := c.verdicts[string(key)]; ok {
		return known.problems
	}
	v, err := question{program: program, state: state}.ask(ctx)
	if err != nil {
		return err
	}
	if c.verdicts == nil {
		c.verdicts = map[string]verdict{}
	}
	c.verdicts[string(key)] = v
	return v.problems
}

// NotAskedError says that a kube-scheduler gave no answer about profiles.
type NotAskedError struct {
	Program string
	Err     error
}

func (e *NotAskedError) Error() string {
	return fmt.Sprintf("ask %s about schedulerProfiles: %v", e.Program, e.Err)
}

// Unwrap gives the cause.
func (e *NotAskedError) Unwrap() error { return e.Err }
