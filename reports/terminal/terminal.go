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

// refresh is how often the live view is redrawn. Without a live view, quiet delays progress texts that differ from
// the last one only in an amount, or that come in the first seconds of work on a cluster.
const (
	refresh = 120 * time.Millisecond
	quiet   = 10 * time.Second
)

// Config says what a Terminal writes to.
type Config struct {
	Out io.Writer
	// TTY says that Out is a terminal that understands control sequences, and so has a live view. Otherwise Out gets
	// plain lines without control characters.
	TTY bool
	// Width returns the current number of columns; 80 if it is nil or returns 0. It is called only on a TTY.
	Width func() int
	// Unicode allows signs beyond ASCII. Color allows colours (on a TTY). See UnicodeWanted and ColorWanted.
	Unicode, Color bool
	// Report is the path of the report that the last line names, "" for none. ReportLink is its address, if the terminal
	// shows links; see LinksWanted.
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

// UnicodeWanted reports whether the locale's character encoding is UTF-8.
func UnicodeWanted(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if value := getenv(name); value != "" {
			value = strings.ToLower(value)
			return strings.Contains(value, "utf-8") || strings.Contains(value, "utf8")
		}
	}
	return false
}

// ColorWanted reports whether colours are allowed: not if NO_COLOR is set (https://no-color.org).
func ColorWanted(getenv func(string) string) bool {
	return getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
}

// Progress shows one short line about work before and between the steps of a run. It is a clusters.Progress. On a TTY
// the line disappears again; use Say for lines that must stay.
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

// Say prints a line that stays, such as how to reach a cluster that is kept.
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

// brieflyInSetup reports whether work on a cluster began only recently. Without a live view, one line is enough for
// it.
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

// Observe implements Observer. It returns an error if writing fails.
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
		// The next tick shows them. A line for each would be too many for a terminal and a reader.
	}
	return t.writeErr
}

// Close ends the live view if the run does not end by itself. It may be called more than once.
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

// animate redraws the live view periodically until Close.
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

// draw prints lines that stay, and the live view below them. It uses one write, so that nothing flickers.
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

// erase returns what removes the live view: go to the start of its first line, then clear all below.
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

// amounts match what changes in otherwise equal progress texts: percentages, sizes, times, "3/7", "3 of 7", and how
// much of a program is built.
var amounts = regexp.MustCompile(
	`[0-9][0-9.,]* ?(%|[kKMGT]?i?B\b|m?s\b|(/| of )[0-9]+|modules downloaded|packages compiled)`)

func withoutAmounts(text string) string { return amounts.ReplaceAllString(text, "") }
