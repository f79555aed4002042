package terminal

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/internal/plain"
)

// end is printed when the run is over: the failures in full, and the summary.
func (l lines) end(run *reports.Run, report, link string) string {
	var b strings.Builder
	for _, t := range run.Tracks {
		for _, s := range t.Setup {
			if reports.SetupBroken(run, s) {
				l.block(&b, "SETUP FAILED", joined(": ", l.trackOf(t), reports.SetupTitle(s)), reports.ExplainSetup(run, t, s))
			}
		}
	}
	for _, group := range alike(run) {
		l.group(&b, group)
	}
	l.listed(&b, run, reports.NotRun, "NOT RUN")
	l.listed(&b, run, reports.Skipped, "SKIPPED")
	l.summary(&b, run, report, link)
	return b.String()
}

func (l lines) block(b *strings.Builder, word, name, text string) {
	fmt.Fprintf(b, "\n%s\n", l.headed(red, word, bold, l.style.plain(plain.OneLine(name))))
	fmt.Fprintf(b, "%s\n", l.explained(plain.Indent(plain.Clean(text), hanging)))
}

// headed returns a word and a text in their colours; without a colour for a text that has none.
func (l lines) headed(color, word, rest, text string) string {
	wrapped := plain.Wrap(word+"  "+text, l.width)
	after, whole := strings.CutPrefix(wrapped, word)
	if !whole { // the word itself is too wide
		return l.style.paint(color, wrapped)
	}
	if rest == "" {
		return l.style.paint(color, word) + after
	}
	bare := strings.TrimLeft(after, " \n")
	return l.style.paint(color, word) + after[:len(after)-len(bare)] + l.style.paint(rest, bare)
}

// sameEnd is a group of scenarios on a track that ended for the same reason.
type sameEnd struct {
	track     *reports.Track
	scenarios []*reports.Scenario
	// setup is what went wrong with their cluster; nil if a step of their own went wrong.
	setup *reports.Step
}

// alike groups scenarios that failed or are an error, if the same event ended them: their cluster broke.
func alike(run *reports.Run) []*sameEnd {
	var groups []*sameEnd
	for _, t := range run.Tracks {
		for _, s := range t.Scenarios {
			if s.Status != reports.Failed && s.Status != reports.Error {
				continue
			}
			i := slices.IndexFunc(groups, func(g *sameEnd) bool { return g.track == t && sameReason(g.scenarios[0], s) })
			if i >= 0 {
				groups[i].scenarios = append(groups[i].scenarios, s)
				continue
			}
			group := &sameEnd{track: t, scenarios: []*reports.Scenario{s}}
			if setup := reports.BrokenSetup(t); setup != nil && onlyBroken(s) != nil && saysTheSame(onlyBroken(s), setup) {
				group.setup = setup
			}
			groups = append(groups, group)
		}
	}
	return groups
}

// onlyBroken returns the step that went wrong, or nil if there is none or more than one.
func onlyBroken(s *reports.Scenario) *reports.Step {
	var only *reports.Step
	for _, step := range s.Steps {
		switch {
		case !reports.Broke(step):
		case only != nil:
			return nil
		default:
			only = step
		}
	}
	return only
}

// sameReason reports whether two scenarios are errors for the same reason. Their own errors would differ in words.
func sameReason(a, b *reports.Scenario) bool {
	one, other := onlyBroken(a), onlyBroken(b)
	return a.Status == reports.Error && b.Status == reports.Error && one != nil && other != nil &&
		one.Message != "" && one.Message == other.Message && one.Evidence == other.Evidence
}

// saysTheSame reports whether a scenario's step only repeats what went wrong with its cluster.
func saysTheSame(step, setup *reports.Step) bool {
	return setup.Message != "" && strings.Contains(step.Message, setup.Message)
}

// group explains a scenario, or several that ended for the same reason.
func (l lines) group(b *strings.Builder, g *sameEnd) {
	first := g.scenarios[0]
	word := "FAILED"
	if first.Status == reports.Error {
		word = "ERROR"
	}
	if g.setup == nil && len(g.scenarios) == 1 {
		l.block(b, word, first.Name, reports.Explain(first))
		return
	}
	var names, places []string
	for _, s := range g.scenarios {
		names = append(names, plain.OneLine(s.Name))
		i := slices.Index(s.Steps, onlyBroken(s))
		places = append(places, fmt.Sprintf("%s of %s: %s", reports.Numbered(s, i), plain.OneLine(s.Name),
			joined(", ", reports.TitleWithVerb(s.Steps[i]), plain.Prefixed("at ", s.Steps[i].Position))))
	}
	reason := strings.Trim(onlyBroken(first).Message, "\n")
	if g.setup != nil {
		reason = failedAbove(g.setup)
	}
	l.block(b, word, strings.Join(names, ", "), l.style.plain(reason)+"\n\n"+strings.Join(places, "\n"))
}

// failedAbove refers to a failed setup step that is explained above.
func failedAbove(setup *reports.Step) string {
	return fmt.Sprintf("%q failed (see above)", reports.SetupTitle(setup))
}

// listed names the scenarios with a status that did not run, grouped by reason.
func (l lines) listed(b *strings.Builder, run *reports.Run, status reports.Status, word string) {
	const shown = 5
	names := map[string][]string{}
	var reasons []string
	for _, t := range run.Tracks {
		for _, s := range t.Scenarios {
			if s.Status.OrNotRun() != status {
				continue
			}
			why := plain.OneLine(reports.WhyNotRun(run, t, s))
			if setup := reports.BrokenSetup(t); setup != nil && strings.Contains(why, plain.FirstLine(setup.Message)) {
				why = l.style.plain(failedAbove(setup))
			}
			if names[why] == nil {
				reasons = append(reasons, why)
			}
			names[why] = append(names[why], plain.OneLine(s.Name))
		}
	}
	for _, why := range reasons {
		list := names[why]
		more := ""
		if len(list) > shown {
			more = fmt.Sprintf(" and %d more", len(list)-shown)
			list = list[:shown]
		}
		fmt.Fprintf(b, "\n%s\n%s\n", l.headed(yellow, word, "", why),
			plain.Wrap(hanging+strings.Join(list, ", ")+more, l.width))
	}
}

func (l lines) summary(b *strings.Builder, run *reports.Run, report, link string) {
	counts, color := reports.Count(run), green
	if reports.ExitCode(run) != reports.ExitPassed {
		color = red
	}
	text := counts.String()
	if counts.Total() == 0 {
		text = "no scenarios"
	}
	took := "in " + plain.Duration(run.Duration())
	if run.Interrupted {
		took += "  " + l.style.paint(yellow, "interrupted")
	}
	between := "   "
	if l.width > 0 && plain.Cells(text+took+report)+len("  ")+len("   report: ") > l.width {
		between = "\n"
	}
	fmt.Fprintf(b, "\n%s  %s%s\n", l.style.paint(color, text), took, plain.Prefixed(between+"report: ",
		linked(report, link)))
}
