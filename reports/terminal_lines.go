package reports

import (
	"fmt"
	"strings"
)

// The columns of a line: sign, name, duration, remark. The name's is as wide as the longest name up to widestName.
const (
	widestName    = 60
	durationWidth = 7
	// hanging is the indent of what does not fit into its line.
	hanging = "    "
)

// lines writes what stays on the terminal.
type lines struct {
	style  style
	column int
	// width of the terminal; 0 where a line may be as long as it needs to be.
	width  int
	tracks int
}

// nameColumn is how wide the names of a plan are.
func nameColumn(run *Run) int {
	widest := 10
	for _, t := range run.Tracks {
		for _, s := range t.Setup {
			widest = max(widest, cells(oneLine(setupTitle(s))))
		}
		for _, s := range t.Scenarios {
			widest = max(widest, cells(oneLine(s.Name)))
		}
	}
	return min(widest, widestName)
}

// setup tells of work on a cluster that has ended. A transition has its direction for a sign.
func (l lines) setup(track *Track, s *Step) string {
	sign := l.style.sign(s.Status)
	if s.Verb == "transition" && s.Status == Passed {
		sign = l.style.paint(cyan, l.style.direction(s.Direction))
	}
	remark := joined(" ", l.trackOf(track), called(s))
	if s.Status != Passed {
		remark = joined(": ", remark, reasonOf(s))
	}
	return l.stay(sign, l.style.plain(setupTitle(s)), duration(s.Duration()), remark)
}

// reasonOf says in a line why work on a cluster did not end well. What an interrupt broke off is no news.
func reasonOf(s *Step) string {
	line := firstLine(s.Message)
	if known(s.Status) == NotRun && strings.HasPrefix(line, interrupted) {
		return interrupted
	}
	return line
}

// trackOf is the track's name, where there are several.
func (l lines) trackOf(t *Track) string {
	if l.tracks > 1 {
		return t.Name
	}
	return ""
}

// broken tells of a step that went wrong, when it did.
func (l lines) broken(track *Track, s *Scenario, step *Step) string {
	n := 0
	for i := range s.Steps {
		if s.Steps[i] == step {
			n = i
		}
	}
	what := titled(step)
	if setup := brokenSetup(track); setup != nil && saysTheSame(step, setup) {
		what = stepTitle(step) + ": " + failedAbove(setup)
	}
	remark := numbered(s, n) + ": " + l.style.plain(what)
	return l.stay(l.style.sign(step.Status), s.Name, duration(step.Duration()), remark)
}

// scenario tells how a scenario ended, unless its only broken step has said it, and what limits its verdict.
func (l lines) scenario(s *Scenario) string {
	remark := ""
	switch s.Status {
	case Passed:
	case Known:
		remark = knownReason(s)
	case NotRun:
		remark = "not run: " + firstLine(s.Message)
	case Skipped:
		remark = "skipped: " + firstLine(s.Message)
	default:
		remark = l.afterBroken(s)
		if remark == "" {
			return ""
		}
	}
	text := l.stay(l.style.sign(s.Status), s.Name, duration(s.Duration()), remark)
	if !broke(&Step{Status: s.Status}) { // else they are in its explanation
		for _, note := range notes(s) {
			text += l.style.paint(yellow, wrap(hanging+note, l.width)) + "\n"
		}
	}
	return text
}

// afterBroken is what there is to say of a scenario beyond its broken steps, each of which has had a line.
func (l lines) afterBroken(s *Scenario) string {
	n := 0
	for _, step := range s.Steps {
		if broke(step) {
			n++
		}
	}
	decisive := decisiveStep(s)
	switch {
	case n > 1:
		return fmt.Sprintf("%d of %s went wrong", n, plural(len(s.Steps), "step"))
	case decisive != nil && headline(s) == decisiveLine(s, decisive):
		return ""
	default:
		return headline(s)
	}
}

func (l lines) interrupted() string {
	return l.style.paint(yellow, "interrupted: stopping and cleaning up") + "\n"
}

// stay is a line that stays. What does not fit into a terminal's line goes into more of them, indented.
func (l lines) stay(sign, name, took, remark string) string {
	name, remark = oneLine(name), oneLine(remark)
	if l.width == 0 {
		return l.line(sign, name, took, remark)
	}
	if cells(name) > l.column {
		wrapped := strings.Split(wrap(name, l.column), "\n")
		last := len(wrapped) - 1
		if last == 0 {
			return l.rest(sign, name, took, remark) // it has no space
		}
		head := sign + " " + strings.Join(wrapped[:last], "\n  ")
		return head + "\n" + l.rest(" ", wrapped[last], took, remark)
	}
	return l.rest(sign, name, took, remark)
}

// rest is a line, and its remark below it where that does not fit.
func (l lines) rest(sign, name, took, remark string) string {
	used := 2 + max(l.column, cells(name)) + 2 + max(durationWidth, len(took)) + 2
	if used+cells(remark) <= l.width {
		return l.line(sign, name, took, remark)
	}
	below := wrap(hanging+remark, l.width)
	return l.line(sign, name, took, "") + strings.ReplaceAll(below, "\n      ", "\n"+hanging) + "\n"
}

// line is one line in columns.
func (l lines) line(sign, name, took, remark string) string {
	took = strings.Repeat(" ", max(durationWidth-len(took), 0)) + took
	left := sign + " " + pad(name, l.column) + "  " + l.style.paint(dim, took)
	if remark == "" {
		return left + "\n"
	}
	return left + "  " + l.style.paint(dim, remark) + "\n"
}

// short is one line in columns that is cut to the terminal's width: the live view counts its lines.
func (l lines) short(sign, name, took, remark string) string {
	name = cut(oneLine(name), l.column, l.style.ellipsis())
	room := l.width - 1 - 2 - max(l.column, cells(name)) - 2 - max(durationWidth, len(took)) - 2
	return l.line(sign, name, took, fit(oneLine(remark), room, l.style.ellipsis()))
}

// fit shortens a remark to the room there is; where that is too little to say anything it is left out.
func fit(text string, room int, mark string) string {
	if cells(text) > room && room < 12 {
		return ""
	}
	return cut(text, room, mark)
}

// joined puts what is not empty together.
func joined(separator string, texts ...string) string {
	var all []string
	for _, text := range texts {
		if text != "" {
			all = append(all, text)
		}
	}
	return strings.Join(all, separator)
}
