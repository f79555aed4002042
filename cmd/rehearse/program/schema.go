package program

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/editors"
)

func newSchemaCommand() *cobra.Command {
	var install bool
	command := &cobra.Command{
		Use:   "schema [scenario|run] | schema --install FILE|FOLDER...",
		Short: "Print the JSON schema of a scenario, for editors, or of run.json",
		Long: `Schema prints the JSON schema of a scenario, or of run.json.

With --install, your editor completes and checks the scenarios in files and folders. The schema is
written to the folder .vscode of the current folder, and added to the settings of VS Code
(yaml.schemas, for its YAML extension); existing settings are kept. A named file also gets a first
line for yaml-language-server, which other editors use.`,
		Example: `  rehearse schema > scenario.schema.json
  rehearse schema run > run.schema.json
  rehearse schema --install scenarios
  rehearse schema --install my-scenario.yaml`,
		RunE: func(command *cobra.Command, args []string) error {
			if install {
				return installSchema(command, args)
			}
			schema := scenarios.Schema()
			switch {
			case len(args) > 1 || len(args) == 1 && !slices.Contains([]string{"scenario", "run"}, args[0]):
				return fmt.Errorf("%s %v: want scenario or run; see %s --help", command.CommandPath(), args,
					command.CommandPath())
			case slices.Contains(args, "run"):
				schema = reports.Schema()
			}
			_, err := command.OutOrStdout().Write(schema)
			return err
		},
	}
	command.Flags().BoolVar(&install, "install", false, "make editors complete and check the named scenarios")
	return command
}

func installSchema(command *cobra.Command, paths []string) error {
	if len(paths) == 0 {
		return errors.New("--install: name the files or folders of your scenarios, such as scenarios")
	}
	files, err := editors.Install(".", paths)
	for _, file := range files {
		fmt.Fprintf(command.OutOrStdout(), "wrote %s\n", file)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(command.OutOrStdout(), "VS Code needs the extension redhat.vscode-yaml; in other editors the first "+
		"line of a scenario is\n%s\n", editors.Modeline("scenario.yaml"))
	return nil
}
