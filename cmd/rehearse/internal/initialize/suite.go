package initialize

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/suites/starters"
)

// suiteFlags describe the suite to write.
type suiteFlags struct {
	from, to  string
	simulator bool
	force     bool
}

func suiteCommand() *cobra.Command {
	var f suiteFlags
	command := &cobra.Command{
		Use:   "suite FOLDER",
		Short: "Write the folder of a suite: requirements, scenarios, and a simulator",
		Long: `Suite writes a folder with requirements.yaml and scenarios that cover the requirements. "rehearse
conformance ./FOLDER" runs it unchanged. Comments mark what to fill in. The suite and its system
have the name of the folder.

--simulator adds a small program that simulates the system: one Go file that needs only the standard
library, with a webhook and a rule. Break the rule to see the suite fail.`,
		Example: `  rehearse init suite my-operator
  rehearse init suite my-operator --simulator
  rehearse conformance ./my-operator`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error { return f.run(command, args[0]) },
	}
	set := command.Flags()
	set.BoolVar(&f.simulator, "simulator", false, "add a small program that simulates the system")
	set.StringVar(&f.from, "from", "", "minor version to start from (default: the second newest in the cache)")
	set.StringVar(&f.to, "to", "", "minor version to upgrade to (default: the one after --from)")
	set.BoolVar(&f.force, "force", false, "overwrite existing files")
	return command
}

func (f *suiteFlags) run(command *cobra.Command, folder string) error {
	found, err := newLook(command)
	if err != nil {
		return err
	}
	absolute, err := filepath.Abs(folder)
	if err != nil {
		return fmt.Errorf("find the folder %s: %w", folder, err)
	}
	suite := starters.Suite{
		Command: "rehearse init suite " + cli.Quoted(folder), Name: filepath.Base(absolute), Simulator: f.simulator,
	}
	if f.simulator {
		suite.Command += " --simulator"
	}
	if suite.From, suite.To, err = found.versions(f.from, f.to, false, true); err != nil {
		return err
	}
	files, err := suite.Write()
	if err != nil {
		return err
	}
	if err := writeAll(folder, files, f.force); err != nil {
		return err
	}
	if !filepath.IsAbs(folder) && !strings.HasPrefix(folder, ".") {
		folder = "./" + folder
	}
	for _, file := range files {
		fmt.Fprintf(command.OutOrStdout(), "wrote %s\n", filepath.Join(folder, file.Path))
	}
	fmt.Fprintf(command.OutOrStdout(), "next:  rehearse conformance %s\n", cli.Quoted(folder))
	return nil
}
