package terminal

import (
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/internal/plain"
)

// The columns of a line: sign, name, duration, remark. The name is as wide as the longest one, up to widestName.
const (
	widestName    = 60
	durationWidth = 7
	// hanging is the indent of continuation lines.
	hanging = "    "
)

// lines formats what stays on the terminal.
type lines struct {
	style  style
	column int
	// width of the terminal; 0 if lines may have any length.
	width  int
	tracks int
}

// nameColumn returns the width of the name column for a plan.
func nameColumn(run *reports.Run) int {
	widest := 10
	for _, t := range run.Tracks {
		for _, s := range t.Setup {
			widest = max(widest, plain.Cells(plain.OneLine(reports.SetupTitle(s))))
		}
		for _, s := range t.Scenarios {
			widest = max(widest, plain.Cells(plain.OneLine(s.Name)))
		}
	}
	return min(widest, widestName)
}

// setup reports the end of work on a cluster. The sign of a transition is its direction.
func (l lines) setup(track *reports.Track, s *reports.Step) string {
	sign := l.style.sign(s.Status)
	if s.Verb == "transition" && s.Status == reports.Passed {
		sign = l.style.paint(cyan, l.style.direction(s.Direction))
	}
	remark := joined(" ", l.trackOf(track), reports.Called(s))
	if s.Status != reports.Passed {
		remark = joined(": ", remark, reasonOf(s))
	}
	return l.stay(sign, l.style.plain(reports.SetupTitle(s)), plain.Duration(s.Duration()), remark)
}

// reasonOf returns in one line why work on a cluster did not end well. Interrupted work gets no details.
func reasonOf(s *reports.Step) string {
	line := plain.FirstLine(s.Message)
	if s.Status.OrNotRun() == reports.NotRun && strings.HasPrefix(line, reports.Interrupted) {
		return reports.Interrupted
	}
	return line
}

// trackOf returns the track's name if there are several tracks.
func (l lines) trackOf(t *reports.Track) string {
	if l.tracks > 1 {
		return t.Name
	}
	return ""
}

// broken reports a step as soon as it goes wrong.
func (l lines) broken(track *reports.Track, s *reports.Scenario, step *reports.Step) string {
	n := 0
	for i := range s.Steps {
		if s.Steps[i] == step {
			n = i
		}
	}
	what := reports.TitledMessage(step)
	if setup := reports.BrokenSetup(track); setup != nil && saysTheSame(step, setup) {
		what = reports.StepTitle(step) + ": " + failedAbove(setup)
	}
	remark := reports.Numbered(s, n) + ": " + l.style.plain(what)
	return l.stay(l.style.sign(step.Status), s.Name, plain.Duration(step.Duration()), remark)
}

// scenario reports how a scenario ended, unless its only broken step has said it, and what limits its verdict.
func (l lines) scenario(s *reports.Scenario) string {
	remark := ""
	switch s.Status {
	case reports.Passed:
	case reports.Known:
		remark = reports.KnownReason(s)
	case reports.NotRun:
		remark = "not run: " + plain.FirstLine(s.Message)
	case reports.Skipped:
		remark = "skipped: " + plain.FirstLine(s.Message)
	default:
		remark = l.afterBroken(s)
		if remark == "" {
			return ""
		}
	}
	text := l.stay(l.style.sign(s.Status), s.Name, plain.Duration(s.Duration()), remark)
	if !reports.Broke(&reports.Step{Status: s.Status}) { // otherwise its explanation has the notes
		for _, note := range reports.Notes(s) {
			text += l.style.paint(yellow, plain.Wrap(hanging+note, l.width)) + "\n"
		}
	}
	return text
}

// afterBroken returns what the lines of the scenario's broken steps have not said yet.
func (l lines) afterBroken(s *reports.Scenario) string {
	n := plain.Count(s.Steps, reports.Broke)
	decisive := reports.DecisiveStep(s)
	switch {
	case n > 1:
		return fmt.Sprintf("%d of %s went wrong", n, plain.Plural(len(s.Steps), "step"))
	case decisive != nil && reports.Reason(s) == reports.DecisiveLine(s, decisive):
		return ""
	default:
		return reports.Reason(s)
	}
}

func (l lines) interrupted() string {
	return l.style.paint(yellow, "interrupted: stopping and cleaning up") + "\n"
}

// stay returns a line that stays. If it does not fit on the terminal, it continues in indented lines.
func (l lines) stay(sign, name, took, remark string) string {
	name, remark = plain.OneLine(name), plain.OneLine(remark)
	if l.width == 0 {
		return l.line(sign, name, took, remark)
	}
	if plain.Cells(name) > l.column {
		wrapped := strings.Split(plain.Wrap(name, l.column), "\n")
		last := len(wrapped) - 1
		if last == 0 {
			return l.rest(sign, name, took, remark) // it cannot be wrapped
		}
		head := sign + " " + strings.Join(wrapped[:last], "\n  ")
		return head + "\n" + l.rest(" ", wrapped[last], took, remark)
	}
	return l.rest(sign, name, took, remark)
}

// rest returns a line, with its remark below if it does not fit.
func (l lines) rest(sign, name, took, remark string) string {
	used := 2 + max(l.column, plain.Cells(name)) + 2 + max(durationWidth, len(took)) + 2
	if used+plain.Cells(remark) <= l.width {
		return l.line(sign, name, took, remark)
	}
	below := plain.Wrap(hanging+remark, l.width)
	return l.line(sign, name, took, "") + strings.ReplaceAll(below, "\n      ", "\n"+hanging) + "\n"
}

// line returns one line in columns.
func (l lines) line(sign, name, took, remark string) string {
	took = strings.Repeat(" ", max(durationWidth-len(took), 0)) + took
	left := sign + " " + plain.Pad(name, l.column) + "  " + l.style.paint(dim, took)
	if remark == "" {
		return left + "\n"
	}
	return left + "  " + l.style.paint(dim, remark) + "\n"
}

// short returns one line in columns, cut to the terminal's width: the live view counts its lines.
func (l lines) short(sign, name, took, remark string) string {
	name = plain.Cut(plain.OneLine(name), l.column, l.style.ellipsis())
	room := l.width - 1 - 2 - max(l.column, plain.Cells(name)) - 2 - max(durationWidth, len(took)) - 2
	return l.line(sign, name, took, fit(plain.OneLine(remark), room, l.style.ellipsis()))
}

// fit shortens a remark to the available room, or omits it if there is too little.
func fit(text string, room int, mark string) string {
	if plain.Cells(text) > room && room < 12 {
		return ""
	}
	return plain.Cut(text, room, mark)
}

// joined joins the texts that are not empty.
func joined(separator string, texts ...string) string {
	var all []string
	for _, text := range texts {
		if text != "" {
			all = append(all, text)
		}
	}
	return strings.Join(all, separator)
}
