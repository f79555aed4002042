package conformance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/pastruns"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/session"
	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/ci"
	"github.com/rehearse-dev/rehearse/reports/conformances"
	"github.com/rehearse-dev/rehearse/reports/page"
	"github.com/rehearse-dev/rehearse/reports/terminal"
	"github.com/rehearse-dev/rehearse/suites"
	"github.com/rehearse-dev/rehearse/suites/cases"
	"github.com/rehearse-dev/rehearse/suites/conformance"
)

// run checks that each named suite can run, or all of them, and then runs them one after the other.
func (f *settings) run(command *cobra.Command, names []string) error {
	if len(names) == 0 {
		names = f.suites.Names()
	}
	if err := f.check(names); err != nil {
		return err
	}
	planning := session.New(command, f.execute, "")
	defer planning.Close()
	var runs []*suiteRun
	var dirs []string
	for _, name := range names {
		c := &suiteRun{settings: f, execute: f.execute, suite: name, name: suites.NameOf(name)}
		if len(names) > 1 {
			c.execute.ReportDir, c.part = filepath.Join(f.execute.ReportDir, c.name), c.name
		}
		runs, dirs = append(runs, c), append(dirs, c.execute.ReportDir)
	}
	if len(names) > 1 { // the folder around them may have the reports of a single suite
		dirs = append(dirs, f.execute.ReportDir)
	}
	for _, c := range runs {
		var err error
		if c.plan, err = f.newPlan(command, c.suite, planning.Progress); err != nil {
			if f.of != "" { // the folder may have the run that the report is about
				return err
			}
			return session.NotStarted(err, dirs)
		}
		for _, line := range c.plan.Unplanned() {
			planning.Say("untested: %s", line)
		}
		if err := session.Limit(c.plan.Plan, &c.execute, planning.Progress); err != nil {
			return err
		}
	}
	planning.Close()
	if f.of == "" { // otherwise the folder may have the run that the report is about
		// If the process is killed, the suites that did not run have no reports.
		if err := session.RemoveReports(dirs); err != nil {
			return err
		}
	}
	return inTurn(command.Context(), runs, func(c *suiteRun) error { return c.run(command) })
}

// inTurn runs suites one after the other, until an interrupt. It returns the worst error.
func inTurn(ctx context.Context, runs []*suiteRun, run func(*suiteRun) error) error {
	var worst error
	for _, c := range runs {
		if ctx.Err() != nil { // what is left must not look like a success
			return worse(worst, &cli.ExitError{
				Code: cli.ExitInterrupted, Err: fmt.Errorf("interrupted before suite %s: it did not run", c.suite),
			})
		}
		worst = worse(worst, run(c))
	}
	return worst
}

// check returns an error if the flags are wrong.
func (f *settings) check(names []string) error {
	if f.cases < 0 || (f.seed != 0 && f.cases == 0) {
		return errors.New("--cases needs a positive number, and --seed needs --cases")
	}
	if err := f.Check(f.Shard); err != nil {
		return err
	}
	if f.Repeat > 1 && f.execute.Keep {
		return errors.New("--repeat cannot be combined with --keep")
	}
	if f.Shard != "" && (len(f.outputs) > 0 || f.cases > 0 || f.of != "") {
		return errors.New("--shard cannot be combined with --output, --cases and --of: rehearse merge merges all " +
			"shards, and --of writes the report of the merged run")
	}
	if f.of != "" && (f.Repeat > 1 || f.execute.Keep || len(names) > 1) {
		return errors.New("--of needs exactly one suite, without --repeat and --keep")
	}
	if len(names) > 1 && (f.focus != "" || f.profile != "" || len(f.systems) > 0 || f.cases > 0) {
		return errors.New("--profile, --focus, --system and --cases need exactly one suite")
	}
	for i, name := range names {
		for _, other := range names[:i] {
			if suites.NameOf(name) == suites.NameOf(other) {
				return fmt.Errorf("%s and %s are suites of the same name, and would have the same report folder: run them one "+
					"after the other", other, name)
			}
		}
	}
	if len(f.outputs) > 0 {
		if err := f.implementation.Validate(); err != nil {
			return fmt.Errorf("a report needs --organization, --project, --url, --version and --contact: %w", err)
		}
	}
	for _, path := range f.outputs {
		// A run may take long, so find out now whether its report can be written.
		if cli.IsFolder(path) {
			continue
		}
		if len(names) > 1 {
			return fmt.Errorf("--output %s: it is not a folder, but each of the %d suites has its own "+
				"report", path, len(names))
		}
		if !cli.IsFolder(filepath.Dir(path)) {
			return fmt.Errorf("--output %s: the folder %s does not exist", path, filepath.Dir(path))
		}
	}
	return nil
}

// worse returns the error that the command ends with. Worst first: wrong input, interrupt, failure, untested.
func worse(a, b error) error {
	rank := func(err error) int {
		var exit *cli.ExitError
		switch {
		case err == nil:
			return 0
		case !errors.As(err, &exit):
			return 4
		}
		return map[int]int{cli.ExitBroken: 1, cli.ExitFailed: 2, cli.ExitInterrupted: 3}[exit.Code]
	}
	if rank(b) > rank(a) {
		return b
	}
	return a
}

// suiteRun is the run of one suite.
type suiteRun struct {
	*settings
	execute harness.Options
	// suite is the name or the folder as the user typed it; name is the suite's own name, without a path.
	suite, name string
	// part is the suite's name if the command runs several; "" if it runs one.
	part string
	plan *conformance.Plan
	// runs are all runs that the report is made of.
	runs []*reports.Run
}

// run runs the suite as often as the flags say, and writes its report.
func (c *suiteRun) run(command *cobra.Command) error {
	switch {
	case c.Shard != "":
		return c.oneShard(command)
	case c.of != "":
		run, err := c.madeBefore(command)
		if err != nil {
			return err
		}
		report, failure, err := c.reportOf(command, run)
		return c.finish(command, report, failure, err)
	case c.Repeat == 1:
		report, run, failure, err := c.once(command)
		if run != nil {
			failure = errors.Join(failure, session.Publish(command, run, c.published()))
		}
		return c.finish(command, report, failure, err)
	}
	return c.repeated(command)
}

// published is what a CI system gets.
func (c *suiteRun) published() ci.Report { return ci.Report{Dir: c.execute.ReportDir, Part: c.part} }

// once runs the suite once.
func (c *suiteRun) once(command *cobra.Command) (report *conformances.Report, run *reports.Run, failure,
	err error,
) {
	recorded, err := c.start(command)
	if err != nil {
		return nil, nil, nil, err
	}
	defer recorded.Close()
	results, stated := conformance.Results{}, len(c.runs)
	failure = recorded.Run(func(ctx context.Context, options harness.Options) error {
		failure := harness.Execute(ctx, c.plan.Plan, options)
		results.Run = recorded.Result()
		if c.cases > 0 { // a process that is killed before they are judged leaves this
			failure = errors.Join(failure, session.WriteFiles(c.execute.ReportDir, c.plan.WithCases(results.Run, nil)))
		}
		return errors.Join(failure, c.others(ctx, options, &results))
	})
	if c.cases > 0 {
		results.Run = c.plan.WithCases(results.Run, results.Cases)
		results.Run.Interrupted = results.Interrupted
		if stated < len(c.runs) {
			c.runs[stated] = results.Run // a case that was not judged is no success, whatever its requirements are
		}
		failure = errors.Join(failure, session.WriteFiles(c.execute.ReportDir, results.Run))
	}
	report, err = c.report(command, results)
	return report, results.Run, failure, err
}

// oneShard runs a shard of the suite. The verdicts on requirements need all shards.
func (c *suiteRun) oneShard(command *cobra.Command) error {
	recorded, err := c.start(command)
	if err != nil {
		return cli.Broken(err)
	}
	defer recorded.Close()
	recorded.SayIdle(c.plan.Plan, c.Shard)
	failure := recorded.RunPlan(c.plan.Plan)
	failure = errors.Join(failure, session.Publish(command, recorded.Result(), c.published()))
	if n := len(c.plan.Unplanned()); n > 0 {
		failure = errors.Join(failure, fmt.Errorf("scenarios that cannot be planned: %d; their requirements are "+
			"untested", n))
	}
	return session.End(reports.ExitCode(recorded.Result()), failure)
}

// start begins to show and to report the suite.
func (c *suiteRun) start(command *cobra.Command) (*session.Session, error) {
	recorded := session.New(command, c.execute, page.File, c.suite)
	if err := recorded.Start(c.plan.Result(), c.suites); err != nil {
		recorded.Close()
		return nil, err
	}
	return recorded, nil
}

// madeBefore reads the run of --of.
func (c *suiteRun) madeBefore(command *cobra.Command) (*reports.Run, error) {
	run, _, err := pastruns.Read(c.of)
	switch {
	case err != nil:
		return nil, fmt.Errorf("--of: %w", err)
	case run.Shard != nil:
		return nil, fmt.Errorf("--of %s: it is shard %d/%d; rehearse merge merges all shards", c.of, run.Shard.Number,
			run.Shard.Of)
	case run.Runs > 1:
		return nil, fmt.Errorf("--of %s: it combines %d runs of --repeat; name the folder of one of them, such as run-1 "+
			"beside it", c.of, run.Runs)
	case run.Program != cli.ProgramVersion():
		return nil, fmt.Errorf("--of %s: rehearse %s wrote it, whose suite may differ from that of %s", c.of, run.Program,
			cli.ProgramVersion())
	}
	if !cli.SameProgram(run.Head, cli.Head(command, c.suite)) {
		fmt.Fprintf(command.ErrOrStderr(), "warning: --of %s: another build of rehearse %s may have written it, whose suite "+
			"may differ from that of this one\n", c.of, run.Program)
	}
	if err := c.plan.Made(run); err != nil {
		return nil, fmt.Errorf("--of %s: %w", c.of, err)
	}
	run.Interrupted = run.Interrupted || run.Finished.IsZero() // its process was killed
	return run, nil
}

// reportOf makes the report of an existing run.
func (c *suiteRun) reportOf(command *cobra.Command, run *reports.Run) (report *conformances.Report, failure,
	err error,
) {
	shown := session.New(command, c.execute, "", c.suite)
	defer shown.Close()
	results := conformance.Results{Run: run}
	failure = c.others(command.Context(), shown.Options, &results)
	shown.Close()
	report, err = c.report(command, results)
	return report, failure, err
}

func (c *suiteRun) report(command *cobra.Command, results conformance.Results) (*conformances.Report, error) {
	return c.plan.Report(results, conformance.About{
		Implementation: c.implementation, Command: cli.CommandLine(command, c.suite), Rehearse: cli.ProgramVersion(),
	})
}

// finish writes the report, and ends with its exit code. If the requirements are met, the rest of a scenario may still
// not have been judged, or work on a cluster may have failed, such as its deletion.
func (c *suiteRun) finish(command *cobra.Command, report *conformances.Report, failure, err error) error {
	if err != nil {
		return cli.Broken(errors.Join(failure, err))
	}
	written, err := c.write(report)
	failure = errors.Join(failure, err)
	writeConclusions(command.OutOrStdout(), report, written)
	code := report.ExitCode()
	if code == cli.ExitOK {
		for _, run := range c.runs {
			failure = errors.Join(failure, unjudged(run, report), brokenSetup(run))
		}
	}
	return session.End(code, failure)
}

// unjudged returns an error for each scenario that was not judged to its end, for each whose known issue did not happen
// as expected, and for each that failed although the report shows no requirement that it fails. What its earlier steps
// decided stays.
func unjudged(run *reports.Run, report *conformances.Report) error {
	var errs []error
	for _, track := range run.Tracks {
		for _, s := range track.Scenarios {
			switch s.Status {
			case reports.Error:
				errs = append(errs, fmt.Errorf("scenario %s is an error: %s", s.Name, reports.Reason(s)))
			case reports.Failed:
				// With a known issue, it is a mistake of the suite, for which no requirement can be blamed.
				if len(s.KnownCovers) > 0 || !report.Blames(s.Name) {
					errs = append(errs, fmt.Errorf("scenario %s failed: %s", s.Name, reports.Reason(s)))
				}
			case reports.NotRun:
				errs = append(errs, fmt.Errorf("scenario %s did not run to its end: %s", s.Name,
					reports.WhyNotRun(run, track, s)))
			}
		}
	}
	return errors.Join(errs...)
}

// brokenSetup returns an error for each piece of work on a cluster that failed.
func brokenSetup(run *reports.Run) error {
	var errs []error
	for _, track := range run.Tracks {
		for _, step := range track.Setup {
			if reports.SetupBroken(run, step) {
				errs = append(errs, fmt.Errorf("cluster of %s: %s: %s", track.Name, reports.SetupTitle(step),
					cmp.Or(step.Message, "it did not end")))
			}
		}
	}
	return errors.Join(errs...)
}

// others runs the readings of a run and the generated cases.
func (c *suiteRun) others(ctx context.Context, options harness.Options, results *conformance.Results) error {
	c.runs = append(c.runs, results.Run)
	readings, failure := c.plan.Readings(ctx, results.Run)
	if readings != nil && ctx.Err() == nil {
		options.Progress("checking whether requirements that are not met as stated are met in another variant")
		again := options
		again.ReportDir = filepath.Join(options.ReportDir, session.Readings)
		again.Recorder = reports.NewRecorder(readings.Result(), clock.RealClock{}, session.Files(again.ReportDir))
		failure = errors.Join(failure, harness.Execute(ctx, readings, again))
		results.Readings = again.Recorder.Run()
		c.runs = append(c.runs, results.Readings)
	}
	if c.cases > 0 && ctx.Err() == nil {
		var err error
		results.Cases, err = cases.Run(ctx, c.plan.Rules(), cases.Options{
			Cases: c.cases, Seed: c.seed, Provider: c.plan.Provider, Simulators: c.plan.Simulators(),
			Prefix: fmt.Sprintf("rehearse-%d", os.Getpid()), Progress: options.Progress,
		})
		failure = errors.Join(failure, err)
	}
	results.Interrupted = ctx.Err() != nil
	return failure
}

// write writes the reports and returns their files.
func (c *suiteRun) write(report *conformances.Report) (written []string, err error) {
	var errs []error
	for _, path := range c.outputs {
		if cli.IsFolder(path) {
			path = filepath.Join(path, c.name+".yaml")
		}
		data, err := []byte(conformances.Markdown(report)), error(nil)
		if filepath.Ext(path) != ".md" {
			data, err = conformances.YAML(report)
		}
		if err == nil {
			err = reports.ReplaceFile(path, data)
		}
		if err == nil {
			written = append(written, path)
		}
		errs = append(errs, err)
	}
	return written, errors.Join(errs...)
}

// writeConclusions prints what did not pass, and the result.
func writeConclusions(out io.Writer, report *conformances.Report, files []string) {
	fmt.Fprintln(out)
	for _, q := range report.Requirements {
		if q.Status != conformances.Passed {
			fmt.Fprintf(out, "%-8s %-8s %s: %s\n         %s\n", q.Status, q.Level, q.ID, q.Statement,
				terminal.Clean(q.Reason))
		}
	}
	for _, s := range report.Scenarios {
		if s.Cases != nil {
			fmt.Fprintf(out, "%s: %d cases agreed; seed %d\n", s.Name, s.Cases.Agreed, s.Cases.Seed)
		}
	}
	fmt.Fprintf(out, "%s: %s\n", report.Suite.Name, report.Summary)
	for _, file := range files {
		fmt.Fprintf(out, "report: %s\n", file)
	}
}
