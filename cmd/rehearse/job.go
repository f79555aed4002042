package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/jobs"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/merge"
)

func newJobCommand() *cobra.Command {
	return jobs.Command(jobs.Program{
		Run: func(ctx context.Context, args []string, stdout, stderr io.Writer) int {
			return run(ctx, args, nil, stdout, stderr)
		},
		Paths: pathsOfShards,
		Merge: merge.Shards,
	})
}

// pathsOfShards checks a command that shards are to run, and names the files that it reads.
func pathsOfShards(args []string) ([]string, error) {
	command, rest, err := newRootCommand().Find(args)
	if err != nil {
		return nil, err
	}
	if err := command.ParseFlags(rest); err != nil {
		return nil, err
	}
	if err := command.ValidateArgs(command.Flags().Args()); err != nil {
		return nil, err
	}
	if command.Name() != "run" {
		return nil, fmt.Errorf("%s has no shards that run as a Job; rehearse run has", command.CommandPath())
	}
	for name, why := range map[string]string{
		"shard": "each pod gets its own", "report-dir": "the reports come through the logs",
		"keep": "a pod's clusters end with it",
	} {
		if command.Flags().Changed(name) {
			return nil, fmt.Errorf("--%s: leave it out, %s", name, why)
		}
	}
	if provider := command.Flag("provider").Value.String(); provider != "local" {
		return nil, fmt.Errorf("--provider %s: a pod has local clusters alone", provider)
	}
	paths := command.Flags().Args()
	for _, path := range paths {
		if path == "-" {
			return nil, errors.New("a pod has no standard input: name files")
		}
	}
	if timings := command.Flag("timings").Value.String(); timings != "" {
		paths = append(paths, timings)
	}
	return paths, nil
}
