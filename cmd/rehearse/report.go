package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/page"
)

func newReportCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "report",
		Short: "Make reports of runs that have ended, from their run.json",
		Long: `Report makes the reports of a run again, or one report of several runs that are parts of one (shards, clusters, machines). Each argument is a run.json or
a report folder that has one. docs/run.md describes the file.`,
		Example: `  rehearse report html rehearse-report
  rehearse report markdown shard-1/run.json shard-2/run.json
  rehearse report diff before/run.json after/run.json`,
	}
	command.AddCommand(
		newViewCommand("html", "Make one HTML file of a run", page.File, func(run *reports.Run, files fs.FS) ([]byte, error) { return page.Of(run, files) }),
		newViewCommand("markdown", "Write a run as Markdown, for a CI job's summary", "", func(run *reports.Run, _ fs.FS) ([]byte, error) { return []byte(reports.Markdown(run)), nil }),
		newViewCommand("junit", "Write a run as JUnit XML", "", func(run *reports.Run, _ fs.FS) ([]byte, error) { return reports.JUnit(run) }),
	)
	return command
}

// newViewCommand is a command that writes one view of a run.
func newViewCommand(name, short, file string, write func(*reports.Run, fs.FS) ([]byte, error)) *cobra.Command {
	output, usage := file, "write to this file; - is the standard output"
	if file == "" {
		output = "-"
	}
	command := &cobra.Command{
		Use: name + " RUN.JSON|FOLDER...", Short: short, Args: named("a run.json, or a report folder that has one"),
		RunE: func(command *cobra.Command, args []string) error {
			run, files, err := readRuns(args)
			if err != nil {
				return err
			}
			data, err := write(run, files)
			if err != nil {
				return err
			}
			if output == "-" {
				_, err = command.OutOrStdout().Write(data)
				return err
			}
			if err := reports.ReplaceFile(output, data); err != nil {
				return err
			}
			fmt.Fprintf(command.OutOrStdout(), "report: %s\n", output)
			return nil
		},
	}
	command.Flags().StringVarP(&output, "output", "o", output, usage)
	return command
}

// readRuns reads runs, and makes one of several. What they left in their folders is found under the numbers of the runs.
func readRuns(paths []string) (*reports.Run, fs.FS, error) {
	var parts []reports.Part
	var where reportFolders
	for i, path := range paths {
		if isFolder(path) {
			path = filepath.Join(path, "run.json")
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, nil, fmt.Errorf("read a run: %w", err)
		}
		run, err := reports.Read(data)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path, err)
		}
		part := reports.Part{Run: run}
		if len(paths) > 1 {
			part.Prefix = strconv.Itoa(i)
		}
		parts = append(parts, part)
		where = append(where, os.DirFS(filepath.Dir(path)))
	}
	if len(where) == 1 {
		return reports.Merge(parts), where[0], nil
	}
	return reports.Merge(parts), where, nil
}

// reportFolders are several report folders, each under its number.
type reportFolders []fs.FS

// Open opens NUMBER/PATH.
func (f reportFolders) Open(name string) (fs.File, error) {
	number, rest, _ := strings.Cut(name, "/")
	i, err := strconv.Atoi(number)
	if err != nil || i < 0 || i >= len(f) || rest == "" {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return f[i].Open(rest)
}
