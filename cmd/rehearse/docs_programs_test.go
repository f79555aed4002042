package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/builtin"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/program"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

const repositoryRoot = "../.."

// check runs a command of a document if it needs nothing but this program. Otherwise it checks the command as far as
// that is possible here. It returns whether the command ran.
func (s sandbox) check(t *testing.T, words []string) (ran bool, err error) {
	t.Helper()
	for _, own := range []string{"go run ./cmd/rehearse", "go run -buildvcs=true ./cmd/rehearse", "kubectl rehearse"} {
		if prefix := strings.Fields(own); len(words) > len(prefix) && slices.Equal(words[:len(prefix)], prefix) {
			words = append([]string{"rehearse"}, words[len(prefix):]...)
		}
	}
	switch program := words[0]; program {
	case "rehearse":
		return s.rehearse(t, words[1:])
	case "make":
		return false, runs(t, repositoryRoot, "make", append([]string{"--dry-run"}, words[1:]...)...)
	case "go":
		return false, checkGo(t, words[1:])
	case "docker", "kubectl":
		if _, err := exec.LookPath(program); err != nil {
			t.Logf("NOT RUN: %s is not installed, so its flags are not checked", program)
			return false, nil
		}
		// A program that knows all flags shows its help. What follows the name of an image is not for docker.
		return false, runs(t, ".", program, slices.Insert(slices.Clone(words[1:]), 1, "--help")...)
	case ".ci/kind", ".ci/run", ".ci/browser":
		info, err := os.Stat(filepath.Join(repositoryRoot, program))
		if err != nil || info.Mode()&0o100 == 0 {
			return false, fmt.Errorf("it is no program: %w", err)
		}
		if len(words) > 1 {
			return s.check(t, words[1:])
		}
		return false, nil
	case "cd", "cp", "dockerd", "git", "grep", "helm", "install", "kind", "ln", "sed", "sha256sum", "sleep", "sysctl", "tar":
		return false, nil // whatever has these commands needs a rule
	default:
		return false, fmt.Errorf("nobody knows how to check commands of %s", program)
	}
}

// runs runs a program of a command in a folder.
func runs(t *testing.T, dir, program string, args ...string) error {
	t.Helper()
	command := exec.CommandContext(t.Context(), program, args...)
	command.Dir = dir
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// checkGo checks that the packages and modules of a command of Go are those of this repository.
func checkGo(t *testing.T, args []string) error {
	t.Helper()
	modules := golden.Read(t, filepath.Join(repositoryRoot, "go.mod"))
	// A command that writes above its folder runs in a foreign repository.
	foreign := slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "../") })
	for _, arg := range args[1:] {
		path, _, versioned := strings.Cut(arg, "@")
		switch {
		case versioned && !strings.Contains(modules, path+" v"):
			return fmt.Errorf("go.mod requires no %s", path)
		case strings.HasPrefix(arg, "./") && arg != "./..." && !foreign:
			if sources, err := filepath.Glob(filepath.Join(repositoryRoot, arg, "*.go")); err != nil || len(sources) == 0 {
				return fmt.Errorf("there is no package %s", arg)
			}
		}
	}
	if !slices.Contains([]string{"build", "generate", "get", "install", "mod", "run", "test", "version", "vet"}, args[0]) {
		return fmt.Errorf("nobody knows how to check go %s", args[0])
	}
	return nil
}

// filesExist checks that this repository has the files that a command names.
func filesExist(words []string) error {
	for _, word := range words {
		for _, folder := range []string{"scenarios/", "examples/", "docs/", "harness/"} {
			if path := strings.TrimPrefix(word, "./"); strings.HasPrefix(path, folder) {
				if _, err := os.Stat(filepath.Join(repositoryRoot, path)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// rehearse runs a command of rehearse in the sandbox. What would start a cluster is only planned.
func (s sandbox) rehearse(t *testing.T, args []string) (ran bool, err error) {
	t.Helper()
	if _, err := takes(args); err != nil {
		return false, err
	}
	if err := filesExist(args); err != nil {
		return false, err
	}
	args = strings.Split(stands().Replace(strings.Join(args, "\x00")), "\x00")
	command, err := takes(args)
	if err != nil {
		return false, err
	}
	if args, ran = whatRuns(command, args); args == nil {
		return false, nil
	}
	s.enter(t, command.Name() == "schema" || command.Name() == "job")
	var out, errs strings.Builder
	code := run(t.Context(), args, strings.NewReader(oneObject), &out, &errs)
	// Comparisons find differences between the reports in the sandbox.
	if differs := code == cli.ExitFailed && command.Name() == "diff"; code != cli.ExitOK && !differs {
		return false, fmt.Errorf("exit code %d: %s%s", code, out.String(), errs.String())
	}
	if out.Len()+errs.Len() == 0 && command.Name() != "diff" {
		return false, errors.New("it says nothing")
	}
	return ran, nil
}

// whatRuns returns the arguments of what a test can run of a command, and whether that is all of the command. It
// returns nil if nothing can be run without clusters.
func whatRuns(command *cobra.Command, args []string) (part []string, all bool) {
	if provider := command.Flag("provider"); provider != nil && provider.Value.String() == "existing" {
		return nil, false
	}
	switch path := strings.TrimPrefix(command.CommandPath(), "rehearse "); path {
	case "run":
		if strings.HasPrefix(command.Flags().Arg(0), "examples/operators") {
			return nil, false // a plan would build the operators
		}
		plan, _, _ := program.New("rehearse", builtin.All()).Find([]string{"plan"})
		part = []string{"plan"}
		command.Flags().Visit(func(f *pflag.Flag) {
			if plan.Flag(f.Name) != nil {
				for _, value := range valuesOf(f) {
					part = append(part, "--"+f.Name+"="+value)
				}
			}
		})
		return append(part, command.Flags().Args()...), false
	case "upgrade", "explore":
		return append(slices.Clone(args), "--plan"), false
	case "job":
		apply := slices.Contains(args, "--apply")
		return slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return arg == "--apply" }), !apply
	case "plan":
		return args, true
	case "faults":
		if command.Flags().Changed("try") {
			return nil, false
		}
		return args, true
	case "init", "init suite", "schema", "lint", "requirements", "gates", "merge", "conformance diff", "matrix diff":
		return args, true
	}
	if strings.HasPrefix(command.CommandPath(), "rehearse report ") {
		return args, true
	}
	return nil, false
}

// valuesOf returns each value of a flag that may be given several times.
func valuesOf(f *pflag.Flag) []string {
	if several, ok := f.Value.(pflag.SliceValue); ok {
		return several.GetSlice()
	}
	return []string{f.Value.String()}
}
