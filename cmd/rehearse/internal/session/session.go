// Package session is shared by the commands that run scenarios: the progress on the terminal, the recorder of the run,
// the report folder and its files, and the exit code.
package session

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/builtin"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/ci"
	"github.com/rehearse-dev/rehearse/reports/formats"
	"github.com/rehearse-dev/rehearse/reports/terminal"
)

// Session shows the progress of one plan, runs it and reports it.
type Session struct {
	*terminal.Terminal
	// Options for the execution of plans. ReportDir is the report folder.
	Options harness.Options

	command *cobra.Command
	args    []string
}

// New shows progress until Close. pageFile is the file of the report folder that is named at the end, "" for none.
// args are the arguments of the command that repeats the run.
func New(command *cobra.Command, options harness.Options, pageFile string, args ...string) *Session {
	if pageFile != "" {
		pageFile = filepath.Join(options.ReportDir, pageFile)
	}
	shown := terminal.New(cli.TerminalConfig(command.OutOrStdout(), pageFile))
	options.Progress, options.Say, options.Environment = shown.Progress, shown.Say, os.Environ()
	return &Session{Terminal: shown, Options: options, command: command, args: args}
}

// SayIdle says that a shard has nothing to run if there is no cluster for it.
func (s *Session) SayIdle(plan *harness.Plan, shard string) {
	if len(plan.Tracks) == 0 {
		s.Say("shard %s has nothing to run: there are fewer clusters than shards", shard)
	}
}

// Start writes the reports of a planned run, in which nothing has run yet. They contain requirements of known suites.
func (s *Session) Start(planned *reports.Run, known builtin.Suites) error {
	result, err := describe(planned, known, s.command, s.args...)
	if err != nil {
		return err
	}
	s.Options.Recorder = reports.NewRecorder(result, clock.RealClock{}, s.Terminal, Files(s.Options.ReportDir),
		afterPlanning{s.command.Context()})
	return nil
}

// afterPlanning is the observer behind the files: it says that they have the planned run.
type afterPlanning struct{ ctx context.Context }

// Observe implements reports.Observer.
func (a afterPlanning) Observe(e reports.Event) error {
	if e.Kind == reports.RunStarted {
		return cli.Planned(a.ctx)
	}
	return nil
}

// Run executes the plan.
func (s *Session) Run(execute func(context.Context, harness.Options) error) error {
	failure := execute(s.command.Context(), s.Options)
	s.Close()
	return failure
}

// RunPlan is Run for a single plan.
func (s *Session) RunPlan(plan *harness.Plan) error {
	return s.Run(func(ctx context.Context, options harness.Options) error { return harness.Execute(ctx, plan, options) })
}

// Publish passes the reports of a run to the CI system, if the command runs in one.
func Publish(command *cobra.Command, run *reports.Run, of ci.Report) error {
	return ci.Publish(run, of, os.Getenv, command.OutOrStdout())
}

// Result of the run so far.
func (s *Session) Result() *reports.Run { return s.Options.Recorder.Run() }

// Files are the reports of a run in a folder.
func Files(dir string) *reports.Files {
	return reports.NewFiles(dir, clock.RealClock{}, inFolder(dir)...)
}

// WriteFiles writes the reports of a finished run into a folder.
func WriteFiles(dir string, run *reports.Run) error {
	return reports.WriteFiles(dir, run, inFolder(dir)...)
}

func inFolder(dir string) []reports.FileFormat {
	return formats.InFolder(dir, ci.Attachments(dir, os.Getenv))
}

// End returns how a command with an exit code of its reports ends. failure is an error outside of the reports.
func End(code int, failure error) error {
	if code == cli.ExitOK && failure != nil {
		code = cli.ExitBroken
	}
	switch code {
	case cli.ExitOK:
		return nil
	case cli.ExitInterrupted:
		interrupted := errors.New("interrupted; the reports list what did not run")
		failure = errors.Join(interrupted, withoutInterrupt(failure))
	}
	return &cli.ExitError{Code: code, Err: failure}
}

// withoutInterrupt returns the joined errors without those that only repeat that the command was interrupted.
func withoutInterrupt(err error) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var rest error
		for _, one := range joined.Unwrap() {
			rest = errors.Join(rest, withoutInterrupt(one))
		}
		return rest
	}
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// EndOfTrials returns how a command ends that found problems, or could not judge something.
func EndOfTrials(wrong, unjudged error) error {
	if wrong != nil {
		return &cli.ExitError{Code: cli.ExitFailed, Err: errors.Join(wrong, unjudged)}
	}
	return cli.Broken(unjudged)
}
