package reports

import (
	"fmt"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/reports/internal/plain"
)

// markdownPassed is the largest number of passed scenarios that are listed; if there are more, all are folded away.
const markdownPassed = 25

// Markdown is the run as a summary for a CI's job page: what did not pass, what passed, and the explanations folded
// away.
func Markdown(run *Run) string {
	var b strings.Builder
	counts := Count(run)
	fmt.Fprintf(&b, "### Rehearse: %s in %s\n", counts, plain.Duration(run.Duration()))
	if why := endedEarly(run); why != "" {
		b.WriteString("\n" + why + ".\n")
	}
	if part := PartOf(run); part != "" {
		b.WriteString("\n" + part + "\n")
	}
	var rows, passed, details []string
	for _, t := range run.Tracks {
		for _, s := range t.Setup {
			if SetupBroken(run, s) {
				name, text := t.Name+": "+setupTitle(s), ExplainSetup(run, t, s)
				remark := plain.FirstLine(s.Message)
				if remark == "" {
					remark = whySetupNotRun(run, t, s)
				}
				rows = append(rows, markdownRow(s.Status, "setup", name, remark, markdownTook(s.Finished, s.Duration())))
				details = append(details, plain.Details(name, text))
			}
		}
	}
	for _, t := range run.Tracks {
		for _, s := range t.Scenarios {
			row := markdownRow(s.Status, s.System, s.Name, markdownRemark(run, t, s), markdownTook(s.Finished, s.Duration()))
			if s.Status == Passed {
				passed = append(passed, row)
				continue
			}
			rows = append(rows, row)
			if s.Status == Failed || s.Status == Error || s.Status == Known {
				details = append(details, plain.Details(s.Name, Explain(s)))
			}
		}
	}
	if len(passed) <= markdownPassed {
		rows, passed = append(rows, passed...), nil
	}
	markdownTable(&b, rows)
	if len(details) > plain.MostDetails {
		left := len(details) - plain.MostDetails
		details = append(details[:plain.MostDetails], fmt.Sprintf("\nAnd %d more; see junit.xml.\n", left))
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
	sign := map[Status]string{
		Passed: "✅", Failed: "❌", Error: "💥", Known: "🔶", Skipped: "⏭️",
		NotRun: "⚪",
	}[status.OrNotRun()]
	return fmt.Sprintf("| %s %s | %s | %s | %s | %s |\n", sign, StatusWord(status), plain.Cell(name), plain.Cell(system),
		took,
		plain.Cell(remark))
}

// StatusWord is a status in words.
func StatusWord(s Status) string {
	if s.OrNotRun() == NotRun {
		return "not run"
	}
	return string(s)
}

func markdownRemark(run *Run, t *Track, s *Scenario) string {
	switch s.Status {
	case Passed:
		return strings.Join(s.Covers, ", ")
	case Known:
		return KnownReason(s)
	case Failed, Error:
		return Reason(s)
	default:
		return WhyNotRun(run, t, s)
	}
}

// markdownTook is the own time of what has ended.
func markdownTook(finished time.Time, own time.Duration) string {
	if finished.IsZero() {
		return ""
	}
	return plain.Duration(own)
}
