package survey

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/reports/upgrades"
)

// Judge puts into the report what the series show. What was so at the first state is not blamed on a transition.
func (s *Survey) Judge(report *upgrades.Report) {
	j := judge{path: report.Path, found: map[string]*upgrades.Finding{}, checks: map[[2]string]*upgrades.Check{}, cells: map[*Target]map[int]upgrades.Severity{}}
	slices.SortStableFunc(s.order, func(a, b *Series) int { // dry runs are answered in any order
		return cmp.Or(cmp.Compare(a.Root.String(), b.Root.String()), cmp.Compare(a.Check, b.Check), cmp.Compare(kindOf(a), kindOf(b)))
	})
	for _, series := range s.order {
		j.series(series)
	}
	slices.SortFunc(j.checkOrder, func(a, b *upgrades.Check) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind))
	})
	report.Checks = append(report.Checks, j.checkOrder...)
	report.Findings = append(report.Findings, j.order...)
	Sort(report.Findings)
	report.Surveyed = len(s.targets)
	report.Matrix = j.matrix(s.targets)
}

// Sort puts findings in order, worst first.
func Sort(findings []*upgrades.Finding) {
	rank := map[upgrades.Severity]int{}
	for i, severity := range upgrades.Severities() {
		rank[severity] = i
	}
	checks := map[string]int{}
	for i, check := range worstFirst() {
		checks[string(check)] = i
	}
	slices.SortStableFunc(findings, func(a, b *upgrades.Finding) int {
		return cmp.Or(cmp.Compare(rank[a.Severity], rank[b.Severity]), cmp.Compare(checks[a.Check], checks[b.Check]), cmp.Compare(len(b.Objects), len(a.Objects)))
	})
}

func worstFirst() []Check {
	return []Check{Moved, Read, Content, Update, Label, Status, Finalizer, Delete, Apply, Create, Warning}
}

type judge struct {
	path       []*upgrades.State
	found      map[string]*upgrades.Finding
	order      []*upgrades.Finding
	checks     map[[2]string]*upgrades.Check
	checkOrder []*upgrades.Check
	// cells are the worst of each given object at each state; "" is good.
	cells map[*Target]map[int]upgrades.Severity
}

// series judges the outcomes of one check.
func (j *judge) series(s *Series) {
	states := slices.Sorted(maps.Keys(s.Outcomes))
	if len(states) == 0 {
		return
	}
	check := j.check(s)
	base := s.Outcomes[states[0]]
	for _, state := range states {
		j.mark(s.Root, state, "")
	}
	switch base.Answer {
	case Unknown:
		j.add(s, check, upgrades.Unjudged, states[:1], base)
		return
	case Bad, Changed:
		j.add(s, check, upgrades.Before, states[:1], base)
		return
	}
	bySeverity := map[upgrades.Severity][]int{}
	for _, state := range states[1:] {
		if severity := severityOf(s, base, s.Outcomes[state]); severity != "" {
			bySeverity[severity] = append(bySeverity[severity], state)
		}
	}
	for _, severity := range upgrades.Severities() {
		if at := bySeverity[severity]; len(at) > 0 {
			j.add(s, check, severity, at, s.Outcomes[at[0]])
		}
	}
}

func severityOf(s *Series, base, now Outcome) upgrades.Severity {
	switch {
	case now.Answer == Bad:
		return upgrades.Breaks
	case now.Answer == Unknown:
		return upgrades.Unjudged
	case now.Answer == Changed, s.Check == Warning && now.Words != "" && now.Words != base.Words:
		return upgrades.Changes
	}
	return ""
}

func (j *judge) check(s *Series) *upgrades.Check {
	id := [2]string{string(s.Check), kindOf(s)}
	if j.checks[id] == nil {
		j.checks[id] = &upgrades.Check{Name: id[0], Kind: id[1]}
		j.checkOrder = append(j.checkOrder, j.checks[id])
	}
	return j.checks[id]
}

// add takes in what a series shows: it joins a finding of the same, or is a new one.
func (j *judge) add(s *Series, check *upgrades.Check, severity upgrades.Severity, states []int, o Outcome) {
	for _, state := range states {
		j.mark(s.Root, state, severity)
	}
	object := upgrades.Object{Name: s.Root.String(), Place: s.Root.Given.Place()}
	id := fmt.Sprint(severity, s.Check, kindOf(s), states, o.Class)
	if f := j.found[id]; f != nil {
		f.Objects = append(f.Objects, object)
		return
	}
	f := &upgrades.Finding{
		Severity: severity, Check: string(s.Check), Kind: kindOf(s), Objects: []upgrades.Object{object},
		State: states[0], States: states, Hop: j.hop(states[0]), What: what(s, o.Answer), Words: o.Words, Advice: advice(s.Check, severity, j.path[states[0]].Way),
	}
	if severity == upgrades.Breaks {
		f.Back, f.Flips = j.back(s, states[0]), j.path[states[0]].Flips
	}
	j.found[id], j.order = f, append(j.order, f)
	if worse(severity, check.Severity) {
		check.Severity, check.Message = severity, f.What+": "+f.Words
	}
}

func (j *judge) mark(t *Target, state int, severity upgrades.Severity) {
	if j.cells[t] == nil {
		j.cells[t] = map[int]upgrades.Severity{}
	}
	if before, ok := j.cells[t][state]; !ok || worse(severity, before) {
		j.cells[t][state] = severity
	}
}

// worse says whether one severity is worse than another; "" is good.
func worse(a, b upgrades.Severity) bool {
	if a == "" || a == b {
		return false
	}
	all := upgrades.Severities()
	return b == "" || slices.Index(all, a) < slices.Index(all, b)
}

// hop names the transition to a state.
func (j *judge) hop(state int) string {
	if state == 0 {
		return j.path[0].Name
	}
	return j.path[state-1].Name + " -> " + j.path[state].Name
}

// back says whether the other direction mends what came with a state.
func (j *judge) back(s *Series, state int) string {
	undoes := upgrades.Back
	name := "the way back"
	if j.path[state].Way == upgrades.Back {
		undoes, name = upgrades.Up, "going up again"
	}
	later := -1
	for i := state + 1; i < len(j.path); i++ {
		if _, asked := s.Outcomes[i]; asked && j.path[i].Way == undoes {
			later = i
		}
		if later >= 0 && s.Outcomes[later].Answer == Good {
			break
		}
	}
	switch {
	case later < 0:
		return name + " was not rehearsed"
	case s.Check == Moved && s.Outcomes[later].Answer == Bad:
		return name + " does it once more"
	case s.Check == Moved:
		return name + " moves nothing"
	case s.Outcomes[later].Answer == Good:
		return name + " mends it"
	case s.Outcomes[later].Answer == Unknown:
		return "whether " + name + " mends it could not be judged"
	}
	return name + " does not mend it"
}

// matrix counts the given objects of each kind at each state.
func (j *judge) matrix(targets []*Target) []*upgrades.Row {
	rows := map[schema.GroupKind]*upgrades.Row{}
	var order []*upgrades.Row
	for _, t := range targets {
		row := rows[t.GVK.GroupKind()]
		if row == nil {
			row = &upgrades.Row{Kind: t.GVK.GroupKind().String(), Cells: make([]upgrades.Cell, len(j.path))}
			rows[t.GVK.GroupKind()], order = row, append(order, row)
		}
		row.Objects++
		for state, severity := range j.cells[t] {
			row.Cells[state].Add(severity)
		}
	}
	slices.SortFunc(order, func(a, b *upgrades.Row) int { return cmp.Compare(a.Kind, b.Kind) })
	return order
}
