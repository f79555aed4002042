package reports

import (
	"encoding/json"
	"fmt"
	"math"
	"time"
)

// Seconds is a length of time, in run.json a number of seconds with milliseconds.
type Seconds time.Duration

// MarshalJSON writes the seconds as a number.
func (s Seconds) MarshalJSON() ([]byte, error) { return json.Marshal(seconds(time.Duration(s))) }

// UnmarshalJSON reads a number of seconds.
func (s *Seconds) UnmarshalJSON(text []byte) error {
	var number float64
	if err := json.Unmarshal(text, &number); err != nil {
		return fmt.Errorf("read a number of seconds: %w", err)
	}
	*s = Seconds(math.Round(number*1000)) * Seconds(time.Millisecond)
	return nil
}

// seconds with milliseconds: readers of JUnit take no exponents.
func seconds(d time.Duration) float64 { return math.Round(d.Seconds()*1000) / 1000 }

// Duration is the step's own time: without a transition, which is the track's, and without waiting for other scenarios.
// It is zero when the step did not run.
func (s *Step) Duration() time.Duration {
	if s.Took > 0 {
		return time.Duration(s.Took)
	}
	return max(Elapsed(s.Started, s.Finished)-s.shared(), 0)
}

// shared is the time that the step spent with all scenarios of its track: waiting for them, and in the transition.
func (s *Step) shared() time.Duration { return time.Duration(s.Waited + s.Crossing) }

// Duration is the scenario's own time: without transitions, and without waiting for other scenarios. It is zero when
// the scenario did not run.
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

// Elapsed is the time from one moment to another; zero where one is not known.
func Elapsed(from, to time.Time) time.Duration {
	if from.IsZero() || to.IsZero() {
		return 0
	}
	// Times read back from a file have lost their monotonic clock, and a wall clock may be set back.
	return max(to.Sub(from), 0)
}
