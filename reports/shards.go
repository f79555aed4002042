package reports

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// MergeShards makes the one run of its shards, each of which must be there once. The tracks come in the order in which
// they were planned. What a shard that ended early did not judge is not judged in the whole.
func MergeShards(parts []Part) (*Run, error) {
	if err := checkShards(parts); err != nil {
		return nil, err
	}
	all := Merge(parts)
	all.Shard = nil
	slices.SortStableFunc(all.Tracks, func(a, b *Track) int { return trackNumber(a) - trackNumber(b) })
	return all, nil
}

// checkShards reports shards that are missing, there twice, or of other runs.
func checkShards(parts []Part) error {
	if len(parts) == 0 {
		return errors.New("merge shards: there are none")
	}
	first := parts[0].Run
	where := map[int]string{}
	var problems []error
	for _, part := range parts {
		run := part.Run
		if run.Shard == nil {
			return fmt.Errorf("merge %s: it is no shard, but a whole run; rehearse report shows several runs as one", part.From)
		}
		switch other := where[run.Shard.Number]; {
		case run.Shard.Of != first.Shard.Of:
			problems = append(problems, fmt.Errorf("%s is one of %d shards, and %s is one of %d", part.From, run.Shard.Of,
				parts[0].From, first.Shard.Of))
		case run.Program != first.Program:
			problems = append(problems, fmt.Errorf("%s was written by rehearse %s, and %s by rehearse %s", part.From,
				run.Program, parts[0].From, first.Program))
		case run.Shard.Plan != first.Shard.Plan || run.Provider != first.Provider:
			problems = append(problems, fmt.Errorf("%s and %s are no parts of one run: the scenarios, the versions or the "+
				"provider differ", part.From, parts[0].From))
		case other != "":
			problems = append(problems, fmt.Errorf("shard %d is there twice: %s and %s", run.Shard.Number, other, part.From))
		}
		where[run.Shard.Number] = part.From
	}
	var missing []string
	for n := 1; n <= first.Shard.Of; n++ {
		if where[n] == "" {
			missing = append(missing, fmt.Sprintf("%d/%d", n, first.Shard.Of))
		}
	}
	if len(missing) > 0 && len(problems) == 0 {
		problems = append(problems, fmt.Errorf("missing: %s; a shard that did not run is no success",
			strings.Join(missing, ", ")))
	}
	if err := errors.Join(problems...); err != nil {
		return fmt.Errorf("merge shards: %w", err)
	}
	return nil
}

// trackNumber is the place of a track in the plan; what is skipped comes last.
func trackNumber(t *Track) int {
	n, err := strconv.Atoi(strings.TrimPrefix(t.Name, "track-"))
	if err != nil {
		return int(^uint(0) >> 1)
	}
	return n
}
