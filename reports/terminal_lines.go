package reports

import (
	"fmt"
	"strings"
)

// The columns of a line: sign, name, duration, remark. The name's is as wide as the longest name up to widestName.
const (
	widestName    = 60
	durationWidth = 7
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
			widest = max(widest, cells(oneLine(setupName(s))))
		}
		for _, s := range t.Scenarios {
			widest = max(widest, cells(oneLine(s.Name)))
		}
	}
	return min(widest, widestName)
}

// setupName is how a setup step is called behind its sign: a transition has the arrow instead of its verb.
func setupName(s *Step) string {
	if s.Verb == "transition" && s.Name != "" {
		return s.Name
	}
	return setupTitle(s)
}

func (l lines) setup(track *Track, s *Step) string {
	sign := l.style.sign(s.Status)
	if s.Verb == "transition" && s.Status == Passed {
		sign = l.style.paint(cyan, l.style.arrow())
	}
	remark := l.trackOf(track)
	if s.Status != Passed && s.Message != "" {
		remark = strings.TrimPrefix(remark+": "+firstLine(s.Message), ": ")
	}
	return l.line(sign, setupName(s), duration(s.Duration()), remark)
}

// trackOf is the track's name, where there are several.
func (l lines) trackOf(t *Track) string {
	if l.tracks > 1 {
		return t.Name
	}
	return ""
}

func (l lines) scenario(s *Scenario) string {
	remark := ""
	switch s.Status {
	case Passed:
		remark = notes(s)
	case Known:
		remark = knownReason(s)
	case NotRun:
		remark = "not run: " + firstLine(s.Message)
	case Skipped:
		remark = "skipped: " + firstLine(s.Message)
	default:
		remark = headline(s)
	}
	return l.line(l.style.sign(s.Status), s.Name, duration(s.Duration()), remark)
}

// notes are what a reader of a scenario that passed should know.
func notes(s *Scenario) string {
	var all []string
	for _, step := range s.Steps {
		if step.Note != "" {
			all = append(all, stepTitle(step)+": "+step.Note)
		}
	}
	return strings.Join(all, "; ")
}

func (l lines) interrupted() string {
	return l.style.paint(yellow, "interrupted: stopping and cleaning up") + "\n"
}

func (l lines) line(sign, name, took, remark string) string {
	name, remark = oneLine(name), oneLine(remark)
	if l.width > 0 {
		name = cut(name, l.column, l.style.ellipsis())
	}
	took = strings.Repeat(" ", max(durationWidth-len(took), 0)) + took
	left := sign + " " + pad(name, l.column) + "  " + l.style.paint(dim, took)
	used := 2 + max(l.column, cells(name)) + 2 + len(took)
	if l.width > 0 {
		remark = fit(remark, l.width-1-used-2, l.style.ellipsis())
	}
	if remark == "" {
		return left + "\n"
	}
	return left + "  " + l.style.paint(dim, remark) + "\n"
}

// fit shortens a remark to the room there is; where that is too little to say anything it is left out.
func fit(text string, room int, mark string) string {
	if cells(text) > room && room < 12 {
		return ""
	}
	return cut(text, room, mark)
}

// end is what is written when the run is over: what broke, in full, and the summary.
func (l lines) end(run *Run, report string) string {
	var b strings.Builder
	for _, t := range run.Tracks {
		for _, s := range t.Setup {
			if setupBroken(run, s) {
				l.block(&b, "SETUP BROKEN", t.Name+": "+setupTitle(s), explainSetup(run, t, s))
			}
		}
	}
	for _, t := range run.Tracks {
		for _, s := range t.Scenarios {
			switch s.Status {
			case Failed:
				l.block(&b, "FAILED", s.Name, explanation(s))
			case Error:
				l.block(&b, "ERROR", s.Name, explanation(s))
			case Passed, Known, NotRun, Skipped:
			}
		}
	}
	l.listed(&b, run, NotRun, "NOT RUN")
	l.listed(&b, run, Skipped, "SKIPPED")
	l.summary(&b, run, report)
	return b.String()
}

func (l lines) block(b *strings.Builder, word, name, text string) {
	fmt.Fprintf(b, "\n%s  %s\n", l.style.paint(red, word), l.style.paint(bold, oneLine(name)))
	fmt.Fprintf(b, "%s\n", indent(clean(text), "    "))
}

// listed names the scenarios of a status that did not run, together where the reason is the same.
func (l lines) listed(b *strings.Builder, run *Run, status Status, word string) {
	const shown = 5
	names := map[string][]string{}
	var reasons []string
	for _, t := range run.Tracks {
		for _, s := range t.Scenarios {
			if known(s.Status) != status {
				continue
			}
			why := oneLine(whyNotRun(run, t, s))
			if names[why] == nil {
				reasons = append(reasons, why)
			}
			names[why] = append(names[why], oneLine(s.Name))
		}
	}
	for _, why := range reasons {
		list := names[why]
		more := ""
		if len(list) > shown {
			more = fmt.Sprintf(" and %d more", len(list)-shown)
			list = list[:shown]
		}
		fmt.Fprintf(b, "\n%s  %s\n    %s%s\n", l.style.paint(yellow, word), why, strings.Join(list, ", "), more)
	}
}

func (l lines) summary(b *strings.Builder, run *Run, report string) {
	counts, color := Count(run), green
	if ExitCode(run) != ExitPassed {
		color = red
	}
	text := counts.String()
	if counts.Total() == 0 {
		text = "no scenarios"
	}
	fmt.Fprintf(b, "\n%s  in %s", l.style.paint(color, text), duration(elapsed(run.Started, run.Finished)))
	if run.Interrupted {
		b.WriteString("  " + l.style.paint(yellow, "interrupted"))
	}
	if report != "" {
		b.WriteString("   report: " + report)
	}
	b.WriteString("\n")
}
