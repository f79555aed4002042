package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/builtin"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/session"
	"github.com/rehearse-dev/rehearse/suites"
	"github.com/rehearse-dev/rehearse/suites/faults"
	"github.com/rehearse-dev/rehearse/suites/simulators"
	"github.com/rehearse-dev/rehearse/suites/simulators/liberty"
)

// faultsFlags say whether faults are tried, and how.
type faultsFlags struct {
	cli.ReleaseFlags
	try     bool
	kind    string
	options faults.Options
}

func newFaultsCommand() *cobra.Command {
	var f faultsFlags
	command := &cobra.Command{
		Use:   "faults SUITE",
		Short: "List the bugs and the liberties of a suite's simulator, or try them",
		Long: `Faults lists the bugs that a simulator can have, each with the requirements that it breaks, and its
liberties: ways to be different that the specification allows. A scenario asks for them by
simulated: {faults: [NAME], liberties: [NAME]}, a run by --system SYSTEM=faults:NAME or
SYSTEM=liberties:NAME. FAULT@PATTERN shows only in namespaces whose names match. LIBERTY=SEED makes
the same random choices again.

With --try it runs the suite with each fault and demands that it fails, at a scenario that covers
what the fault breaks; and that it is green without faults, before, and beside them or after. Then
it runs the suite under each liberty, and under all that go together (all-together), and demands
that it is green. --kind tries the one or the other. Exit codes then: 0 all is as demanded; 1 it is
not; 3 it could not be tried.`,
		Example: `  rehearse faults kai
  rehearse faults kai --try --only hint-never
  rehearse faults leaderworkerset --try --kind liberties`,
		Args: oneSuite,
		RunE: func(command *cobra.Command, args []string) error {
			suite, err := builtin.Find(args[0])
			if err != nil {
				return err
			}
			for _, name := range []string{"only", "all", "clusters", "kind"} {
				if !f.try && command.Flags().Changed(name) {
					return fmt.Errorf("--%s is for --try", name)
				}
			}
			if !slices.Contains([]string{"", kindFaults, kindLiberties}, f.kind) {
				return fmt.Errorf("--kind %q: want %s or %s", f.kind, kindFaults, kindLiberties)
			}
			if !f.try {
				return writeFaults(command.OutOrStdout(), suite)
			}
			f.options.Suite = suite
			if err := f.checkNames(); err != nil {
				return err
			}
			return f.run(command)
		},
	}
	f.ReleaseFlags.AddTo(command)
	command.Flags().BoolVar(&f.try, "try", false, "run the suite with each fault")
	command.Flags().StringSliceVar(&f.options.Only, "only", nil, "with --try: only these faults or liberties")
	command.Flags().BoolVar(&f.options.All, "all", false,
		"with --try: run every scenario with each fault or liberty, not only those that cover what it breaks")
	command.Flags().StringVar(&f.kind, "kind", "", "with --try: faults or liberties (default: both, or that of --only)")
	command.Flags().IntVar(&f.options.Clusters, "clusters", 0, "with --try: "+session.ClustersUsage)
	return command
}

func (f *faultsFlags) run(command *cobra.Command) error {
	f.options.Progress = cli.ProgressTo(command.ErrOrStderr())
	f.options.Room, f.options.Clusters = session.Room(f.options.Clusters, f.options.Progress)
	var err error
	if f.options.Provider, err = f.Local(f.options.Progress); err != nil {
		return err
	}
	if f.options.Simulators, err = builtin.Simulators().Own(); err != nil {
		return err
	}
	var wrong, unjudged []error
	for _, one := range f.parts() {
		result, err := one.try(command.Context(), one.options)
		if err != nil {
			return cli.Broken(err)
		}
		fmt.Fprint(command.OutOrStdout(), result)
		wrong = append(wrong, result.Err())
		if some, ok := result.(interface{ Unjudged() error }); ok {
			unjudged = append(unjudged, some.Unjudged())
		}
	}
	if err := errors.Join(wrong...); err != nil {
		return &cli.ExitError{Code: cli.ExitFailed, Err: errors.Join(err, errors.Join(unjudged...))}
	}
	if err := errors.Join(unjudged...); err != nil {
		return cli.Broken(err)
	}
	return nil
}

// The kinds of what can be tried.
const (
	kindFaults    = "faults"
	kindLiberties = "liberties"
)

// tried is what came of trying.
type tried interface {
	fmt.Stringer
	Err() error
}

// part is a kind of what is tried, and how.
type part struct {
	options faults.Options
	try     func(context.Context, faults.Options) (tried, error)
}

// checkNames refuses names that are neither a fault nor a liberty of the suite's simulator.
func (f *faultsFlags) checkNames() error {
	known := append(liberty.Names(f.options.Suite.Liberties), faults.AllTogether)
	for _, fault := range f.options.Suite.Faults {
		known = append(known, fault.Name)
	}
	for _, name := range f.options.Only {
		if !slices.Contains(known, name) {
			return fmt.Errorf("the simulator of suite %s has no fault and no liberty %q; rehearse faults %s lists them",
				f.options.Suite.Name, name, f.options.Suite.Name)
		}
	}
	return nil
}

// parts are the kinds that are tried. A name that is given with --only is a fault where there is one of that name, and
// a liberty otherwise.
func (f *faultsFlags) parts() []part {
	isFault := func(name string) bool {
		return slices.ContainsFunc(f.options.Suite.Faults, func(known simulators.Fault) bool { return known.Name == name })
	}
	bugs, liberties := f.options, f.options
	if f.kind == "" {
		bugs.Only = slices.DeleteFunc(slices.Clone(f.options.Only), func(name string) bool { return !isFault(name) })
		liberties.Only = slices.DeleteFunc(slices.Clone(f.options.Only), isFault)
	}
	var all []part
	if f.kind == kindFaults || f.kind == "" && (len(bugs.Only) > 0 || len(f.options.Only) == 0) {
		all = append(all, part{bugs, runFaults})
	}
	if f.kind == kindLiberties || f.kind == "" && (len(liberties.Only) > 0 || len(f.options.Only) == 0) {
		all = append(all, part{liberties, runLiberties})
	}
	return all
}

func runFaults(ctx context.Context, o faults.Options) (tried, error) { return faults.Run(ctx, o) }

func runLiberties(ctx context.Context, o faults.Options) (tried, error) {
	return faults.Liberties(ctx, o)
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
	liberties := [][]string{{"LIBERTY", "WHAT IS DIFFERENT, AND RIGHT"}}
	for _, l := range suite.Liberties {
		liberties = append(liberties, []string{l.Name, l.Sentence})
	}
	err := cli.WriteTable(out, rows)
	if err == nil {
		fmt.Fprintln(out)
		err = cli.WriteTable(out, liberties)
	}
	if err != nil {
		return cli.Broken(fmt.Errorf("write the faults: %w", err))
	}
	return nil
}
