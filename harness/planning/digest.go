package planning

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/systems"
	"github.com/rehearse-dev/rehearse/clusters/systems/documents"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// digestOf is equal for shards of one run: plans with the same scenarios and systems on the same tracks, and with the
// same shard for each track. Different timings can split or deal the tracks differently: then a scenario could be in no
// shard.
func (o Options) digestOf(tracks []*Track, skipped []*Skipped, leftOut []LeftOut) string {
	sum := sha256.New()
	write := func(s *scenarios.Scenario) { fmt.Fprintf(sum, "%s\x00%s\x00%s\x00", s.Title(), s.Text, s.Definitions) }
	var states []clusters.State
	for _, part := range balanced(max(o.Shard.Of, 1), tracks, o.Timings) {
		track := part.track()
		fmt.Fprintf(sum, "%s\x00%d\x00", track.Name, part.shard)
		for _, state := range track.Path { // the same on every machine
			fmt.Fprintf(sum, "%s\x00", state)
		}
		for _, entry := range track.Entries {
			write(entry.Scenario)
		}
		states = append(states, track.Path...)
	}
	WriteSystems(sum, o.Definitions, states)
	for _, one := range skipped {
		write(one.Scenario)
	}
	for _, out := range leftOut {
		write(out.Scenario)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// WriteSystems writes what the texts of states do not say about their systems: the definitions that replace those of
// the scenarios, and the contents of the files that systems name. Paths are not written, because they may differ
// between machines.
func WriteSystems(into io.Writer, definitions map[string]string, states []clusters.State) {
	for _, name := range slices.Sorted(maps.Keys(definitions)) {
		fmt.Fprintf(into, "%s\x00%s\x00", name, definitions[name])
	}
	contents := map[string]string{}
	for _, state := range states {
		for _, system := range state.Systems {
			for _, file := range systems.Files(system) {
				if _, known := contents[file]; !known {
					contents[file] = documents.DigestOf(file)
				}
				fmt.Fprintf(into, "%s\x00%s\x00", system.Name, contents[file])
			}
		}
	}
}
