package explorations

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/upgrades"
)

// Part is the report of a shard, with where it was read.
type Part = reports.ShardOf[*Report]

// Piece returns the report as a shard.
func (r *Report) Piece() reports.Piece {
	return reports.Piece{Head: r.Head, Shard: r.Shard, Interrupted: r.Interrupted}
}

// Read reads an explore.json.
func Read(data []byte) (*Report, error) {
	return reports.Decode(data, "an explore.json", Format, func(r *Report) (string, bool) {
		return fmt.Sprintf("%d states", len(r.Path)), len(r.Path) > 0
	})
}

// Merge merges the reports of all shards, each of which must be there once. A state is reached if all shards reached
// it.
func Merge(parts []Part) (*Report, error) {
	results, head, err := reports.Join(parts)
	if err != nil {
		return nil, err
	}
	first := results[0]
	all := &Report{Head: head, Seed: first.Seed, Kinds: []*Kind{}, Findings: []*Finding{}}
	for _, s := range first.Path {
		all.Path = append(all.Path, &State{Name: s.Name, Flips: s.Flips, Reached: true})
	}
	growing := 0.0
	for _, part := range results {
		all.add(part)
		if part.PerSecond > 0 {
			growing += float64(part.DryRuns) / part.PerSecond
		}
	}
	if growing > 0 {
		all.PerSecond = float64(all.DryRuns) / growing
	}
	slices.SortStableFunc(all.Kinds, func(a, b *Kind) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortStableFunc(all.Gates, func(a, b *Gate) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortStableFunc(all.Matrix, func(a, b *upgrades.Row) int { return cmp.Compare(a.Kind, b.Kind) })
	Sorted(all.Findings)
	return all, nil
}

// add adds the results of a shard.
func (r *Report) add(part *Report) {
	r.Failure = cmp.Or(r.Failure, part.Failure)
	r.Interrupted, r.Late = r.Interrupted || part.Interrupted, r.Late || part.Late
	for i, s := range part.Path {
		whole := r.Path[i]
		whole.Reached = whole.Reached && (s.Reached || part.Idle)
		whole.Seconds, whole.Accepted = whole.Seconds+s.Seconds, whole.Accepted+s.Accepted
		whole.Way = cmp.Or(whole.Way, s.Way)
	}
	r.Tried, r.Crossed, r.DryRuns = r.Tried+part.Tried, r.Crossed+part.Crossed, r.DryRuns+part.DryRuns
	r.Kinds = append(r.Kinds, part.Kinds...)
	for _, gate := range part.Gates {
		r.addGate(gate)
	}
	for _, row := range part.Matrix {
		r.addRow(row)
	}
	r.Findings, r.Dropped = joined(r.Findings, part.Findings), joined(r.Dropped, part.Dropped)
	for into, lines := range map[*[]string][]string{
		&r.Unjudged: part.Unjudged, &r.Untried: part.Untried, &r.Notes: part.Notes,
	} {
		for _, line := range lines {
			*into = append(*into, fmt.Sprintf("shard %d/%d: %s", part.Shard.Number, part.Shard.Of, line))
		}
	}
}

func (r *Report) addGate(gate *Gate) {
	at := slices.IndexFunc(r.Gates, func(known *Gate) bool { return known.Name == gate.Name })
	if at < 0 {
		r.Gates = append(r.Gates, &Gate{Name: gate.Name})
		at = len(r.Gates) - 1
	}
	whole := r.Gates[at]
	whole.Fields = reports.Union(whole.Fields, gate.Fields)
	whole.Accepted = reports.Union(whole.Accepted, gate.Accepted)
	whole.Rejected = reports.Union(whole.Rejected, gate.Rejected)
}

// addRow adds up a kind of several shards or clusters: each has the objects that its controllers created.
func (r *Report) addRow(row *upgrades.Row) {
	at := slices.IndexFunc(r.Matrix, func(known *upgrades.Row) bool { return known.Kind == row.Kind })
	if at < 0 {
		r.Matrix = append(r.Matrix, &upgrades.Row{Kind: row.Kind, Cells: make([]upgrades.Cell, len(r.Path))})
		at = len(r.Matrix) - 1
	}
	whole := r.Matrix[at]
	whole.Objects += row.Objects
	for i := range min(len(row.Cells), len(whole.Cells)) {
		to, cell := &whole.Cells[i], row.Cells[i]
		to.Good, to.Breaks, to.Changes = to.Good+cell.Good, to.Breaks+cell.Breaks, to.Changes+cell.Changes
		to.Unjudged, to.Before = to.Unjudged+cell.Unjudged, to.Before+cell.Before
	}
}

// AddCrossing adds the results of objects that crossed the path together in one cluster.
func (r *Report) AddCrossing(path []*upgrades.State, matrix []*upgrades.Row, crossed int) {
	for i, s := range path {
		whole := r.Path[i]
		whole.Way, whole.Seconds = s.Way, whole.Seconds+s.Survey
		whole.Reached = s.Reached && (whole.Reached || r.crossings == 0)
	}
	for _, row := range matrix {
		r.addRow(row)
	}
	r.Crossed += crossed
	r.crossings++
}

// joined merges the findings that several shards share. Of each, it keeps the worst sort, then the object and the
// scenario with the best proof, and among equal proofs the smallest object.
func joined(all, more []*Finding) []*Finding {
	for _, f := range more {
		at := slices.IndexFunc(all, func(known *Finding) bool { return known.ID == f.ID })
		if at < 0 {
			one := *f
			all = append(all, &one)
			continue
		}
		known, one := all[at], *all[at]
		better := cmp.Or(sortRank(f.Sort)-sortRank(known.Sort), proofRank(f)-proofRank(known),
			len(f.Object)-len(known.Object)) < 0
		if better {
			one = *f
		}
		one.Objects = known.Objects + f.Objects
		one.Kinds, one.Fields = reports.Union(known.Kinds, f.Kinds), reports.Union(known.Fields, f.Fields)
		if known.Known == "" || f.Known == "" { // it is known only on the kinds of one shard
			one.Known, one.Link = "", ""
		}
		all[at] = &one
	}
	return all
}

func sortRank(s Sort) int { return slices.Index(sorts(), s) }

// Worse reports whether a sort is worse than another one.
func (s Sort) Worse(than Sort) bool { return sortRank(s) < sortRank(than) }

func proofRank(f *Finding) int { return slices.Index([]Proof{Shown, NotTried, NotShown}, f.Proof) }

// Sorted sorts findings: the worst sort first, and within a sort those with the most objects.
func Sorted(all []*Finding) {
	slices.SortStableFunc(all, func(a, b *Finding) int {
		return cmp.Or(sortRank(a.Sort)-sortRank(b.Sort), b.Objects-a.Objects,
			cmp.Compare(a.ID, b.ID))
	})
}
