package reports

import (
	"fmt"
	"strings"
	"time"
)

// What is short: more passed scenarios than this are folded away, more explanations than that are left to the other
// reports, and so is what is longer. A CI's job summary takes 1 MiB.
const (
	markdownPassed       = 25
	markdownExplanations = 40
	markdownExplanation  = 6000
)

// Markdown is the run as a summary for a CI's job page: what did not pass, what passed, and the explanations folded
// away.
func Markdown(run *Run) string {
	var b strings.Builder
	counts := Count(run)
	fmt.Fprintf(&b, "### Rehearse: %s in %s\n", counts, duration(elapsed(run.Started, run.Finished)))
	if run.Interrupted {
		b.WriteString("\nThe run was interrupted.\n")
	}
	var rows, passed, details []string
	for _, t := range run.Tracks {
		for _, s := range t.Setup {
			if setupBroken(run, s) {
				name, text := t.Name+": "+setupTitle(s), explainSetup(run, t, s)
				remark := firstLine(s.Message)
				if remark == "" {
					remark = whySetupNotRun(run, t, s)
				}
				rows = append(rows, markdownRow(s.Status, "setup", name, remark, markdownTook(s.Started, s.Finished)))
				details = append(details, markdownDetails(name, text))
			}
		}
	}
	for _, t := range run.Tracks {
		for _, s := range t.Scenarios {
			row := markdownRow(s.Status, s.System, s.Name, markdownRemark(run, t, s), markdownTook(s.Started, s.Finished))
			if s.Status == Passed {
				passed = append(passed, row)
				continue
			}
			rows = append(rows, row)
			if s.Status == Failed || s.Status == Error || s.Status == Known {
				details = append(details, markdownDetails(s.Name, explanation(s)))
			}
		}
	}
	if len(passed) <= markdownPassed {
		rows, passed = append(rows, passed...), nil
	}
	markdownTable(&b, rows)
	if len(details) > markdownExplanations {
		left := len(details) - markdownExplanations
		details = append(details[:markdownExplanations], fmt.Sprintf("\nAnd %d more; see junit.xml.\n", left))
	}
	b.WriteString(strings.Join(details, ""))
	if len(passed) > 0 {
		fmt.Fprintf(&b, "\n<details><summary>%d passed</summary>\n", len(passed))
		markdownTable(&b, passed)
		b.WriteString("\n</details>\n")
	}
	return b.String()
}

func markdownTable(b *strings.Builder, rows []string) {
	if len(rows) > 0 {
		b.WriteString("\n| | scenario | system | time | |\n|---|---|---|---:|---|\n" + strings.Join(rows, ""))
	}
}

func markdownRow(status Status, system, name, remark, took string) string {
	sign := map[Status]string{Passed: "✅", Failed: "❌", Error: "💥", Known: "🔶", Skipped: "⏭️", NotRun: "⚪"}[known(status)]
	return fmt.Sprintf("| %s %s | %s | %s | %s | %s |\n", sign, statusWord(status), cell(name), cell(system), took,
		cell(remark))
}

func statusWord(s Status) string {
	if known(s) == NotRun {
		return "not run"
	}
	return string(s)
}

func markdownRemark(run *Run, t *Track, s *Scenario) string {
	switch s.Status {
	case Passed:
		return strings.Join(s.Covers, ", ")
	case Known:
		return knownReason(s)
	case Failed, Error:
		return headline(s)
	default:
		return whyNotRun(run, t, s)
	}
}

func markdownTook(from, to time.Time) string {
	if from.IsZero() || to.IsZero() {
		return ""
	}
	return duration(elapsed(from, to))
}

// markdownDetails is an explanation that can be unfolded. Its fence is longer than any in the text.
func markdownDetails(name, text string) string {
	text = clean(text)
	if len(text) > markdownExplanation {
		text = strings.ToValidUTF8(text[:markdownExplanation], "") + "\n... (the rest is in junit.xml)"
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fmt.Sprintf("\n<details><summary>%s</summary>\n\n%stext\n%s\n%s\n\n</details>\n", html(name), fence, text,
		fence)
}

// cell is a text that a table's cell shows as it is.
func cell(text string) string {
	var b strings.Builder
	for _, r := range html(text) {
		if strings.ContainsRune("\\`*_[]|~", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

func html(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(oneLine(text))
}
