package matrices

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/rehearse-dev/rehearse/reports"
)

// Part is the matrix of a shard, with where it was read.
type Part = reports.ShardOf[*Report]

// Piece returns the matrix as a shard.
func (r *Report) Piece() reports.Piece {
	return reports.Piece{Head: r.Head, Shard: r.Shard, Interrupted: r.Interrupted}
}

// OfShard keeps the cells of a planned run, which may be a shard. The first shard also has those that cannot run.
func (r *Report) OfShard(run *reports.Run) {
	if r.Shard = run.Shard; r.Shard == nil {
		return
	}
	mine := map[string]bool{"": r.Shard.Number == 1}
	for _, track := range run.Tracks {
		for _, s := range track.Scenarios {
			mine[s.Name] = true
		}
	}
	r.Cells = slices.DeleteFunc(r.Cells, func(c *Cell) bool { return !mine[c.Title] })
}

// Merge merges the matrices of all shards, each of which must be there once. The merged run sets the results.
func Merge(parts []Part, run *reports.Run) (*Report, error) {
	list, head, err := reports.Join(parts)
	if err != nil {
		return nil, err
	}
	all := *list[0]
	all.Head, all.Shard, all.Cells = head, nil, nil
	for i, r := range list {
		if r.System != all.System || !slices.Equal(r.Versions, all.Versions) ||
			!slices.Equal(r.Kubernetes, all.Kubernetes) || !slices.Equal(r.Scenarios, all.Scenarios) {
			return nil, fmt.Errorf("merge shards: shards 1 and %d are not parts of the same matrix: the system, the "+
				"versions or the "+
				"scenarios differ", i+1)
		}
		all.Cells = append(all.Cells, r.Cells...)
	}
	if has, wants := len(all.Cells), len(all.Scenarios)*len(all.Versions)*len(all.Kubernetes); has != wants {
		return nil, fmt.Errorf("merge shards: together they have %d cells, and the matrix has %d", has, wants)
	}
	slices.SortStableFunc(all.Cells, func(a, b *Cell) int {
		return cmp.Or(
			slices.Index(all.Scenarios, a.Scenario)-slices.Index(all.Scenarios, b.Scenario),
			slices.Index(all.Versions, a.Version)-slices.Index(all.Versions, b.Version),
			slices.Index(all.Kubernetes, a.Kubernetes)-slices.Index(all.Kubernetes, b.Kubernetes),
		)
	})
	all.Judge(run)
	return &all, nil
}
