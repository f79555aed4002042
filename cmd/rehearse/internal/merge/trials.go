package merge

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/session"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/suites/faults"
)

// trials merges faults.json files.
func trials(command *cobra.Command, files []string, out string) error {
	parts, err := each(files, faults.Read)
	if err != nil {
		return err
	}
	result, err := faults.Merge(parts)
	if err != nil {
		return err
	}
	unlock, err := reports.LockFolder(out)
	if err != nil {
		return cli.Broken(err)
	}
	defer unlock()
	if err := faults.Write(out, result); err != nil {
		return cli.Broken(err)
	}
	fmt.Fprint(cli.Guarded(command.OutOrStdout()), result)
	if unfinished := reports.Unfinished(reports.PiecesOf(parts)); unfinished != nil {
		return cli.Broken(errors.Join(unfinished, result.Err(), result.Unjudged()))
	}
	return session.EndOfTrials(result.Err(), result.Unjudged())
}

// each reads the results of shards, one by one.
func each[Result reports.Sharded](files []string, read func([]byte) (Result, error)) ([]reports.ShardOf[Result],
	error,
) {
	var all []reports.ShardOf[Result]
	for _, file := range files {
		one, err := cli.Read("a result", file, read)
		if err != nil {
			return nil, err
		}
		all = append(all, reports.ShardOf[Result]{Result: one, From: file})
	}
	return all, nil
}
