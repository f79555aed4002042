package survey

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/reports/upgrades"
)

// Judge adds findings, checks and the matrix of kinds to the report. A failure at the first state is not blamed on a
// transition.
func (s *Survey) Judge(report *upgrades.Report) {
	for _, w := range s.waiting { // there is no next state
		s.note(w.pod, Condition, Outcome{Answer: Unknown, Words: "at the last state, it does not run yet: " + w.why})
	}
	j := judge{
		path: report.Path, hop: report.Hop, targets: s.targets, first: s.first, checks: map[[2]string]*upgrades.Check{},
		cells: map[*Target]map[int]upgrades.Severity{},
	}
	slices.SortStableFunc(s.order, func(a, b *Series) int { // dry runs are answered in any order
		return cmp.Or(cmp.Compare(a.Root.String(), b.Root.String()), cmp.Compare(a.Check, b.Check),
			cmp.Compare(kindOf(a), kindOf(b)))
	})
	for _, series := range s.order {
		j.series(series)
	}
	slices.SortFunc(j.checkOrder, func(a, b *upgrades.Check) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind))
	})
	report.Findings = append(report.Findings, j.findings()...)
	report.Checks = append(report.Checks, j.checkOrder...)
	Sort(report.Findings)
	report.Surveyed, report.Sampled = len(s.targets), s.Sampled()
	report.Matrix = j.matrix(s.targets)
}

// Sort puts findings in order, worst first.
func Sort(findings []*upgrades.Finding) {
	rank := map[upgrades.Severity]int{}
	for i, severity := range upgrades.Severities() {
		rank[severity] = i
	}
	slices.SortStableFunc(findings, func(a, b *upgrades.Finding) int {
		return cmp.Or(cmp.Compare(rank[a.Severity], rank[b.Severity]), cmp.Compare(weight(a.Check), weight(b.Check)),
			cmp.Compare(len(b.Objects), len(a.Objects)))
	})
}

// weight orders the findings of checks: the lowest is the most serious.
func weight(check string) int { return slices.Index(Checks(), Check(check)) }

type judge struct {
	path    []*upgrades.State
	hop     func(state int) string
	targets []*Target
	// first is the first state at which each given object was checked.
	first map[*Target]int
	// seen are the sightings, before they are joined.
	seen       []*sighting
	checks     map[[2]string]*upgrades.Check
	checkOrder []*upgrades.Check
	// cells are the worst severity of each given object at each state; "" is good.
	cells map[*Target]map[int]upgrades.Severity
}

// series judges the outcomes of one check.
func (j *judge) series(s *Series) {
	states := slices.Sorted(maps.Keys(s.Outcomes))
	if len(states) == 0 {
		return
	}
	j.check(s)
	for _, state := range states {
		j.mark(s.Root, state, "")
	}
	base, later := j.base(s, states)
	var all spells
	for i, state := range later {
		now := s.since(base, state)
		if lasts(s.Check, base, now) {
			j.mark(s.Root, state, upgrades.Before)
		} else if severity := severityOf(s, now); severity != "" {
			all = all.with(severity, now.Class, state, later[max(i-1, 0)], s.Check)
		}
	}
	for _, one := range all {
		j.add(s, one.severity, one.states, s.since(base, one.states[0]))
	}
}

// since is the outcome at a state. Of warnings, and of what does not run, it has only what the first state lacks.
func (s *Series) since(base Outcome, state int) Outcome {
	now := s.Outcomes[state]
	if s.Check == Condition && base.Answer == Bad && now.Answer == Bad && now.Class != base.Class {
		return now.without(base)
	}
	if s.Check != Warning {
		return now
	}
	now.Words = strings.Join(partsWithout(now.Words, base.Words), betweenParts)
	now.Class = now.Words
	return now
}

// without removes what another outcome has, too, if anything is left.
func (o Outcome) without(other Outcome) Outcome {
	class := strings.Fields(other.Class)
	left := slices.DeleteFunc(strings.Fields(o.Class), func(word string) bool { return slices.Contains(class, word) })
	if said := partsWithout(o.Words, other.Words); len(left) > 0 && len(said) > 0 {
		o.Class, o.Words = strings.Join(left, " "), strings.Join(said, betweenParts)
	}
	return o
}

// partsWithout are the parts of words that others do not have.
func partsWithout(words, others string) []string {
	known := strings.Split(others, betweenParts)
	return slices.DeleteFunc(strings.Split(words, betweenParts), func(part string) bool {
		return slices.Contains(known, part)
	})
}

func severityOf(s *Series, now Outcome) upgrades.Severity {
	switch {
	case now.Answer == Bad:
		return upgrades.Breaks
	case now.Answer == Unknown:
		return upgrades.Unjudged
	case now.Answer == Changed, s.Check == Warning && now.Words != "":
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

func (j *judge) mark(t *Target, state int, severity upgrades.Severity) {
	if j.cells[t] == nil {
		j.cells[t] = map[int]upgrades.Severity{}
	}
	if before, ok := j.cells[t][state]; !ok || severity.Worse(before) {
		j.cells[t][state] = severity
	}
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
