package reports

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
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

// Duration is the time of the run. If the run combines several runs, pauses between them do not count.
func (r *Run) Duration() time.Duration {
	var all time.Duration
	for _, p := range r.Periods() {
		all += p.duration()
	}
	return all
}

// Periods are the times in which the run, or at least one of the runs that it combines, ran, without overlaps. There
// are none if the end is unknown.
func (r *Run) Periods() []Period {
	var each []Period
	for _, track := range r.Tracks {
		if !track.RunStarted.IsZero() {
			each = append(each, Period{track.RunStarted, track.RunFinished})
		}
	}
	if len(each) == 0 {
		each = []Period{{r.Started, r.Finished}}
	}
	slices.SortFunc(each, func(a, b Period) int { return a.From.Compare(b.From) })
	var all []Period
	for _, p := range each {
		switch last := len(all) - 1; {
		case p.duration() == 0:
		case last < 0 || p.From.After(all[last].To):
			all = append(all, p)
		case p.To.After(all[last].To):
			all[last].To = p.To
		}
	}
	return all
}

// Period is a time in which something ran.
type Period struct{ From, To time.Time }

func (p Period) duration() time.Duration { return Elapsed(p.From, p.To) }

// End is the end of a run. If it has not ended, End is the last time in it.
func End(run *Run) time.Time {
	if !run.Finished.IsZero() {
		return run.Finished
	}
	last := run.Started
	note := func(steps []*Step) {
		for _, step := range steps {
			for _, at := range []time.Time{step.Started, step.Finished} {
				if at.After(last) {
					last = at
				}
			}
		}
	}
	for _, track := range run.Tracks {
		note(track.Setup)
		for _, s := range track.Scenarios {
			note(s.Steps)
		}
	}
	return last
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
