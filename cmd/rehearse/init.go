package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/harness/manifests"
	"github.com/rehearse-dev/rehearse/suites/starters"
)

// initFlags say what the scenario that is written is about.
type initFlags struct {
	gate, kep, version, from, to string
	system, name, output         string
	files                        []string
	force                        bool
}

func newInitCommand() *cobra.Command {
	var flags initFlags
	command := &cobra.Command{
		Use:   "init",
		Short: "Write a scenario, or a suite, to begin with",
		Long: `Init writes a scenario that runs as it is, and says in comments what to fill in. It is about one of

  a feature gate (--gate): off, on, off and on again. Kubernetes' own feature lists say where the gate
    can be both; with --from and --to the version changes with it. Comments ask the questions of a
    production readiness review at the steps that answer them (rehearse report prr).
  an upgrade (--from, --to): your objects (-f) on the way up, back, and up once more.
  a system (--system): a simulator of this program by its name, or your own by a file that defines it.

--kep puts the number of the enhancement into the scenario. Where this program has scenarios of that
enhancement, they tell the gate. Without flags, on a terminal, init asks.

Exit codes: 0; 2 the input is wrong, or the file is there already (--force writes over it).`,
		Example: `  rehearse init --gate RelaxedServiceNameValidation
  rehearse init --gate RelaxedServiceNameValidation --from 1.34 --to 1.35 --kep 5311 -f service.yaml
  rehearse init --from 1.35 --to 1.36 -f manifests/
  rehearse init --kep 5311
  rehearse init --system leaderworkerset
  rehearse init --system my-operator=process:operator.yaml
  rehearse init suite my-operator`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return flags.run(command) },
	}
	set := command.Flags()
	set.StringVar(&flags.gate, "gate", "", "a feature gate")
	set.StringVar(&flags.version, "version", "", "the version in which the gate goes off and on (default: the newest in "+
		"the cache where it can)")
	set.StringVar(&flags.from, "from", "", "minor version to begin with: 1.35")
	set.StringVar(&flags.to, "to", "", "minor version to go to: 1.36")
	set.StringArrayVarP(&flags.files, "filename", "f", nil,
		"a file or a folder of objects, or - for the standard input; may be repeated")
	set.StringVar(&flags.kep, "kep", "", "number of the enhancement: 5311")
	set.StringVar(&flags.system, "system", "", "a simulator by its name, NAME=process:FILE, NAME=manifests:FILE, or a "+
		"NAME "+
		"to fill in")
	set.StringVar(&flags.name, "name", "", "name of the scenario (default: after the gate, the versions or the system)")
	set.StringVarP(&flags.output, "output", "o", "", "file to write; - is the standard output (default NAME.yaml)")
	set.BoolVar(&flags.force, "force", false, "write over a file that is there")
	command.AddCommand(newInitSuiteCommand())
	return command
}

func (f *initFlags) run(command *cobra.Command) error {
	if !f.about() {
		if !isTerminal(command.InOrStdin()) {
			return errors.New("say what the scenario is to be about: --gate, --from and --to, --kep or --system; see rehearse " +
				"init --help")
		}
		next, err := asker{in: command.InOrStdin(), out: command.ErrOrStderr()}.all(command)
		if err != nil {
			return err
		}
		if next != nil {
			return next()
		}
	}
	scenario, err := f.scenario(command)
	if err != nil {
		return err
	}
	text, err := scenario.Write()
	if err != nil {
		return err
	}
	if f.output == "-" {
		_, err := command.OutOrStdout().Write(text)
		return broken(err)
	}
	if err := writeStarters(".", []starters.File{{Path: scenario.File, Text: text}}, f.force); err != nil {
		return err
	}
	fmt.Fprintf(command.OutOrStdout(), "wrote %s\nnext:  rehearse run %s\n", scenario.File, quoted(scenario.File))
	return nil
}

// about says whether the flags tell what the scenario is about.
func (f *initFlags) about() bool {
	return f.gate != "" || f.kep != "" || f.from != "" || f.to != "" || f.system != "" || len(f.files) > 0
}

// scenario is what the flags say.
func (f *initFlags) scenario(command *cobra.Command) (starters.Scenario, error) {
	s := starters.Scenario{Name: f.name, KEP: f.kep}
	look, err := newInitLook(command)
	if err != nil {
		return s, err
	}
	if s.System, err = f.underTest(); err != nil {
		return s, err
	}
	gate := f.gate
	if gate == "" && f.kep != "" && s.System == nil {
		gate, err = gateOf(f.kep)
		if err != nil && f.from == "" && f.to == "" {
			return s, err
		}
	}
	if s.From, s.To, err = look.versions(f.from, f.to, gate != "", s.System != nil); err != nil {
		return s, err
	}
	if gate != "" {
		if s.Gate, err = look.gate(gate, f.version, s.To); err != nil {
			return s, err
		}
	} else {
		s.Flips = look.flips(s.From, s.To)
	}
	if len(f.files) > 0 {
		s.Objects, err = manifests.Sources{Paths: f.files, Stdin: command.InOrStdin()}.Load()
		if err != nil {
			return s, err
		}
	}
	s.File = f.output
	if s.File == "" || s.File == "-" {
		s.File = f.fileName(s)
	}
	s.Command = commandLine(command)
	return s, nil
}

// fileName is where the scenario goes by default: beside the definition of its system, whose files it names.
func (f *initFlags) fileName(s starters.Scenario) string {
	name := s.Name
	if name == "" {
		name = s.DefaultName()
	}
	_, definition, _ := strings.Cut(f.system, ":")
	path := filepath.Join(filepath.Dir(definition), name+".yaml")
	if path == filepath.Clean(definition) {
		path = strings.TrimSuffix(path, ".yaml") + "-scenario.yaml"
	}
	return path
}

// writeStarters writes files into a folder. Where one is there already, none is written.
func writeStarters(folder string, files []starters.File, force bool) error {
	for _, file := range files {
		path := inFolder(folder, file.Path)
		if _, err := os.Lstat(path); err == nil && !force {
			return fmt.Errorf("%s is there already; nothing is written (--force writes over it)", path)
		}
	}
	for _, file := range files {
		path := inFolder(folder, file.Path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("make the folder of %s: %w", path, err)
		}
		if err := os.WriteFile(path, file.Text, 0o644); err != nil { //nolint:gosec // anybody may read a scenario
			return fmt.Errorf("write %s: %w", path, err)
		}
	}
	return nil
}

// inFolder is a path that is relative to a folder.
func inFolder(folder, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(folder, path)
}
