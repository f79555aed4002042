package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/suites"
	"github.com/rehearse-dev/rehearse/suites/faults"
)

// faultsFlags say whether faults are tried, and how.
type faultsFlags struct {
	releaseFlags
	try     bool
	options faults.Options
}

func newFaultsCommand() *cobra.Command {
	var f faultsFlags
	command := &cobra.Command{
		Use:   "faults SUITE",
		Short: "List the bugs that a suite's simulator can be told to have, or try them",
		Long: `Faults lists the bugs that a simulator can be told to have, each with the requirements that it breaks. A scenario asks for them by
simulated: {faults: [NAME]}, a run or a conformance run by --system SYSTEM=faults:NAME. NAME@PATTERN shows only in namespaces whose names match.

With --try it runs the suite with each fault and demands that it fails, at a scenario that covers what the fault breaks; and that it is green without faults, before,
and beside them or after. Exit codes then: 0 so it is; 1 it is not; 3 it could not be tried.`,
		Example: `  rehearse faults kai
  rehearse faults kai --try --only hint-never`,
		Args: oneSuite,
		RunE: func(command *cobra.Command, args []string) error {
			suite, err := findSuite(args[0])
			if err != nil {
				return err
			}
			for _, name := range []string{"only", "all", "clusters"} {
				if !f.try && command.Flags().Changed(name) {
					return fmt.Errorf("--%s is for --try", name)
				}
			}
			if !f.try {
				return writeFaults(command.OutOrStdout(), suite)
			}
			f.options.Suite = suite
			return f.run(command)
		},
	}
	f.releaseFlags.add(command)
	command.Flags().BoolVar(&f.try, "try", false, "run the suite with each fault")
	command.Flags().StringSliceVar(&f.options.Only, "only", nil, "with --try: only these faults")
	command.Flags().BoolVar(&f.options.All, "all", false, "with --try: run every scenario with each fault, not only those that cover what it breaks")
	command.Flags().IntVar(&f.options.Clusters, "clusters", 0, "with --try: "+clustersUsage)
	return command
}

func (f *faultsFlags) run(command *cobra.Command) error {
	f.options.Progress = progressTo(command.ErrOrStderr())
	var err error
	if f.options.Room, err = room(); err != nil && f.options.Clusters == 0 {
		f.options.Progress("one cluster at a time: %v", err)
		f.options.Clusters = 1
	}
	if f.options.Provider, err = f.local(false, f.options.Progress); err != nil {
		return err
	}
	if f.options.Simulators, err = catalog().Own(); err != nil {
		return err
	}
	matrix, err := faults.Run(command.Context(), f.options)
	if err != nil {
		return broken(err)
	}
	fmt.Fprint(command.OutOrStdout(), matrix)
	if err := matrix.Err(); err != nil {
		return &exitError{code: exitFailed, err: err}
	}
	return nil
}

func writeFaults(out io.Writer, suite suites.Suite) error {
	if len(suite.Faults) == 0 {
		fmt.Fprintf(out, "suite %s has no simulator, and so no faults\n", suite.Name)
		return nil
	}
	rows := [][]string{{"FAULT", "WHAT GOES WRONG, AND WHAT THAT BREAKS"}}
	for _, fault := range suite.Faults {
		rows = append(rows, []string{fault.Name, fmt.Sprintf("%s (%s)", fault.Sentence, strings.Join(fault.Breaks, ", "))})
	}
	if err := writeTable(out, rows); err != nil {
		return broken(fmt.Errorf("write the faults: %w", err))
	}
	return nil
}
