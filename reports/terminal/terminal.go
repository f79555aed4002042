// Package terminal shows the progress of a run.
package terminal

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/internal/plain"
)

// refresh is how often the live view is drawn anew. Where there is none, quiet is how long a progress text is held back
// that differs from the last in an amount only, or that comes from work on a cluster that has not taken longer.
const (
	refresh = 120 * time.Millisecond
	quiet   = 10 * time.Second
)

// Config says what a Terminal writes to.
type Config struct {
	Out io.Writer
	// TTY says that Out is a terminal that understands control sequences: there is a live view then. Otherwise Out gets
	// plain lines without any control character.
	TTY bool
	// Width returns the terminal's columns at this moment; 80 where it is nil or returns none. It is asked on a TTY only.
	Width func() int
	// Unicode allows signs beyond ASCII, Color allows colours (on a TTY); see UnicodeWanted and ColorWanted.
	Unicode, Color bool
	// Report is the path of the report that the last line names; none if "". ReportLink is its address, where the
	// terminal shows links; see LinksWanted.
	Report, ReportLink string
	// Clock of the live view.
	Clock clock.WithTicker
}

// Terminal shows a run to a person. It is safe for concurrent use.
type Terminal struct {
	config Config
	style  style

	mu       sync.Mutex
	run      *reports.Run
	column   int
	note     string
	noted    time.Time
	pace     pace
	height   int
	frame    int
	stop     chan struct{}
	closed   bool
	writeErr error
}

// New returns an observer that writes to a terminal, a pipe or a file.
func New(config Config) *Terminal {
	return &Terminal{
		config: config,
		style:  style{unicode: config.Unicode, color: config.Color && config.TTY},
		run:    &reports.Run{},
	}
}

// UnicodeWanted says whether the locale's character encoding is UTF-8.
func UnicodeWanted(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if value := getenv(name); value != "" {
			value = strings.ToLower(value)
			return strings.Contains(value, "utf-8") || strings.Contains(value, "utf8")
		}
	}
	return false
}

// ColorWanted says whether a terminal may be given colours: not where NO_COLOR is set (https://no-color.org).
func ColorWanted(getenv func(string) string) bool {
	return getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
}

// Progress shows what is going on before and between the steps of a run, in one short line: it is a clusters.Progress.
// On a TTY the line goes away again; Say is for what must stay.
func (t *Terminal) Progress(format string, args ...any) {
	text := plain.OneLine(fmt.Sprintf(format, args...))
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return
	}
	now := t.config.Clock.Now()
	t.pace.follow(text, now)
	if t.config.TTY {
		t.note = text
		t.animate()
		t.draw("")
		return
	}
	again := withoutAmounts(text) == withoutAmounts(t.note)
	if again && now.Sub(t.noted) < quiet || t.brieflyInSetup(now) {
		return
	}
	t.note, t.noted = text, now
	t.print(joined(", ", text, t.pace.left(now)) + "\n")
}

// Say writes a line that stays, such as how to reach a cluster that is kept.
func (t *Terminal) Say(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	line := plain.OneLine(fmt.Sprintf(format, args...)) + "\n"
	if t.closed {
		t.print(line)
		return
	}
	t.draw(line)
}

// brieflyInSetup says that work on a cluster is going on and has not taken long: without a live view its one line will
// do.
func (t *Terminal) brieflyInSetup(now time.Time) bool {
	var began time.Time
	for _, track := range t.run.Tracks {
		for _, s := range track.Setup {
			if inProgress(s) && (began.IsZero() || s.Started.Before(began)) {
				began = s.Started
			}
		}
	}
	return !began.IsZero() && now.Sub(began) < quiet
}

// Observe implements Observer. Its error is that nothing can be written any more.
func (t *Terminal) Observe(e reports.Event) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil
	}
	t.run = e.Run
	switch e.Kind {
	case reports.RunStarted:
		t.column = nameColumn(e.Run)
		t.animate()
	case reports.SetupFinished:
		t.note = ""
		t.draw(t.lines().setup(e.Track, e.Step))
	case reports.ScenarioFinished:
		t.draw(t.lines().scenario(e.Scenario))
	case reports.SetupStarted:
		t.note = ""
		t.draw("")
	case reports.RunInterrupted:
		t.draw(t.lines().interrupted())
	case reports.RunFinished:
		t.close()
		t.print(t.lines().end(e.Run, t.config.Report, t.config.ReportLink))
	case reports.StepFinished:
		if reports.Broke(e.Step) {
			t.draw(t.lines().broken(e.Track, e.Scenario, e.Step))
		}
	case reports.ScenarioStarted, reports.StepStarted, reports.StepAttempted:
		// The next tick shows them; a line for each would be more than a terminal, or a person, can follow.
	}
	return t.writeErr
}

// Close ends the live view, where a run comes to no end of its own. It may be called more than once.
func (t *Terminal) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.close()
}

func (t *Terminal) close() {
	if t.closed {
		return
	}
	t.closed = true
	t.print(t.erase())
	if t.stop != nil {
		close(t.stop)
	}
}

// animate draws the live view again and again, from when there is something to show until Close.
func (t *Terminal) animate() {
	if !t.config.TTY || t.stop != nil {
		return
	}
	t.stop = make(chan struct{})
	ticker := t.config.Clock.NewTicker(refresh)
	go func(stop <-chan struct{}) {
		defer ticker.Stop()
		for {
			select {
			case <-stop:
				return
			case <-ticker.C():
				t.tick()
			}
		}
	}(t.stop)
}

func (t *Terminal) tick() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return
	}
	t.frame++
	t.draw("")
}

// draw writes lines that stay, and the live view below them, in one go so that nothing flickers.
func (t *Terminal) draw(lines string) {
	if !t.config.TTY {
		t.print(lines)
		return
	}
	live := t.live()
	text := t.erase() + lines + strings.Join(live, "\n")
	t.height = len(live)
	t.print(text)
}

// erase returns what removes the live view: to the start of its first line, then clear all below.
func (t *Terminal) erase() string {
	if t.height == 0 {
		return ""
	}
	up := ""
	if t.height > 1 {
		up = fmt.Sprintf("\x1b[%dA", t.height-1)
	}
	t.height = 0
	return "\r" + up + "\x1b[J"
}

func (t *Terminal) print(text string) {
	if text == "" {
		return
	}
	if _, err := io.WriteString(t.config.Out, text); err != nil && t.writeErr == nil {
		t.writeErr = fmt.Errorf("writing to the terminal: %w", err)
	}
}

func (t *Terminal) lines() lines {
	l := lines{style: t.style, column: t.column, tracks: len(t.run.Tracks)}
	if t.config.TTY {
		l.width = t.width()
		l.column = min(l.column, l.width*6/10, max(l.width-durationWidth-6, 0))
	}
	return l
}

func (t *Terminal) width() int {
	if t.config.Width != nil {
		if w := t.config.Width(); w > 0 {
			return w
		}
	}
	return 80
}

// amounts are what changes in a progress text while it says the same: percentages, sizes, times, "3/7", "3 of 7", and
// how much of a program is built.
var amounts = regexp.MustCompile(
	`[0-9][0-9.,]* ?(%|[kKMGT]?i?B\b|m?s\b|(/| of )[0-9]+|modules downloaded|packages compiled)`)

func withoutAmounts(text string) string { return amounts.ReplaceAllString(text, "") }
