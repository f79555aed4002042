package program

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/builtin"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/suites"
)

func newRequirementsCommand(all builtin.Suites) *cobra.Command {
	var names bool
	command := &cobra.Command{
		Use:   "requirements SUITE",
		Short: "List the requirements of a suite and their tests",
		Long: `Requirements lists the rules of a suite's specification, with the number of scenarios that cover
each rule, of the simulator's faults that break it, and of its liberties that a wrong test could
mistake for a failure. SUITE can be a folder, such as ./mine. The command fails (exit 1) if the suite
has a gap: a rule that no scenario covers, or a core rule that no fault breaks and that gives no
reason.`,
		Example: `  rehearse requirements kubernetes
  rehearse requirements kai --names`,
		Args: oneOf(all),
		RunE: func(command *cobra.Command, args []string) error {
			suite, err := all.Find(args[0])
			if err != nil {
				return err
			}
			if err := writeRequirements(command.OutOrStdout(), suite, names); err != nil {
				return err
			}
			if err := suite.Check(); err != nil {
				return &cli.ExitError{Code: cli.ExitFailed, Err: err}
			}
			return nil
		},
	}
	command.Flags().BoolVar(&names, "names", false, "list the names of scenarios, faults and liberties")
	return command
}

// oneOf requires the name of one suite.
func oneOf(all builtin.Suites) cobra.PositionalArgs {
	return func(command *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fmt.Errorf("%s: name one suite: %s", command.CommandPath(), strings.Join(all.Names(), ", "))
		}
		return nil
	}
}

func writeRequirements(out io.Writer, suite suites.Suite, names bool) error {
	rows := [][]string{{"REQUIREMENT", "LEVEL", "SCENARIOS", "FAULTS", "LIBERTIES", "STATEMENT"}}
	more := func(format string, args ...any) { rows = append(rows, []string{fmt.Sprintf("  "+format, args...)}) }
	core := 0
	for _, r := range suite.Requirements {
		if r.Level == suites.Core {
			core++
		}
		covering, breaking := suite.Covering(r.ID), suite.Breaking(r.ID)
		faults := strconv.Itoa(len(breaking))
		if len(suite.Faults) == 0 || r.NoFault != "" {
			faults = "-"
		}
		concerning := suite.Concerning(r.ID)
		liberties := strconv.Itoa(len(concerning))
		if len(suite.Liberties) == 0 {
			liberties = "-"
		}
		rows = append(rows, []string{r.ID, string(r.Level), strconv.Itoa(len(covering)), faults, liberties, r.Statement})
		if !names {
			continue
		}
		for _, s := range covering {
			more("scenario %s", s.Title())
		}
		for _, f := range breaking {
			more("fault %s: %s", f.Name, f.Sentence)
		}
		for _, l := range concerning {
			more("liberty %s: %s", l.Name, l.Sentence)
		}
		if r.NoFault != "" {
			more("no fault: %s", r.NoFault)
		}
	}
	err := cli.WriteTable(out, rows)
	if err == nil {
		_, err = fmt.Fprintf(out, "\n%d requirements, %d of them core; %d scenarios; %d faults; %d liberties\n",
			len(suite.Requirements), core, len(suite.Scenarios), len(suite.Faults), len(suite.Liberties))
	}
	if err != nil {
		return cli.Broken(fmt.Errorf("write the requirements: %w", err))
	}
	return nil
}
