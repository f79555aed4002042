package session

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/reports"
)

// RepeatFlag is how often a command repeats its run.
type RepeatFlag struct{ Repeat int }

// AddTo adds the flag to a command; usage says what is repeated.
func (f *RepeatFlag) AddTo(command *cobra.Command, usage string) {
	command.Flags().IntVar(&f.Repeat, "repeat", 1, usage)
}

// Check returns an error if the flag is wrong, or if it is combined with a shard.
func (f *RepeatFlag) Check(shard string) error {
	switch {
	case f.Repeat < 1:
		return errors.New("--repeat needs a number of runs, 1 or more")
	case f.Repeat > 1 && shard != "":
		return errors.New("--shard cannot be combined with --repeat: rehearse merge merges one run of all shards")
	}
	return nil
}

// Cut reports whether the command was interrupted before it had made all runs.
func (f *RepeatFlag) Cut(command *cobra.Command, made int) bool {
	return command.Context().Err() != nil && made < f.Repeat
}

// Times runs as often as the flag says, and writes one merged run into the folder. Each run has its own folder there:
// run-1, and so on. It ends early if a run cannot be made, or if the command is interrupted.
func (f *RepeatFlag) Times(command *cobra.Command, folder string,
	once func(n int, dir string) (*reports.Run, error),
) error {
	var runs []reports.Part
	var failure error
	for n := 1; n <= f.Repeat && command.Context().Err() == nil && failure == nil; n++ {
		fmt.Fprintf(command.OutOrStdout(), "run %d of %d\n", n, f.Repeat)
		name := fmt.Sprintf("run-%d", n)
		var run *reports.Run
		if run, failure = once(n, filepath.Join(folder, name)); failure == nil {
			runs = append(runs, reports.Part{Run: run, Prefix: name})
		}
	}
	if len(runs) == 0 {
		return failure
	}
	merged := reports.RepeatedRun(runs)
	merged.Interrupted = merged.Interrupted || f.Cut(command, len(runs))
	return errors.Join(failure, reports.WriteFiles(folder, merged, inFolder(folder)...))
}
