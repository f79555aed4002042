// Package cli is shared by all commands: exit codes, flags, tables, and terminal output.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/releases"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/terminal"
)

// Exit codes of commands: those of a run.
const (
	ExitOK          = reports.ExitPassed
	ExitFailed      = reports.ExitFailed
	ExitInput       = reports.ExitInput
	ExitBroken      = reports.ExitError
	ExitInterrupted = reports.ExitInterrupted
)

// ExitError carries an exit code that differs from that of wrong input.
type ExitError struct {
	Code int
	Err  error // nil: nothing is left to say
}

// Error returns what went wrong.
func (e *ExitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

// Unwrap is the error itself.
func (e *ExitError) Unwrap() error { return e.Err }

// Broken marks an error of the cluster or of Rehearse, as opposed to wrong input.
func Broken(err error) error {
	if err == nil {
		return nil
	}
	return &ExitError{Code: ExitBroken, Err: err}
}

// CodeOf returns the exit code of a command that ends with an error: the code of an ExitError, ExitBroken if a cluster
// or a host did not answer, and ExitInput for any other error.
func CodeOf(err error) int {
	var exit *ExitError
	switch {
	case errors.As(err, &exit):
		return exit.Code
	case unreachable(err):
		return ExitBroken
	}
	return ExitInput
}

// unreachable reports whether a cluster or a host did not answer, which is no mistake in the input.
func unreachable(err error) bool {
	var operation *net.OpError
	var name *net.DNSError
	return errors.Is(err, clusters.ErrUnreachable) || errors.Is(err, context.DeadlineExceeded) ||
		releases.Unanswered(err) || errors.As(err, &operation) && operation.Op != "listen" || errors.As(err, &name)
}

// ProgressTo returns a function that prints lines of progress. A line that differs from the last one only in numbers
// replaces it on a terminal, and is printed now and then in a pipe or a file.
func ProgressTo(w io.Writer) func(string, ...any) {
	return terminal.NewProgress(TerminalConfig(w, ""))
}

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	if !ok {
		return false
	}
	return term.IsTerminal(int(file.Fd()))
}

// Read reads a file, and parses it. what is its content for messages: "a run".
func Read[T any](what, path string, parse func([]byte) (T, error)) (T, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return *new(T), fmt.Errorf("read %s: %w", what, err)
	}
	content, err := parse(data)
	if err != nil {
		return content, fmt.Errorf("%s: %w", path, err)
	}
	return content, nil
}

// IsFolder reports whether the path is a folder.
func IsFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Named requires at least one argument. what names it in the error.
func Named(what string) cobra.PositionalArgs {
	return func(command *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fmt.Errorf("%s: name %s; see %s --help", command.CommandPath(), what, command.CommandPath())
		}
		return nil
	}
}

// Two requires two arguments. what names them in the error.
func Two(what string) cobra.PositionalArgs {
	return func(command *cobra.Command, args []string) error {
		if len(args) != 2 {
			return fmt.Errorf("%s: name two %s", command.CommandPath(), what)
		}
		return nil
	}
}

// CachedReleases returns the releases in the user's cache.
func CachedReleases(progress clusters.Progress) (*releases.Store, error) {
	return releases.New(releases.Options{Progress: progress})
}

// NoArgs rejects arguments. hint says which flag takes what they name.
func NoArgs(hint string) cobra.PositionalArgs {
	return func(command *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return fmt.Errorf("%s: unexpected argument %q: %s; see %s --help", command.CommandPath(), args[0], hint,
			command.CommandPath())
	}
}
