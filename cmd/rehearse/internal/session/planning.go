package session

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/builtin"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/pastruns"
	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/planning"
)

// PlanOptions are the options of every plan: this program's simulators, and the modules of the user's cache.
func PlanOptions(known builtin.Suites, progress clusters.Progress) (harness.PlanOptions, error) {
	options := harness.PlanOptions{Snapshots: true}
	var err error
	if options.Simulators, err = known.Simulators().Own(); err != nil {
		return options, err
	}
	options.Modules, err = cli.CachedReleases(progress)
	return options, err
}

// ShardFlags choose a part of a run, and the timings that balance the parts.
type ShardFlags struct{ Shard, Timings string }

// AddTo adds the flags to a command.
func (s *ShardFlags) AddTo(command *cobra.Command) {
	command.Flags().StringVar(&s.Shard, "shard", "", "run only this part of the clusters: 2/5 is the second of "+
		"five; rehearse merge merges all parts")
	command.Flags().StringVar(&s.Timings, "timings", "",
		"run.json of an earlier run, to balance the shards by its times (default: by the number of transitions)")
}

// Put sets the shard in the options of a plan. systems are the values of --system.
func (s *ShardFlags) Put(into *harness.PlanOptions, systems ...string) error {
	var err error
	if into.Shard, err = planning.ParseShard(s.Shard); err != nil {
		return fmt.Errorf("--shard: %w", err)
	}
	if into.Shard.Of > 0 {
		if into.Definitions, err = cli.DefinitionFiles(systems); err != nil {
			return err
		}
	}
	if s.Timings == "" {
		return nil
	}
	if into.Shard.Of == 0 {
		return errors.New("--timings balances shards: give --shard as well")
	}
	run, _, err := pastruns.Read(s.Timings)
	if err != nil {
		return fmt.Errorf("--timings: %w", err)
	}
	into.Timings = planning.TimingsOf(run)
	return nil
}
