package reports

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// MergeShards makes the one run of its shards, each of which must be there once. The tracks come in the order in which
// they were planned. What a shard that ended early did not judge is not judged in the whole.
func MergeShards(parts []Part) (*Run, error) {
	if err := CheckShards(Pieces(parts)); err != nil {
		return nil, err
	}
	all := Merge(parts)
	all.Shard = nil
	slices.SortStableFunc(all.Tracks, func(a, b *Track) int { return trackNumber(a) - trackNumber(b) })
	return all, nil
}

// Pieces are the shards that the parts are.
func Pieces(parts []Part) []Piece {
	var all []Piece
	for _, part := range parts {
		piece := part.Run.Piece()
		piece.From = part.From
		all = append(all, piece)
	}
	return all
}

// Piece is what there is to know of the result of one shard, of whatever command, with where it was read.
type Piece struct {
	Head

	From  string
	Shard *Shard
	// Provider of the clusters, where the command has several.
	Provider string
	// Interrupted says that the shard was interrupted before its end.
	Interrupted bool
}

// Piece is the run as a shard.
func (r *Run) Piece() Piece {
	return Piece{Head: r.Head, Shard: r.Shard, Provider: r.Provider, Interrupted: r.Interrupted}
}

// Sharded is a result of which there may be shards.
type Sharded interface{ Piece() Piece }

// ShardOf is the result of a shard, with where it was read.
type ShardOf[Result Sharded] struct {
	Result Result
	From   string
}

// Join checks that each shard is there once. It returns the results in the order of the shards, and how the one result
// of all begins: from the first start to the last end, with all commands. Where a shard ended early the whole did not
// finish.
func Join[Result Sharded](parts []ShardOf[Result]) ([]Result, Head, error) {
	pieces := PiecesOf(parts)
	if err := CheckShards(pieces); err != nil {
		return nil, Head{}, err
	}
	slices.SortFunc(pieces, func(a, b Piece) int { return a.Shard.Number - b.Shard.Number })
	parts = slices.SortedFunc(slices.Values(parts), func(a, b ShardOf[Result]) int {
		return a.Result.Piece().Shard.Number - b.Result.Piece().Shard.Number
	})
	head := pieces[0].Head
	var commands []string
	var results []Result
	for i, one := range pieces {
		if one.Started.Before(head.Started) {
			head.Started = one.Started
		}
		if one.Finished.After(head.Finished) {
			head.Finished = one.Finished
		}
		commands, results = append(commands, one.Command), append(results, parts[i].Result)
	}
	head.Command = strings.Join(commands, "\n")
	if Unfinished(pieces) != nil {
		head.Finished = time.Time{}
	}
	return results, head, nil
}

// PiecesOf are the shards that results are.
func PiecesOf[Result Sharded](parts []ShardOf[Result]) []Piece {
	var all []Piece
	for _, part := range parts {
		piece := part.Result.Piece()
		piece.From = part.From
		all = append(all, piece)
	}
	return all
}

// CheckShards reports shards that are missing, there twice, or of other runs.
func CheckShards(pieces []Piece) error {
	if len(pieces) == 0 {
		return errors.New("merge shards: there are none")
	}
	first := pieces[0]
	where := map[int]string{}
	var problems []error
	for _, one := range pieces {
		if one.Shard == nil {
			return fmt.Errorf("merge %s: it is a whole run, not a shard; rehearse report can show several run.json "+
				"as one",
				one.From)
		}
		switch other := where[one.Shard.Number]; {
		case one.Shard.Of != first.Shard.Of:
			problems = append(problems, fmt.Errorf("%s is one of %d shards, and %s is one of %d", one.From, one.Shard.Of,
				first.From, first.Shard.Of))
		case one.Program != first.Program:
			problems = append(problems, fmt.Errorf("%s was written by rehearse %s, and %s by rehearse %s", one.From,
				one.Program, first.From, first.Program))
		case one.Shard.Plan != first.Shard.Plan || one.Provider != first.Provider:
			problems = append(problems, fmt.Errorf("%s and %s are not parts of the same run: the scenarios, the "+
				"versions or the provider differ", one.From, first.From))
		case other != "":
			problems = append(problems, fmt.Errorf("shard %d is there twice: %s and %s", one.Shard.Number, other, one.From))
		}
		where[one.Shard.Number] = one.From
	}
	var missing []string
	for n := 1; n <= first.Shard.Of; n++ {
		if where[n] == "" {
			missing = append(missing, fmt.Sprintf("%d/%d", n, first.Shard.Of))
		}
	}
	if len(missing) > 0 && len(problems) == 0 {
		problems = append(problems, fmt.Errorf("missing: %s; a shard that did not run is not a success",
			strings.Join(missing, ", ")))
	}
	if err := errors.Join(problems...); err != nil {
		return fmt.Errorf("merge shards: %w", err)
	}
	return nil
}

// Unfinished is the error of a merged result whose shards did not all end: what they did not judge is not judged.
func Unfinished(pieces []Piece) error {
	var all []error
	for _, one := range pieces {
		if one.Interrupted || one.Finished.IsZero() {
			all = append(all, fmt.Errorf("shard %d/%d ended early: its remaining scenarios are not "+
				"judged", one.Shard.Number,
				one.Shard.Of))
		}
	}
	return errors.Join(all...)
}

// Union is the texts of all lists in their order, each once.
func Union(lists ...[]string) []string {
	var all []string
	for _, list := range lists {
		for _, text := range list {
			if !slices.Contains(all, text) {
				all = append(all, text)
			}
		}
	}
	return all
}

// trackNumber is the place of a track in the plan; what is skipped comes last.
func trackNumber(t *Track) int {
	n, err := strconv.Atoi(strings.TrimPrefix(t.Name, "track-"))
	if err != nil {
		return int(^uint(0) >> 1)
	}
	return n
}
