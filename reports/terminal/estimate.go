package terminal

import (
	"regexp"
	"strconv"
	"time"

	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/internal/plain"
)

// patience is how long something must take before the terminal estimates the rest.
const patience = 5 * time.Second

// pace is the speed of something whose progress texts contain amounts: "12%", "3/7", "10 of 86 MB".
type pace struct {
	what  string // its text without amounts
	began time.Time
	share float64 // when it began
	end   time.Time
}

var (
	percent = regexp.MustCompile(`([0-9.]+) ?%`)
	outOf   = regexp.MustCompile(`([0-9.]+)(?:/| of )([0-9.]+)`)
)

// shareOf returns which share is done, and whether the text contains it.
func shareOf(text string) (float64, bool) {
	if m := percent.FindStringSubmatch(text); m != nil {
		n, err := strconv.ParseFloat(m[1], 64)
		return n / 100, err == nil
	}
	m := outOf.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	done, err1 := strconv.ParseFloat(m[1], 64)
	all, err2 := strconv.ParseFloat(m[2], 64)
	if err1 != nil || err2 != nil || all <= 0 {
		return 0, false
	}
	return done / all, true
}

// follow updates the pace from a progress text.
func (p *pace) follow(text string, now time.Time) {
	share, told := shareOf(text)
	if what := withoutAmounts(text); what != p.what || !told {
		*p = pace{what: what, began: now, share: share}
		return
	}
	took := now.Sub(p.began)
	if p.end = (time.Time{}); took >= patience && share > p.share {
		p.end = now.Add(time.Duration(float64(took) * max(1-share, 0) / (share - p.share)))
	}
}

// left returns the estimate of the remaining time; "" if unknown.
func (p *pace) left(now time.Time) string {
	if p.end.IsZero() {
		return ""
	}
	return about(p.end.Sub(now))
}

// about returns an estimate in words, rounded to a suitable precision.
func about(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return "a few seconds left"
	case d < time.Minute:
		d = d.Round(5 * time.Second)
	case d < 10*time.Minute:
		d = d.Round(10 * time.Second)
	default:
		d = d.Round(time.Minute)
	}
	if d == time.Minute {
		return "about 1m left"
	}
	if d < time.Minute {
		return "about " + strconv.Itoa(int(d.Seconds())) + "s left"
	}
	return "about " + plain.Duration(d) + " left"
}

// work is the time for things of one kind, and their number.
type work struct {
	took time.Duration
	n    int
}

func (w *work) add(took time.Duration) { w.took, w.n = w.took+took, w.n+1 }

func (w *work) mean() time.Duration { return w.took / time.Duration(max(w.n, 1)) }

// remaining estimates how long the run will still take. It assumes that each transition and step takes as long as
// earlier ones, and that as many run in parallel. It returns false if too little is known.
func remaining(run *reports.Run, now time.Time) (time.Duration, bool) {
	var setups, steps work
	for _, track := range run.Tracks {
		for _, s := range track.Setup {
			if !s.Finished.IsZero() && s.Verb != "delete" {
				setups.add(reports.Elapsed(s.Started, s.Finished))
			}
		}
		for _, scenario := range track.Scenarios {
			for _, step := range scenario.Steps {
				if step.Verb != "transition" && !step.Finished.IsZero() {
					steps.add(step.Duration())
				}
			}
		}
	}
	passed, done := reports.Elapsed(run.Started, now), setups.took+steps.took
	if run.Interrupted || passed < patience || setups.n == 0 || steps.n == 0 || done <= 0 {
		return 0, false
	}
	var left time.Duration
	for _, track := range run.Tracks {
		left += leftOf(track, setups.mean(), steps.mean(), now)
	}
	return time.Duration(float64(left) * float64(passed) / float64(max(done, passed))), left > 0
}

// leftOf returns the remaining work of a track.
func leftOf(track *reports.Track, setup, step time.Duration, now time.Time) time.Duration {
	var left time.Duration
	for _, s := range track.Setup {
		switch {
		case s.Verb == "delete" || !s.Finished.IsZero():
		case s.Started.IsZero():
			left += setup
		default:
			left += max(setup-now.Sub(s.Started), 0)
		}
	}
	if reports.BrokenSetup(track) != nil {
		return 0
	}
	for _, scenario := range track.Scenarios {
		if !scenario.Finished.IsZero() {
			continue
		}
		for _, s := range scenario.Steps {
			if s.Verb != "transition" && s.Finished.IsZero() {
				left += step
			}
		}
	}
	return left
}
