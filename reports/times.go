package reports

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/rehearse-dev/rehearse/reports/internal/folder"
)

// Seconds is a duration. In run.json it is a number of seconds with three decimals.
type Seconds time.Duration

// MarshalJSON writes the duration as a number of seconds.
func (s Seconds) MarshalJSON() ([]byte, error) { return json.Marshal(folder.Seconds(time.Duration(s))) }

// UnmarshalJSON reads a number of seconds.
func (s *Seconds) UnmarshalJSON(text []byte) error {
	var number float64
	if err := json.Unmarshal(text, &number); err != nil {
		return fmt.Errorf("read a number of seconds: %w", err)
	}
	*s = Seconds(math.Round(number*1000)) * Seconds(time.Millisecond)
	return nil
}

// Duration is the step's own time. It does not include a transition, which belongs to the track, or the time that the
// step waited for other scenarios. It is zero if the step did not run.
func (s *Step) Duration() time.Duration {
	if s.Took > 0 {
		return time.Duration(s.Took)
	}
	return max(Elapsed(s.Started, s.Finished)-s.shared(), 0)
}

// shared is the time that the step spent together with all scenarios of its track: waiting for them, and in the
// transition.
func (s *Step) shared() time.Duration { return time.Duration(s.Waited + s.Crossing) }

// Duration is the scenario's own time. It does not include transitions or the time that the scenario waited for other
// scenarios. It is zero if the scenario did not run.
func (s *Scenario) Duration() time.Duration {
	if s.Took > 0 {
		return time.Duration(s.Took)
	}
	own := Elapsed(s.Started, s.Finished)
	for _, step := range s.Steps {
		own -= step.shared()
	}
	return max(own, 0)
}

// Elapsed is the time from one moment to another. It is zero if one of them is unknown.
func Elapsed(from, to time.Time) time.Duration {
	if from.IsZero() || to.IsZero() {
		return 0
	}
	// Times that were read from a file have no monotonic clock. If the wall clock was set back, their difference is
	// negative.
	return max(to.Sub(from), 0)
}
