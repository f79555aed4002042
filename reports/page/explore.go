package page

import (
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/explorations"
	"github.com/rehearse-dev/rehearse/reports/upgrades"
)

// OfExploration returns the page of an exploration.
func OfExploration(r *explorations.Report) ([]byte, error) {
	sentence := arrows(r.Sentence())
	v := &view{
		Title: "Rehearse: " + sentence, Sentence: sentence, Description: sentence, Verdict: verdictOf(r.ExitCode()),
		Reproduce: r.Command,
	}
	all, covered := r.Fields()
	v.Facts = times(r.Started, r.Finished, reports.Elapsed(r.Started, r.Finished))
	v.Facts = append(v.Facts, fact{"Kinds", fmt.Sprint(len(r.Kinds))},
		fact{"Fields", fmt.Sprintf("%d of %d that can be set", covered, all)},
		fact{"Objects", fmt.Sprintf("%d tried, %d crossed", r.Tried, r.Crossed)}, fact{"Dry runs", fmt.Sprint(r.DryRuns)},
		fact{"Seed", fmt.Sprint(r.Seed)})
	var fresh, known []finding
	for _, f := range r.Findings {
		if f.Known == "" {
			fresh = append(fresh, exploredFinding(f))
		} else {
			known = append(known, exploredFinding(f))
		}
	}
	v.Findings = fresh
	for _, line := range r.Unjudged {
		v.Findings = append(v.Findings, notJudged(line))
	}
	v.Findings = append(v.Findings, known...)
	if len(r.Matrix) > 0 {
		var path []*upgrades.State
		for _, s := range r.Path {
			path = append(path, &upgrades.State{Name: s.Name, Way: s.Way, Reached: s.Reached, Flips: s.Flips})
		}
		m := kindsMatrix(path, r.Matrix)
		m.Text = "The objects of each kind that crossed the path together, by their worst result at each state. A " +
			"cell counts results from before the findings were checked by their own scenarios."
		v.Matrices = append(v.Matrices, m)
	}
	for _, part := range []struct {
		title string
		lines []string
	}{{"Not tried", r.Untried}, {"Note", r.Notes}} {
		for _, line := range part.lines {
			v.Notes = append(v.Notes, part.title+": "+line)
		}
	}
	if line := r.DroppedLine(); line != "" {
		v.Notes = append(v.Notes, line)
	}
	return render(v)
}

// hazard gives hazards a colour of their own.
const hazard reports.Status = "hazard"

// notJudged returns what could not be judged as a finding.
func notJudged(line string) finding {
	title, reason, _ := strings.Cut(line, ": ")
	one := finding{Status: reports.Error, Severity: string(upgrades.Unjudged), Title: title}
	if reason != "" {
		one.Lines = []findingLine{{Name: "Reason", Text: reason}}
	}
	return one
}

func exploredFinding(f *explorations.Finding) finding {
	one := finding{
		Status: reports.Failed, Severity: string(f.Sort), Title: f.Title(), Hop: arrows(f.Hop()),
		Scenario: f.Scenario,
	}
	if f.Sort == explorations.Hazard {
		one.Status = hazard
	}
	if f.Known != "" {
		one.Status, one.Severity = reports.Known, "known "+string(f.Sort)
	}
	for _, line := range f.Lines() {
		one.Lines = append(one.Lines, findingLine{Name: strings.ToUpper(line[0][:1]) + line[0][1:], Text: line[1]})
	}
	return one
}
