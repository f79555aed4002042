// Package initialize is the command that writes a first scenario or suite.
package initialize

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/harness/manifests"
	"github.com/rehearse-dev/rehearse/suites/starters"
)

// flags describe the scenario to write.
type flags struct {
	gate, kep, version, from, to string
	system, name, output         string
	files                        []string
	force                        bool
	// simulator reports whether a system is a simulator of this program.
	simulator func(name string) bool
}

// Command writes scenarios and suites. simulator reports whether a system is a simulator of this program.
func Command(simulator func(string) bool) *cobra.Command {
	f := flags{simulator: simulator}
	command := &cobra.Command{
		Use:   "init",
		Short: "Write a first scenario or suite",
		Long: `Init writes a scenario that runs unchanged; comments mark what to fill in. The scenario tests one of

  a feature gate (--gate): off, on, off and on again. With --from and --to, the version changes with
    it. Comments contain the questions of a production readiness review at the steps that answer
    them (rehearse report prr).
  an upgrade (--from, --to): your objects (-f) during an upgrade, a rollback and another upgrade.
  a system (--system): a built-in simulator, or your own system, defined by a file.

--kep puts the number of the enhancement into the scenario. If Rehearse has scenarios of that
enhancement, the gate is taken from them. On a terminal, without flags, init asks.

Exit codes: 0 written; 2 the input is wrong, or the file exists (--force overwrites it).`,
		Example: `  rehearse init --gate RelaxedServiceNameValidation
  rehearse init --gate RelaxedServiceNameValidation --from 1.34 --to 1.35 --kep 5311 -f service.yaml
  rehearse init --from 1.35 --to 1.36 -f manifests/
  rehearse init --kep 5311
  rehearse init --system leaderworkerset
  rehearse init --system my-operator=process:operator.yaml
  rehearse init suite my-operator`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return f.run(command) },
	}
	set := command.Flags()
	set.StringVar(&f.gate, "gate", "", "a feature gate")
	set.StringVar(&f.version, "version", "", "the version in which the gate changes (default: the newest cached "+
		"version that allows it)")
	set.StringVar(&f.from, "from", "", "minor version to start from: 1.35")
	set.StringVar(&f.to, "to", "", "minor version to upgrade to: 1.36")
	set.StringArrayVarP(&f.files, "filename", "f", nil,
		"a file or folder of objects, or - for standard input; may be repeated")
	set.StringVar(&f.kep, "kep", "", "number of the enhancement: 5311")
	set.StringVar(&f.system, "system", "", "a simulator by its name, "+cli.Definitions+", or a NAME to fill in")
	set.StringVar(&f.name, "name", "", "name of the scenario (default: after the gate, the versions or the system)")
	set.StringVarP(&f.output, "output", "o", "", "file to write; - is standard output (default NAME.yaml)")
	set.BoolVar(&f.force, "force", false, "overwrite an existing file")
	command.AddCommand(suiteCommand())
	return command
}

func (f *flags) run(command *cobra.Command) error {
	if !f.about() {
		if !cli.IsTerminal(command.InOrStdin()) {
			return errors.New("choose what the scenario tests: --gate, --from and --to, --kep or --system; see " +
				"rehearse init --help")
		}
		next, err := Ask(command, command.InOrStdin(), command.ErrOrStderr())
		if err != nil {
			return err
		}
		if next != nil {
			return next()
		}
	}
	if err := f.check(); err != nil {
		return err
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
		return cli.Broken(err)
	}
	if err := writeAll(".", []starters.File{{Path: scenario.File, Text: text}}, f.force); err != nil {
		return err
	}
	provider := ""
	if scenario.InPods() {
		provider = "--provider kind "
	}
	fmt.Fprintf(command.OutOrStdout(), "wrote %s\nnext:  rehearse run %s%s\n", scenario.File, provider,
		cli.Quoted(scenario.File))
	return nil
}

// about reports whether the flags give a topic for the scenario.
func (f *flags) about() bool {
	return f.gate != "" || f.kep != "" || f.from != "" || f.to != "" || f.system != "" || len(f.files) > 0
}

var enhancement = regexp.MustCompile(`^[0-9]+$`)

// check finds values of flags that would become a scenario that does not load.
func (f *flags) check() error {
	if f.kep != "" && !enhancement.MatchString(f.kep) {
		return fmt.Errorf("--kep %s: want the number of an enhancement, such as 5311", f.kep)
	}
	if messages := validation.IsDNS1123Subdomain(f.name); f.name != "" && len(messages) > 0 {
		return fmt.Errorf("--name %s: %s", f.name, withoutExample(messages[0]))
	}
	name, _, _ := strings.Cut(f.system, "=")
	if messages := validation.IsDNS1123Label(name); f.system != "" && len(messages) > 0 {
		return fmt.Errorf("--system %s: the name of the system: %s", f.system, withoutExample(messages[0]))
	}
	if f.version != "" && f.gate == "" && (f.kep == "" || f.system != "") {
		return fmt.Errorf("--version %s is the version in which a gate changes; add --gate, or use --from and --to",
			f.version)
	}
	return nil
}

// withoutExample cuts the example and the regular expression from a message about a name.
func withoutExample(message string) string {
	message, _, _ = strings.Cut(message, " (e.g.")
	return message
}

// scenario returns the scenario that the flags describe.
func (f *flags) scenario(command *cobra.Command) (starters.Scenario, error) {
	s := starters.Scenario{Name: f.name, KEP: f.kep}
	found, err := newLook(command)
	if err != nil {
		return s, err
	}
	if s.System, err = f.underTest(); err != nil {
		return s, err
	}
	gate := f.gate
	if gate == "" && f.kep != "" && s.System == nil {
		gate, err = GateOf(f.kep)
		if err != nil && f.from == "" && f.to == "" {
			return s, err
		}
	}
	if s.From, s.To, err = found.versions(f.from, f.to, gate != "", s.System != nil); err != nil {
		return s, err
	}
	if gate != "" {
		if s.Gate, err = found.gate(gate, f.version, s.To); err != nil {
			return s, err
		}
	} else {
		s.Flips = found.flips(s.From, s.To)
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
	s.Command = cli.CommandLine(command)
	return s, nil
}

// fileName is the scenario's default file: beside the definition of its system, whose files it names.
func (f *flags) fileName(s starters.Scenario) string {
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

// writeAll writes files into a folder. If one of them already exists, it writes none, unless forced.
func writeAll(folder string, files []starters.File, force bool) error {
	for _, file := range files {
		path := inFolder(folder, file.Path)
		if _, err := os.Lstat(path); err == nil && !force {
			return fmt.Errorf("%s already exists; nothing is written (--force writes over it)", path)
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

// inFolder returns a path relative to a folder.
func inFolder(folder, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(folder, path)
}
