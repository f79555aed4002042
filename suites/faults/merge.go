package faults

import (
	"fmt"
	"slices"

	"github.com/rehearse-dev/rehearse/reports"
)

// Part is the result of a shard, and the file from which it was read.
type Part = reports.ShardOf[*Result]

// Piece is the result as a shard.
func (r *Result) Piece() reports.Piece { return reports.Piece{Head: r.Head, Shard: r.Shard} }

// Merge combines the results of all shards; each must be there exactly once.
func Merge(parts []Part) (*Result, error) {
	results, head, err := reports.Join(parts)
	if err != nil {
		return nil, err
	}
	first := results[0]
	all := &Result{Head: head, Suite: first.Suite, Trials: first.Trials, Partial: first.Partial}
	for _, result := range results {
		all.add(result)
	}
	all.settle()
	return all, nil
}

// add adds the trials of a shard.
func (r *Result) add(part *Result) {
	if m := part.Faults; m != nil {
		if r.Faults == nil {
			r.Faults = &Matrix{Suite: r.Suite, Core: m.Core, Repeat: m.Repeat, With: m.With}
		}
		r.Faults.Rows = append(r.Faults.Rows, m.Rows...)
		r.Faults.Before = append(r.Faults.Before, m.Before...)
		r.Faults.After = append(r.Faults.After, m.After...)
		r.Faults.Broken = append(r.Faults.Broken, m.Broken...)
		r.Faults.Took += m.Took
	}
	if f := part.Liberties; f != nil {
		if r.Liberties == nil {
			r.Liberties = &Freedom{Suite: r.Suite, Repeat: f.Repeat}
		}
		r.Liberties.Trials = append(r.Liberties.Trials, f.Trials...)
		r.Liberties.Took += f.Took
	}
}

// settle sorts the trials of all shards. If a fault is missing, requirements without a caught fault are not reported.
func (r *Result) settle() {
	if r.Faults != nil {
		slices.SortStableFunc(r.Faults.Rows, func(a, b Row) int {
			return slices.Index(r.Trials.Faults, a.Fault.Name) - slices.Index(r.Trials.Faults, b.Fault.Name)
		})
		r.Faults.Before, r.Faults.After = reports.Union(r.Faults.Before), reports.Union(r.Faults.After)
		r.Faults.Broken = reports.Union(r.Faults.Broken)
		r.Faults.Partial = r.Partial || len(r.Faults.Rows) < len(r.Trials.Faults)
	}
	if r.Liberties != nil {
		slices.SortStableFunc(r.Liberties.Trials, func(a, b Trial) int {
			return slices.Index(r.Trials.Liberties, a.Name) - slices.Index(r.Trials.Liberties, b.Name)
		})
	}
}

// Untried are the faults and liberties without a result, because a run ended early. A shard names none: it
// does not record which of the trials are its own.
func (r *Result) Untried() []string {
	if r.Shard != nil {
		return nil
	}
	return append(
		untried("fault", r.Trials.Faults, func(name string) bool {
			return r.Faults != nil && slices.ContainsFunc(r.Faults.Rows, func(row Row) bool { return row.Fault.Name == name })
		}),
		untried("liberty", r.Trials.Liberties, func(name string) bool {
			return r.Liberties != nil && slices.ContainsFunc(r.Liberties.Trials, func(t Trial) bool { return t.Name == name })
		})...)
}

// untried are the names of a kind without a result; one text if it is all of several.
func untried(kind string, names []string, has func(name string) bool) []string {
	left := slices.DeleteFunc(slices.Clone(names), has)
	if len(left) > 1 && len(left) == len(names) {
		return []string{fmt.Sprintf("every %s", kind)}
	}
	for i, name := range left {
		left[i] = kind + " " + name
	}
	return left
}
