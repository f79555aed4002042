package conformances

import (
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/reports/internal/plain"
)

// Markdown returns the report as a page: the result, what is not met with folded evidence, what is met, and how to
// reproduce it.
func Markdown(r *Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Conformance of %s with %s\n\n", who(r), r.Suite.Name)
	b.WriteString(plain.Cell(r.Summary) + "\n\n")
	b.WriteString("| level | result | passed | failed | known | untested |\n|---|---|---:|---:|---:|---:|\n")
	for _, level := range []struct {
		name string
		of   Level
	}{{coreLevel, r.Core}, {extendedLevel, r.Extended}} {
		n := level.of.Statistics
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %d | %d |\n", level.name, level.of.Result, n.Passed, n.Failed, n.Known,
			n.Untested)
	}
	if unstable := r.Core.Statistics.Unstable + r.Extended.Statistics.Unstable; unstable > 0 {
		fmt.Fprintf(&b, "\n%s had different results in %d runs, which is not passed.\n",
			plain.Plural(unstable, "requirement"),
			r.Runs)
	}
	variants(&b, r.Variants)
	table(&b, "Not met, or unknown", r,
		func(q Requirement) bool { return q.Status != Passed })
	details(&b, r)
	table(&b, "Met", r, func(q Requirement) bool { return q.Status == Passed })
	if len(r.OutsideProfile) > 0 {
		fmt.Fprintf(&b, "\nNot covered by a scenario %s: %s.\n", plain.Cell(selection(r, "of")),
			plain.Cell(strings.Join(r.OutsideProfile, ", ")))
	}
	reproduce(&b, r)
	return b.String()
}

func who(r *Report) string {
	who := r.Implementation.String()
	if r.Profile != "" {
		who += ", profile " + r.Profile + ","
	}
	return plain.Cell(who)
}

// selection says which scenarios ran: " of profile NAME that matches FOCUS"; "" for all.
func selection(r *Report, before string) string {
	return plain.Prefixed(before+" profile ", r.Profile) + plain.Prefixed(" that matches ", r.Focus)
}

func variants(b *strings.Builder, variants []Variant) {
	if len(variants) == 0 {
		return
	}
	b.WriteString("\n| variant seen | scenarios passed | failed | known | untested |\n|---|---:|---:|---:|---:|\n")
	for _, v := range variants {
		fmt.Fprintf(b, "| %s | %d | %d | %d | %d |\n", plain.Cell(v.Name), v.Passed, v.Failed, v.Known, v.Untested)
	}
}

func table(b *strings.Builder, title string, r *Report,
	wanted func(Requirement) bool,
) {
	var rows strings.Builder
	for _, q := range r.Requirements {
		if !wanted(q) {
			continue
		}
		remark := plain.Cell(q.Statement)
		if q.Variant != "" {
			remark += "<br>Seen as " + plain.Cell(q.Variant) + "."
		}
		if q.Reason != "" {
			remark += "<br>" + plain.Cell(plain.FirstLine(q.Reason))
		}
		fmt.Fprintf(&rows, "| %s %s | %s | %s | %s | %d |\n", sign(q.Status), q.Status, plain.Cell(q.ID), q.Level,
			remark, q.Scenarios.total())
	}
	if rows.Len() > 0 {
		fmt.Fprintf(b, "\n## %s\n\n| | requirement | level | | scenarios |\n|---|---|---|---|---:|\n%s", title, rows.String())
	}
}

// total returns the number of scenarios with a result for a requirement.
func (e Evidence) total() int {
	return len(e.Passed) + len(e.Failed) + len(e.Known) + len(e.Untested)
}

func sign(status Status) string {
	return map[Status]string{
		Passed: "✅", Failed: "❌", Known: "🔶", Untested: "⚪",
		Unstable: "🎲", Skipped: "⚪",
	}[status]
}

// details writes the evidence of what did not pass.
func details(b *strings.Builder, r *Report) {
	var details []string
	for _, s := range r.Scenarios {
		if s.Evidence != "" {
			details = append(details, plain.Details(fmt.Sprintf("%s: %s (%s)", s.Status, s.Name, s.Source), s.Evidence))
		}
	}
	if len(details) > plain.MostDetails {
		left := len(details) - plain.MostDetails
		details = append(details[:plain.MostDetails], fmt.Sprintf("\nAnd %d more; see the report as YAML.\n", left))
	}
	b.WriteString(strings.Join(details, ""))
}

func reproduce(b *strings.Builder, r *Report) {
	fmt.Fprintf(b, "\n## Reproduce\n\n    %s\n\n", plain.OneLine(r.Reproduce.Command))
	fmt.Fprintf(b, "With rehearse %s, suite %s (digest %s), provider %s, Kubernetes %s; %s.\n",
		plain.Cell(r.Reproduce.Rehearse), plain.Cell(r.Suite.Name), plain.Cell(r.Suite.Digest),
		plain.Cell(r.Reproduce.Provider),
		plain.Cell(strings.Join(r.Reproduce.Kubernetes, ", ")), r.Date.UTC().Format("2006-01-02 15:04 MST"))
	if len(r.Implementation.Contact) > 0 {
		fmt.Fprintf(b, "Contact: %s. %s\n", plain.Cell(strings.Join(r.Implementation.Contact, ", ")),
			plain.Cell(r.Implementation.URL))
	}
}
