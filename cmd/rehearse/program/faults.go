package program

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/builtin"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/session"
	"github.com/rehearse-dev/rehearse/harness/planning"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/suites"
	"github.com/rehearse-dev/rehearse/suites/faults"
	"github.com/rehearse-dev/rehearse/suites/simulators/liberty"
)

// faultsFlags say whether to try faults, and how.
type faultsFlags struct {
	cli.ReleaseFlags
	try              bool
	kind, focus      string
	shard, reportDir string
	options          faults.Options
}

func newFaultsCommand(all builtin.Suites) *cobra.Command {
	var f faultsFlags
	command := &cobra.Command{
		Use:   "faults SUITE",
		Short: "List or try the faults and liberties of a suite's simulator",
		Long: `Faults lists the bugs that a simulator can have on request, each with the requirements that it
breaks, and its liberties: differences that the specification allows. A scenario sets them with
simulated: {faults: [NAME], liberties: [NAME]}, a run with --system SYSTEM=faults:NAME or
SYSTEM=liberties:NAME. FAULT@PATTERN limits a fault to matching namespaces. LIBERTY=SEED repeats the
same random choices.

--try runs the suite with each fault. It must fail, in a scenario that covers a requirement that the
fault breaks, and it must pass without faults. Then it runs the suite with each liberty, and with
all that can be combined (all-together); it must pass. --kind tries only faults or only liberties.
The result is also in faults.json in the report folder. With --shard 2/5, only a part of the faults
and liberties is tried; rehearse merge merges all parts, and then shows which requirements catch no
fault.

--repeat N runs each scenario N times with each fault and each liberty, on shared clusters. If the
verdicts on a scenario or on its requirements differ with a fault, the command fails. --with LIBERTY
gives the simulator a liberty beside each fault, for example random delays. --focus tries only some
scenarios: a fault may then not be caught.

Exit codes of --try: 0 all results are as required; 1 some are not; 2 the input is wrong; 3 some could
not be tried; 130 interrupted.`,
		Example: `  rehearse faults kai
  rehearse faults kai --try --only hint-never
  rehearse faults leaderworkerset --try --kind liberties
  rehearse faults leaderworkerset --try --shard 1/2 --report-dir shard-1
  rehearse faults porch --try --kind faults --repeat 10 --with late
  rehearse faults leaderworkerset --try --only late --repeat 10 --focus upgraded-in-the-middle`,
		Args: oneOf(all),
		RunE: func(command *cobra.Command, args []string) error {
			suite, err := all.Find(args[0])
			if err != nil {
				return err
			}
			for _, name := range []string{"only", "all", "clusters", "kind", "shard", "report-dir", "repeat", "with", "focus"} {
				if !f.try && command.Flags().Changed(name) {
					return fmt.Errorf("--%s is for --try", name)
				}
			}
			if !slices.Contains([]string{"", faults.KindFaults, faults.KindLiberties}, f.kind) {
				return fmt.Errorf("--kind %q: want %s or %s", f.kind, faults.KindFaults, faults.KindLiberties)
			}
			if !f.try {
				return writeFaults(command.OutOrStdout(), suite)
			}
			if suite.Scenarios, err = planning.Filter(suite.Scenarios, f.focus, ""); err != nil {
				return err
			}
			f.options.Suite, f.options.Focused = suite, f.focus != ""
			if err := f.checkNames(); err != nil {
				return err
			}
			return f.run(command, all)
		},
	}
	f.ReleaseFlags.AddTo(command)
	command.Flags().BoolVar(&f.try, "try", false, "run the suite with each fault")
	command.Flags().StringSliceVar(&f.options.Only, "only", nil, "with --try: only these faults or liberties")
	command.Flags().BoolVar(&f.options.All, "all", false,
		"with --try: run all scenarios with each fault or liberty, not only those for its requirements")
	command.Flags().IntVar(&f.options.Repeat, "repeat", 1,
		"with --try: how often each scenario runs with each fault or liberty")
	command.Flags().StringSliceVar(&f.options.With, "with", nil,
		"with --try: liberties that the simulator takes beside each fault")
	command.Flags().StringVar(&f.kind, "kind", "",
		"with --try: faults or liberties (default: both, or the kind of --only)")
	cli.OnceVar(command.Flags(), &f.focus, "focus",
		"with --try: only scenarios whose name matches this regular expression")
	command.Flags().StringVar(&f.shard, "shard", "", "with --try: try only this part of the faults and liberties: "+
		"2/5 is the second of five; rehearse merge merges all parts")
	command.Flags().StringVar(&f.reportDir, "report-dir", "rehearse-report", "with --try: folder for faults.json")
	command.Flags().IntVar(&f.options.Clusters, "clusters", 0, "with --try: "+session.ClustersUsage)
	return command
}

func (f *faultsFlags) run(command *cobra.Command, all builtin.Suites) error {
	var err error
	if f.options.Shard, err = planning.ParseShard(f.shard); err != nil {
		return fmt.Errorf("--shard: %w", err)
	}
	f.options.Progress = cli.ProgressTo(command.ErrOrStderr())
	f.options.Room, f.options.Clusters = session.Room(f.options.Clusters, f.options.Progress)
	if f.options.Provider, err = f.Local(f.options.Progress); err != nil {
		return err
	}
	if f.options.Simulators, err = all.Simulators().Own(); err != nil {
		return err
	}
	unlock, err := reports.LockFolder(f.reportDir)
	if err != nil {
		return cli.Broken(err)
	}
	defer unlock()
	if err := faults.Remove(f.reportDir); err != nil {
		return cli.Broken(err)
	}
	result, err := faults.Try(command.Context(), f.options, f.kind, cli.Head(command, f.options.Suite.Name),
		func(result *faults.Result) error {
			if err := faults.Write(f.reportDir, result); err != nil {
				return err
			}
			return cli.Planned(command.Context())
		})
	if result != nil {
		fmt.Fprint(cli.Guarded(command.OutOrStdout()), result)
	}
	switch {
	case err != nil && result != nil && command.Context().Err() == nil: // a failure must not hide what was found
		return session.EndOfTrials(result.Err(), errors.Join(err, result.Unjudged()))
	case err != nil:
		return cli.Broken(err)
	}
	if result.Idle() {
		fmt.Fprintf(command.OutOrStdout(), "shard %s has nothing to try: there are fewer trials than shards\n", f.shard)
	}
	return session.EndOfTrials(result.Err(), result.Unjudged())
}

// checkNames rejects names that are neither a fault nor a liberty of the suite's simulator, or not of the kind.
func (f *faultsFlags) checkNames() error {
	liberties := liberty.Names(f.options.Suite.Liberties)
	for _, name := range f.options.With {
		if known, _, _ := strings.Cut(name, "="); !slices.Contains(liberties, known) {
			return fmt.Errorf("--with: the simulator of suite %s has no liberty %q; it has: %s", f.options.Suite.Name, name,
				strings.Join(liberties, ", "))
		}
	}
	if f.options.Repeat < 1 {
		return errors.New("--repeat needs a number of runs, 1 or more")
	}
	known := append(liberties, faults.AllTogether)
	for _, fault := range f.options.Suite.Faults {
		known = append(known, fault.Name)
	}
	for _, name := range f.options.Only {
		if !slices.Contains(known, name) {
			return fmt.Errorf("the simulator of suite %s has no fault and no liberty %q; rehearse faults %s lists them",
				f.options.Suite.Name, name, f.options.Suite.Name)
		}
	}
	return f.options.Check(f.kind)
}

func writeFaults(out io.Writer, suite suites.Suite) error {
	if len(suite.Faults) == 0 {
		fmt.Fprintf(out, "suite %s has no built-in simulator, and therefore no faults to try\n", suite.Name)
		return nil
	}
	rows := [][]string{{"FAULT", "EFFECT (REQUIREMENTS THAT IT BREAKS)"}}
	for _, fault := range suite.Faults {
		rows = append(rows, []string{fault.Name, fmt.Sprintf("%s (%s)", fault.Sentence, strings.Join(fault.Breaks, ", "))})
	}
	liberties := [][]string{{"LIBERTY", "PERMITTED DIFFERENCE"}}
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
