package upgrades

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/reports"
)

// Part is the report of a shard, with where it was read.
type Part = reports.ShardOf[*Report]

// Piece returns the report as a shard.
func (r *Report) Piece() reports.Piece {
	return reports.Piece{Head: r.Head, Shard: r.Shard, Interrupted: r.Interrupted}
}

// Read reads an upgrade.json.
func Read(data []byte) (*Report, error) {
	return reports.Decode(data, "an upgrade.json", Format, func(r *Report) (string, bool) {
		return fmt.Sprintf("%d states", len(r.Path)), len(r.Path) > 0
	})
}

// Merge merges the reports of all shards, each of which must be there once. A state is reached if all shards reached
// it. The findings are in the order of the shards.
func Merge(parts []Part) (*Report, error) {
	results, head, err := reports.Join(parts)
	if err != nil {
		return nil, err
	}
	all := &Report{Head: head, Findings: []*Finding{}, Checks: []*Check{}, Matrix: []*Row{}}
	for _, s := range results[0].Path {
		all.Path = append(all.Path, &State{Name: s.Name, Way: s.Way, Flips: s.Flips, Reached: true})
	}
	for _, part := range results {
		all.add(part)
	}
	all.Notes = append(all.Notes, all.SampleNotes()...)
	slices.SortStableFunc(all.Checks, func(a, b *Check) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind))
	})
	slices.SortStableFunc(all.Matrix, func(a, b *Row) int { return cmp.Compare(a.Kind, b.Kind) })
	return all, nil
}

// add adds the results of a shard.
func (r *Report) add(part *Report) {
	r.Interrupted, r.Failure = r.Interrupted || part.Interrupted, joined(r.Failure, part.Failure)
	r.Objects = max(r.Objects, part.Objects) // each shard creates all objects
	r.Surveyed, r.Sampled, r.Requests = r.Surveyed+part.Surveyed, r.Sampled+part.Sampled, r.Requests+part.Requests
	for i, s := range part.Path {
		whole := r.Path[i]
		whole.Reached = whole.Reached && (s.Reached || part.Idle)
		whole.Transition, whole.Survey = max(whole.Transition, s.Transition), max(whole.Survey, s.Survey)
		if len(whole.Flips) == 0 {
			whole.Flips = s.Flips
		}
	}
	r.Sample = max(r.Sample, part.Sample)
	r.addTimeline(part)
	r.Matrix = append(r.Matrix, part.Matrix...) // each kind is in one shard
	notes := slices.DeleteFunc(slices.Clone(part.Notes), func(note string) bool {
		return slices.Contains(part.SampleNotes(), note)
	})
	r.Notes = reports.Union(r.Notes, notes)
	for _, f := range part.Findings {
		r.addFinding(f)
	}
	for _, check := range part.Checks {
		r.addCheck(check)
	}
}

// addFinding adds a finding that no other shard has. Each shard reports what happens to the cluster as a whole.
func (r *Report) addFinding(f *Finding) {
	for _, known := range r.Findings {
		if known.Severity == f.Severity && known.Check == f.Check && known.Kind == f.Kind && known.What == f.What &&
			known.State == f.State && slices.Equal(known.Objects, f.Objects) {
			known.Words = joined(known.Words, f.Words)
			return
		}
	}
	copied := *f
	r.Findings = append(r.Findings, &copied)
}

// joined joins texts that differ.
func joined(a, b string) string {
	if a == "" || b == "" || strings.Contains("\n"+a+"\n", "\n"+b+"\n") {
		return cmp.Or(a, b)
	}
	return a + "\n" + b
}

// addTimeline adds what happened to a shard's cluster. An idle shard has none.
func (r *Report) addTimeline(part *Report) {
	if !slices.ContainsFunc(part.Path, func(s *State) bool { return !s.Began.IsZero() }) {
		return
	}
	r.Timelines = append(r.Timelines, &Timeline{
		Shard: part.Shard.Number, Started: part.Started, Finished: part.Finished, Path: part.Path, Processes: part.Processes,
	})
}

// addCheck adds a check, or the worse result of one that several shards have, because it is about the objects that
// controllers create.
func (r *Report) addCheck(check *Check) {
	for _, known := range r.Checks {
		if known.Name == check.Name && known.Kind == check.Kind {
			if check.Severity.Worse(known.Severity) {
				known.Severity, known.Message = check.Severity, check.Message
			}
			return
		}
	}
	copied := *check
	r.Checks = append(r.Checks, &copied)
}
