package reports

import (
	"fmt"
	"strings"
)

// ConformanceMarkdown is the report as a page: the result, what is not met with the evidence folded away, what is met,
// and how to reproduce it.
func ConformanceMarkdown(r *ConformanceReport) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Conformance of %s with %s\n\n", conformanceWho(r), r.Suite.Name)
	b.WriteString(html(r.Summary) + "\n\n")
	b.WriteString("| level | result | passed | failed | known | untested |\n|---|---|---:|---:|---:|---:|\n")
	for _, level := range []struct {
		name string
		of   ConformanceLevel
	}{{coreLevel, r.Core}, {extendedLevel, r.Extended}} {
		n := level.of.Statistics
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %d | %d |\n", level.name, level.of.Result, n.Passed, n.Failed, n.Known,
			n.Untested)
	}
	if unstable := r.Core.Statistics.Unstable + r.Extended.Statistics.Unstable; unstable > 0 {
		fmt.Fprintf(&b, "\n%s came out differently in %d runs, which is not passed.\n", plural(unstable, "requirement"),
			r.Runs)
	}
	conformanceVariants(&b, r.Variants)
	conformanceTable(&b, "What is not met, or not known", r,
		func(q ConformanceRequirement) bool { return q.Status != ConformancePassed })
	conformanceDetails(&b, r)
	conformanceTable(&b, "What is met", r, func(q ConformanceRequirement) bool { return q.Status == ConformancePassed })
	if len(r.OutsideProfile) > 0 {
		fmt.Fprintf(&b, "\nOutside of the profile %s, so that no scenario of it covers them: %s.\n", cell(r.Profile),
			cell(strings.Join(r.OutsideProfile, ", ")))
	}
	conformanceReproduce(&b, r)
	return b.String()
}

func conformanceWho(r *ConformanceReport) string {
	who := r.Implementation.String()
	if r.Profile != "" {
		who += ", profile " + r.Profile + ","
	}
	return html(who)
}

func conformanceVariants(b *strings.Builder, variants []ConformanceVariant) {
	if len(variants) == 0 {
		return
	}
	b.WriteString("\n| variant seen | scenarios passed | failed | known | untested |\n|---|---:|---:|---:|---:|\n")
	for _, v := range variants {
		fmt.Fprintf(b, "| %s | %d | %d | %d | %d |\n", cell(v.Name), v.Passed, v.Failed, v.Known, v.Untested)
	}
}

func conformanceTable(b *strings.Builder, title string, r *ConformanceReport,
	wanted func(ConformanceRequirement) bool,
) {
	var rows strings.Builder
	for _, q := range r.Requirements {
		if !wanted(q) {
			continue
		}
		remark := cell(q.Statement)
		if q.Variant != "" {
			remark += "<br>Seen as " + cell(q.Variant) + "."
		}
		if q.Reason != "" {
			remark += "<br>" + cell(firstLine(q.Reason))
		}
		fmt.Fprintf(&rows, "| %s %s | %s | %s | %s | %d |\n", conformanceSign(q.Status), q.Status, cell(q.ID), q.Level,
			remark, q.Scenarios.total())
	}
	if rows.Len() > 0 {
		fmt.Fprintf(b, "\n## %s\n\n| | requirement | level | | scenarios |\n|---|---|---|---|---:|\n%s", title, rows.String())
	}
}

// total number of scenarios behind a requirement that say something of it.
func (e ConformanceEvidence) total() int {
	return len(e.Passed) + len(e.Failed) + len(e.Known) + len(e.Untested)
}

func conformanceSign(status ConformanceStatus) string {
	return map[ConformanceStatus]string{
		ConformancePassed: "✅", ConformanceFailed: "❌", ConformanceKnown: "🔶", ConformanceUntested: "⚪",
		ConformanceUnstable: "🎲", ConformanceSkipped: "⚪",
	}[status]
}

// conformanceDetails is the evidence of what did not pass.
func conformanceDetails(b *strings.Builder, r *ConformanceReport) {
	var details []string
	for _, s := range r.Scenarios {
		if s.Evidence != "" {
			details = append(details, markdownDetails(fmt.Sprintf("%s: %s (%s)", s.Status, s.Name, s.Source), s.Evidence))
		}
	}
	if len(details) > markdownExplanations {
		left := len(details) - markdownExplanations
		details = append(details[:markdownExplanations], fmt.Sprintf("\nAnd %d more; see the report as YAML.\n", left))
	}
	b.WriteString(strings.Join(details, ""))
}

func conformanceReproduce(b *strings.Builder, r *ConformanceReport) {
	fmt.Fprintf(b, "\n## Reproduce\n\n    %s\n\n", oneLine(r.Reproduce.Command))
	fmt.Fprintf(b, "With rehearse %s, suite %s (digest %s), provider %s, Kubernetes %s; %s.\n",
		cell(r.Reproduce.Rehearse), cell(r.Suite.Name), cell(r.Suite.Digest), cell(r.Reproduce.Provider),
		cell(strings.Join(r.Reproduce.Kubernetes, ", ")), r.Date.UTC().Format("2006-01-02 15:04 MST"))
	if len(r.Implementation.Contact) > 0 {
		fmt.Fprintf(b, "Contact: %s. %s\n", cell(strings.Join(r.Implementation.Contact, ", ")), cell(r.Implementation.URL))
	}
}
