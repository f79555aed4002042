package terminal

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/internal/plain"
)

// liveLines is how many clusters, and how many scenarios, have a line in the live view: a terminal may be low.
const liveLines = 4

// narrow is the width below which the columns of a line do not fit.
const narrow = 24

// live returns the current state in lines: work on clusters, running scenarios, and the progress of the run. It
// returns none if the terminal is too narrow, because lines would wrap.
func (t *Terminal) live() []string {
	if t.width() < narrow {
		return nil
	}
	now := t.config.Clock.Now()
	spin := t.style.spinner(t.frame)
	var view, busy, idle []string
	for _, track := range t.run.Tracks {
		moving := false
		for _, s := range track.Setup {
			if !inProgress(s) {
				continue
			}
			moving = true
			view = append(view, t.liveLine(spin, setupInProgress(s, t.style), t.lines().trackOf(track), now.Sub(s.Started)))
		}
		for _, s := range track.Scenarios {
			if s.Started.IsZero() || !s.Finished.IsZero() {
				continue
			}
			what, since, transition := doing(s)
			if transition && moving {
				continue
			}
			line := t.liveLine(spin, s.Name, what, now.Sub(since))
			if what == "" {
				idle = append(idle, line)
			} else {
				busy = append(busy, line)
			}
		}
	}
	view = t.atMost(liveLines, view)
	if t.note != "" {
		left := plain.Prefixed(", ", t.pace.left(now))
		note := plain.Cut(t.note, t.width()-1-2-len(left), t.style.ellipsis())
		view = append(view, t.liveText(spin+" ", 2, note+left))
	}
	view = append(view, t.atMost(liveLines, append(busy, idle...))...)
	if !t.run.Started.IsZero() {
		view = append(view, t.liveText("", 0, t.soFar(now)))
	}
	return view
}

// atMost keeps the first lines, and counts the others.
func (t *Terminal) atMost(n int, lines []string) []string {
	if len(lines) <= n {
		return lines
	}
	return append(lines[:n:n], t.style.paint(dim, fmt.Sprintf("  and %d more", len(lines)-n)))
}

// liveLine has the same columns as the lines that stay.
func (t *Terminal) liveLine(spin, name, what string, took time.Duration) string {
	return strings.TrimSuffix(t.lines().short(spin, name, plain.Duration(took), what), "\n")
}

func (t *Terminal) liveText(sign string, used int, text string) string {
	return sign + t.style.paint(dim, plain.Cut(text, t.width()-1-used, t.style.ellipsis()))
}

// soFar is the last line of the live view.
func (t *Terminal) soFar(now time.Time) string {
	c := reports.Count(t.run)
	text := fmt.Sprintf("%d of %d scenarios", c.Passed+c.Known+c.Failed+c.Errors+c.Skipped, c.Total())
	if c.Failed > 0 {
		text += fmt.Sprintf(", %d failed", c.Failed)
	}
	if c.Errors > 0 {
		text += ", " + plain.Plural(c.Errors, "error")
	}
	text += "  " + plain.Duration(now.Sub(t.run.Started))
	if left, known := remaining(t.run, now); known {
		text += ", " + about(left)
	}
	return text
}

// inProgress reports whether a step has begun but not ended.
func inProgress(s *reports.Step) bool { return !s.Started.IsZero() && s.Finished.IsZero() }

// doing returns what a scenario is doing, since when, and whether it is in a transition.
func doing(s *reports.Scenario) (what string, since time.Time, transition bool) {
	for i, step := range s.Steps {
		if inProgress(step) {
			what = fmt.Sprintf("%d/%d %s", i+1, len(s.Steps), reports.StepTitle(step))
			if n := len(step.Attempts); n > 0 {
				what += fmt.Sprintf(" (attempt %d: %s)", n+1, plain.FirstLine(step.Attempts[n-1].Outcome))
			}
			return what, step.Started, step.Verb == "transition"
		}
	}
	if n := len(s.Steps); n > 0 && !s.Steps[n-1].Finished.IsZero() || slices.ContainsFunc(s.Steps, reports.Broke) {
		return "cleaning up", s.Started, false
	}
	return "", s.Started, false
}

// setupInProgress is the title of a setup step that is in progress.
func setupInProgress(s *reports.Step, style style) string {
	if s.Direction == "" {
		return style.plain(reports.SetupTitle(s))
	}
	return style.direction(s.Direction) + " " + style.plain(reports.SetupTitle(s))
}
