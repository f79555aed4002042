package planning

import (
	"context"
	"fmt"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/systems"
)

// builds builds programs of Go modules. done has the result of each program that was built before.
type builds struct {
	modules systems.Modules
	done    map[clusters.ModuleProgram]error
}

// of builds the programs of a track. An error is about the n-th state.
func (b builds) of(ctx context.Context, track *Track) (n int, err error) {
	for n, state := range track.Path {
		for _, system := range state.Systems {
			program, _ := system.Program()
			err, known := b.done[program]
			if !known {
				_, err = systems.Build(ctx, system, b.modules)
				b.done[program] = err
			}
			if err != nil {
				return n, fmt.Errorf("prepare system %s: %w", system.Name, err)
			}
		}
	}
	return 0, nil
}

// kept returns the tracks whose programs can be built, and the scenarios of the others. Tracks are not shared yet.
// Every shard builds the programs of all shards, because all must leave out the same scenarios.
func (b builds) kept(ctx context.Context, tracks []*Track) (kept []*Track, leftOut []LeftOut) {
	for _, track := range tracks {
		n, why := b.of(ctx, track)
		if why == nil {
			kept = append(kept, track)
			continue
		}
		for _, entry := range track.Entries {
			leftOut = append(leftOut, LeftOut{
				Scenario: entry.Scenario, Err: fmt.Errorf("%s: %w", pathPlaces(entry.Scenario)[n], why),
			})
		}
	}
	return kept, leftOut
}
