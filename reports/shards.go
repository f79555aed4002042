package reports

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// MergeShards combines the shards of a run, each of which must be given exactly once. Tracks are in the planned order.
// What a shard that ended early did not judge stays not judged.
func MergeShards(parts []Part) (*Run, error) {
	if err := CheckShards(Pieces(parts)); err != nil {
		return nil, err
	}
	all := Merge(parts)
	all.Shard = nil
	slices.SortStableFunc(all.Tracks, func(a, b *Track) int { return slices.Compare(trackNumbers(a), trackNumbers(b)) })
	return all, nil
}

// Pieces returns the parts as shards.
func Pieces(parts []Part) []Piece {
	var all []Piece
	for _, part := range parts {
		piece := part.Run.Piece()
		piece.From = part.From
		all = append(all, piece)
	}
	return all
}

// Piece describes the result of one shard of any command. From is the path that it was read from.
type Piece struct {
	Head

	From  string
	Shard *Shard
	// Provider of the clusters, if the command supports several.
	Provider string
	// Interrupted says that the shard was interrupted before its end.
	Interrupted bool
}

// Piece returns the run as a shard.
func (r *Run) Piece() Piece {
	return Piece{Head: r.Head, Shard: r.Shard, Provider: r.Provider, Interrupted: r.Interrupted}
}

// Sharded is a result that can have shards.
type Sharded interface{ Piece() Piece }

// Decode decodes a result that a command wrote into a file ("an explore.json"). has says in words what every such file
// has, and whether this one has it.
func Decode[R any, P interface {
	*R
	Sharded
}](data []byte, file string, format int, has func(P) (string, bool)) (P, error) {
	r := P(new(R))
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	var content any
	if err := json.Unmarshal(data, &content); err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	if hasNull(content) {
		return nil, fmt.Errorf("read %s: it has null in a list, which rehearse does not write", file)
	}
	words, ok := has(r)
	if head := r.Piece().Head; head.Format != format || !ok {
		return nil, fmt.Errorf("read %s: it has format %d and %s; this rehearse reads format %d; it was written by rehearse "+
			"%s", file, head.Format, words, format, head.Program)
	}
	return r, nil
}

// hasNull reports whether a list in a value has null as an element.
func hasNull(value any) bool {
	switch value := value.(type) {
	case []any:
		return slices.ContainsFunc(value, func(item any) bool { return item == nil || hasNull(item) })
	case map[string]any:
		for _, field := range value {
			if hasNull(field) {
				return true
			}
		}
	}
	return false
}

// ShardOf is the result of a shard, with the path that it was read from.
type ShardOf[Result Sharded] struct {
	Result Result
	From   string
}

// Join checks that each shard is given exactly once. It returns the results in the order of the shards, and the head
// of the combined result: from the first start to the last end, with all commands. If a shard ended early, the
// combined result is unfinished.
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
	for _, one := range pieces {
		head.Build = withAnother(head.Build, one.Build, ", ")
	}
	if Unfinished(pieces) != nil {
		head.Finished = time.Time{}
	}
	return results, head, nil
}

// PiecesOf returns the results as shards.
func PiecesOf[Result Sharded](parts []ShardOf[Result]) []Piece {
	var all []Piece
	for _, part := range parts {
		piece := part.Result.Piece()
		piece.From = part.From
		all = append(all, piece)
	}
	return all
}

// CheckShards reports shards that are missing, given twice, or parts of different runs.
func CheckShards(pieces []Piece) error {
	missing, err := MissingShards(pieces)
	if err == nil && len(missing) > 0 {
		err = fmt.Errorf("missing: %s; a shard that did not run is not a success", strings.Join(missing, ", "))
	}
	if err != nil {
		return fmt.Errorf("merge shards: %w", err)
	}
	return nil
}

// MissingShards returns the shards that are missing, such as "2/3". It reports shards that are given twice, or parts of
// different runs.
func MissingShards(pieces []Piece) ([]string, error) {
	if len(pieces) == 0 {
		return nil, errors.New("there are none")
	}
	first := pieces[0]
	where := map[int]string{}
	var problems []error
	for _, one := range pieces {
		if one.Shard == nil {
			return nil, fmt.Errorf("%s is a whole result, not a shard; rehearse report can show several "+
				"run.json as one", one.From)
		}
		switch other := where[one.Shard.Number]; {
		case one.Shard.Of != first.Shard.Of:
			problems = append(problems, fmt.Errorf("%s is one of %d shards, and %s is one of %d", one.From, one.Shard.Of,
				first.From, first.Shard.Of))
		case one.Program != first.Program:
			problems = append(problems, fmt.Errorf("%s was written by rehearse %s, and %s by rehearse %s", one.From,
				one.Program, first.From, first.Program))
		case one.Shard.Plan != first.Shard.Plan || one.Provider != first.Provider:
			problems = append(problems, fmt.Errorf("%s and %s are not parts of the same run: the input, the "+
				"versions, the systems, other options or the provider differ, or one of them could not build what the other "+
				"built (see its output)", one.From, first.From))
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
	return missing, errors.Join(problems...)
}

// PartOf says that a run is only one shard of several; "" if it is a whole run.
func PartOf(run *Run) string {
	if run.Shard == nil || run.Shard.Of < 2 {
		return ""
	}
	return fmt.Sprintf("This is shard %d/%d: the scenarios of the other shards are not in this report.",
		run.Shard.Number, run.Shard.Of)
}

// Unfinished returns an error if shards ended early: their remaining scenarios are not judged.
func Unfinished(pieces []Piece) error {
	var all []error
	for _, one := range pieces {
		if one.Interrupted || one.Finished.IsZero() {
			all = append(all, fmt.Errorf("shard %d/%d ended early: its remaining scenarios are not judged",
				one.Shard.Number, one.Shard.Of))
		}
	}
	return errors.Join(all...)
}

// Union returns the texts of all lists in order, each once.
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

// trackNumbers are the position of a track in the plan, and that of its part, if shards split the track: 2 and 1 of
// track-2-1. Skipped scenarios are last.
func trackNumbers(t *Track) []int {
	var all []int
	for _, text := range strings.Split(strings.TrimPrefix(t.Name, "track-"), "-") {
		n, err := strconv.Atoi(text)
		if err != nil {
			return []int{math.MaxInt}
		}
		all = append(all, n)
	}
	return all
}
