package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/ci"
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
// run-1, and so on. It ends early if a run cannot be made, or if the command is interrupted. It passes the merged run
// to the CI system. If the process is killed, there is no merged run.
func (f *RepeatFlag) Times(command *cobra.Command, of ci.Report,
	once func(n int, dir string) (*reports.Run, error),
) error {
	if err := RemoveReports([]string{of.Dir}); err != nil {
		return err
	}
	var runs []reports.Part
	var failure error
	for n := 1; n <= f.Repeat && command.Context().Err() == nil && failure == nil; n++ {
		fmt.Fprintf(command.OutOrStdout(), "run %d of %d\n", n, f.Repeat)
		name := fmt.Sprintf("run-%d", n)
		var run *reports.Run
		if run, failure = once(n, filepath.Join(of.Dir, name)); failure == nil {
			runs = append(runs, reports.Part{Run: run, Prefix: name})
		}
	}
	if len(runs) == 0 {
		return failure
	}
	merged := reports.RepeatedRun(runs)
	merged.Interrupted = merged.Interrupted || len(runs) < f.Repeat // the rest did not run
	failure = errors.Join(failure, WriteFiles(of.Dir, merged))
	return errors.Join(failure, Publish(command, merged, of))
}

// Readings is the folder of a run's other readings, within its report folder.
const Readings = "readings"

// repetition is the name of the folder of one of several runs.
var repetition = regexp.MustCompile(`^run-[0-9]+$`)

// RemoveReports removes the reports of earlier runs from folders, and from the folders of their repetitions and
// readings: they would look like the result of this run. names are further files to remove. If another process writes
// in one of the folders, it removes nothing.
func RemoveReports(dirs []string, names ...string) error {
	var all []string
	for _, dir := range dirs {
		found, err := foldersOf(dir)
		if err != nil {
			return err
		}
		all = append(all, found...)
	}
	return reports.Remove(all, func(dir string) []string {
		files := slices.Clone(names)
		for _, format := range inFolder(dir) {
			files = append(files, format.File)
		}
		return files
	})
}

// NotStarted returns why a run could not start. If the input is not wrong, it also removes the reports of earlier runs
// from folders, and further files by their names. They stay after a mistake in the input, which says nothing about
// them.
func NotStarted(err error, dirs []string, names ...string) error {
	if cli.CodeOf(err) == cli.ExitInput && !errors.Is(err, context.Canceled) {
		return err
	}
	return errors.Join(err, RemoveReports(dirs, names...))
}

// foldersOf are a report folder, and the folders of its repetitions and readings; none if it does not exist.
func foldersOf(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the report folder: %w", err)
	}
	all := []string{dir}
	for _, entry := range entries {
		if entry.IsDir() && (entry.Name() == Readings || repetition.MatchString(entry.Name())) {
			inside, err := foldersOf(filepath.Join(dir, entry.Name()))
			if err != nil {
				return nil, err
			}
			all = append(all, inside...)
		}
	}
	return all, nil
}
