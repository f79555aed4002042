package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/builtin"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/jobs"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/merge"
	"github.com/rehearse-dev/rehearse/harness/planning"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/suites"
)

func newJobCommand(all builtin.Suites) *cobra.Command {
	return jobs.Command(jobs.Program{
		Run: func(ctx context.Context, args []string, stdout, stderr io.Writer) int {
			return Execute(ctx, newRootCommand(all), args, nil, stdout, stderr)
		},
		Paths:      func(args []string) ([]string, error) { return pathsOfShards(newRootCommand(all), args) },
		Referenced: func(args []string) ([]string, error) { return referencedByShards(newRootCommand(all), args) },
		Merge:      merge.Shards,
	})
}

// pathsOfShards checks a command that shards will run, and returns the files that it reads.
func pathsOfShards(root *cobra.Command, args []string) ([]string, error) {
	command, rest, err := root.Find(args)
	if err != nil {
		return nil, err
	}
	if err := command.ParseFlags(rest); err != nil {
		return nil, err
	}
	if err := command.ValidateArgs(command.Flags().Args()); err != nil {
		return nil, err
	}
	filesOf := sharded()[command.CommandPath()]
	if filesOf == nil {
		return nil, fmt.Errorf("%s cannot run as a Job; rehearse run, conformance, faults and explore can",
			command.CommandPath())
	}
	for name, why := range map[string]string{
		"shard": "each pod gets its own", "report-dir": "the reports come through the logs",
		"keep": "a pod's clusters end with it", "plan": "it shows what one machine would do",
		"output": "--of writes the report of the merged run", "of": "it belongs to a finished run",
		"repeat": "a shard runs once", "cases": "they belong to no shard",
	} {
		if flag := command.Flags().Lookup(name); flag != nil && flag.Changed {
			return nil, fmt.Errorf("--%s: leave it out, %s", name, why)
		}
	}
	if provider := command.Flag("provider"); provider != nil && provider.Value.String() != "local" {
		return nil, fmt.Errorf("--provider %s: a pod supports only local clusters", provider.Value)
	}
	files, err := filesOf(command)
	return append(files, definitionFiles(command)...), err
}

// referencedByShards returns the files that the scenarios and the systems of a command name.
func referencedByShards(root *cobra.Command, args []string) ([]string, error) {
	command, rest, err := root.Find(args)
	if err == nil {
		err = command.ParseFlags(rest)
	}
	if err != nil {
		return nil, err
	}
	var defined []clusters.System
	for _, text := range slices.Concat(namedBy(command, "system"), namedBy(command, "upgrade")) {
		flag, _ := cli.ParseSystem(text)
		if !flag.File() {
			continue
		}
		system, err := flag.Definition()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", text, err)
		}
		defined = append(defined, system)
	}
	loaded, selected, err := scenariosOfShards(command)
	if err != nil {
		return nil, err
	}
	return jobs.References(loaded, selected, defined)
}

// scenariosOfShards returns the scenarios in the files of a command, and those of them that run. Built-in suites are in
// the program, and need no files.
func scenariosOfShards(command *cobra.Command) (loaded, selected []*scenarios.Scenario, err error) {
	args := command.Flags().Args()
	run := command.CommandPath() == "rehearse run"
	switch {
	case run:
		set, err := scenarios.Load(args)
		if err != nil {
			return nil, nil, err
		}
		loaded = set.Scenarios
	case len(args) == 1 && suites.IsFolder(args[0]):
		suite, err := suites.Open(args[0])
		if err != nil {
			return nil, nil, err
		}
		loaded = suite.Scenarios
	default:
		return nil, nil, nil
	}
	only := func(flag string) string { return strings.Join(namedBy(command, flag), "") }
	selected, err = planning.Filter(loaded, only("focus"), only("label"))
	if err == nil && run { // a suite replaces only simulated systems, which name no files
		selected, err = override(selected, namedBy(command, "system"))
	}
	return loaded, selected, err
}

// definitionFiles returns the files that define the systems of a command.
func definitionFiles(command *cobra.Command) []string {
	var files []string
	for _, text := range slices.Concat(namedBy(command, "system"), namedBy(command, "upgrade")) {
		if system, _ := cli.ParseSystem(text); system.File() {
			files = append(files, system.Value)
		}
	}
	return files
}

// sharded returns the commands whose shards can run as a Job, and what lists the files that they read.
func sharded() map[string]func(*cobra.Command) ([]string, error) {
	return map[string]func(*cobra.Command) ([]string, error){
		"rehearse run": func(command *cobra.Command) ([]string, error) {
			if slices.Contains(command.Flags().Args(), "-") {
				return nil, errors.New("a pod has no standard input: name files")
			}
			return append(command.Flags().Args(), namedBy(command, "timings")...), nil
		},
		"rehearse conformance": func(command *cobra.Command) ([]string, error) {
			args := command.Flags().Args()
			if len(args) != 1 {
				return nil, errors.New("name one suite: each suite is a separate run")
			}
			files := namedBy(command, "timings")
			if suites.IsFolder(args[0]) {
				files = append(files, args[0])
			}
			return files, nil
		},
		"rehearse faults": func(command *cobra.Command) ([]string, error) {
			if command.Flag("try").Value.String() != "true" {
				return nil, errors.New("without --try there is nothing to run")
			}
			if name := command.Flags().Arg(0); suites.IsFolder(name) {
				return []string{name}, nil
			}
			return nil, nil
		},
		"rehearse explore": func(command *cobra.Command) ([]string, error) {
			return append(namedBy(command, "known"), namedBy(command, "crds")...), nil
		},
	}
}

// namedBy returns the values of a flag; none if the command does not have it.
func namedBy(command *cobra.Command, name string) []string {
	flag := command.Flag(name)
	if flag == nil {
		return nil
	}
	if several, are := flag.Value.(pflag.SliceValue); are {
		return several.GetSlice()
	}
	if text := flag.Value.String(); text != "" {
		return []string{text}
	}
	return nil
}
