package main

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/suites/cases"
	"github.com/rehearse-dev/rehearse/suites/conformance"
)

// conformanceFlags say what is tested, and what is reported.
type conformanceFlags struct {
	providerFlags
	profile        string
	systems        []string
	implementation reports.Implementation
	outputs        []string
	execute        harness.Options
	// cases are drawn of each rule, with a seed.
	cases int
	seed  uint64
}

func newConformanceCommand() *cobra.Command {
	var f conformanceFlags
	command := &cobra.Command{
		Use:   "conformance SUITE",
		Short: "Run a suite against an implementation and report which requirements it meets",
		Long: `Conformance runs a suite's scenarios, which are part of this program, and says of each requirement whether it is met. Without --system it
tests the suite's simulator (kubernetes: Kubernetes itself). With --output it writes a ConformanceReport, YAML or, where the file's name ends in .md,
Markdown; then the implementation must be named.

With --cases N it also draws N cases of each rule of the suite that says of any input whether it is allowed (the names of kai and kubernetes, the paths of porch), tries to create each
as a dry run, and compares the verdict with the specification's. A case that is judged otherwise is made as small as it gets, and its requirement is failed.

A requirement that has variants is met, too, by an implementation that follows another variant than the one that is stated; the report says which.

A requirement is passed when every scenario that covers it and can be run on the provider passed, and at least one did; it is failed when one failed; and it is
untested when one could not be judged, or none was run.

Exit codes: 0 each requirement is met, or fails as a known issue says; 1 one failed; 2 the input is wrong; 3 one is untested; 130 interrupted.`,
		Example: `  rehearse conformance kubernetes
  rehearse conformance kai --profile webhook --system kai=process:my-kai.yaml --system kai/older=process:my-old-kai.yaml \
    --organization acme --project kai --url https://example.com --version 1.2.3 --contact @acme/kai --output report.yaml
  rehearse conformance kai --system kai=faults:hint-never,fails-open
  rehearse conformance kai --profile webhook --cases 1000 --seed 7
  rehearse conformance diff before.yaml after.yaml`,
		Args: oneSuite,
		RunE: func(command *cobra.Command, args []string) error { return f.run(command, args[0]) },
	}
	f.providerFlags.add(command)
	flags := command.Flags()
	flags.StringVar(&f.profile, "profile", "", "the kind of implementation, in suites that have several")
	flags.StringArrayVar(&f.systems, "system", nil, "test another system than the simulator: NAME=process:FILE or NAME=manifests:FILE (a YAML file that defines it), NAME/VARIANT=... for a variant that scenarios ask for; or the simulator otherwise than it is: NAME=faults:A,B, NAME=variant:A")
	flags.IntVar(&f.cases, "cases", 0, "draw that many cases of each rule")
	flags.Uint64Var(&f.seed, "seed", 0, "with --cases: draw the cases that this seed draws (default any)")
	flags.StringVar(&f.implementation.Organization, "organization", "", "who makes the implementation")
	flags.StringVar(&f.implementation.Project, "project", "", "name of the implementation")
	flags.StringVar(&f.implementation.URL, "url", "", "where the implementation is found: https://...")
	flags.StringVar(&f.implementation.Version, "version", "", "version of the implementation")
	flags.StringArrayVar(&f.implementation.Contact, "contact", nil, "whom to ask: @team, an address; may be given several times")
	flags.StringArrayVarP(&f.outputs, "output", "o", nil, "write the report into this file, YAML or (.md) Markdown; may be given several times")
	flags.StringVar(&f.execute.ReportDir, "report-dir", "rehearse-report", "folder for junit.xml, run.json and what failed scenarios leave")
	flags.IntVar(&f.execute.Parallel, "parallel", 0, "how many scenarios run at once (default four for each core)")
	flags.IntVar(&f.execute.Clusters, "clusters", 1, "how many clusters there are at once")
	flags.BoolVar(&f.execute.Keep, "keep", false, "leave the clusters, and say how to reach them")
	command.AddCommand(newConformanceDiffCommand())
	return command
}

func (f *conformanceFlags) run(command *cobra.Command, name string) error {
	if f.cases < 0 || (f.seed != 0 && f.cases == 0) {
		return errors.New("--cases wants a number of cases, and --seed is for --cases")
	}
	if len(f.outputs) > 0 {
		if err := f.implementation.Validate(); err != nil {
			return fmt.Errorf("a report needs --organization, --project, --url, --version and --contact: %w", err)
		}
	}
	for _, path := range f.outputs {
		// A run may take long; that its report has no place to go is known now.
		if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
			return fmt.Errorf("--output %s: %s is no folder", path, filepath.Dir(path))
		}
	}
	terminal := reports.NewTerminal(terminalConfig(command.OutOrStdout(), filepath.Join(f.execute.ReportDir, "junit.xml")))
	defer terminal.Close()
	plan, err := f.plan(command, name, terminal.Progress)
	if err != nil {
		return err
	}
	files := reports.NewFiles(f.execute.ReportDir, clock.RealClock{})
	f.execute.Recorder = reports.NewRecorder(plan.Result(), clock.RealClock{}, terminal, files)
	f.execute.Progress, f.execute.Say, f.execute.Environment = terminal.Progress, terminal.Say, os.Environ()
	results := conformance.Results{}
	failure := f.results(command, plan, &results)
	terminal.Close()
	report, err := plan.Report(results, conformance.About{
		Implementation: f.implementation, Command: commandLine(command, name), Rehearse: programVersion(),
	})
	if err == nil {
		err = f.write(report)
	}
	if err != nil {
		return broken(errors.Join(failure, err))
	}
	writeConclusions(command.OutOrStdout(), report, f.outputs)
	return conclude(report, failure)
}

// results runs the plan, then what else its readings and the generated cases need.
func (f *conformanceFlags) results(command *cobra.Command, plan *conformance.Plan, results *conformance.Results) error {
	ctx := command.Context()
	failure := harness.Execute(ctx, plan.Plan, f.execute)
	results.Run = f.execute.Recorder.Run()
	readings, err := plan.Readings(ctx, results.Run)
	if failure = errors.Join(failure, err); readings != nil && ctx.Err() == nil {
		f.execute.Progress("looking whether what is not met as it is stated is met in another variant")
		again := f.execute
		again.ReportDir = filepath.Join(f.execute.ReportDir, "readings")
		again.Recorder = reports.NewRecorder(readings.Result(), clock.RealClock{}, reports.NewFiles(again.ReportDir, clock.RealClock{}))
		failure = errors.Join(failure, harness.Execute(ctx, readings, again))
		results.Readings = again.Recorder.Run()
	}
	if f.cases > 0 && ctx.Err() == nil {
		results.Cases, err = cases.Run(ctx, plan.Rules(), cases.Options{
			Cases: f.cases, Seed: f.seed, Provider: plan.Provider, Simulators: plan.Simulators(), Prefix: fmt.Sprintf("rehearse-%d", os.Getpid()), Progress: f.execute.Progress,
		})
		failure = errors.Join(failure, err)
	}
	return failure
}

// conclude is how the command ends.
func conclude(report *reports.ConformanceReport, failure error) error {
	switch code := report.ExitCode(); {
	case code == exitInterrupted:
		return &exitError{code: code, err: errors.New("interrupted; the reports say what did not run")}
	case code == exitOK && failure != nil:
		return broken(failure)
	case code != exitOK:
		return &exitError{code: code, err: failure}
	}
	return nil
}

func (f *conformanceFlags) plan(command *cobra.Command, name string, progress func(string, ...any)) (*conformance.Plan, error) {
	suite, err := findSuite(name)
	if err != nil {
		return nil, err
	}
	o := conformance.Options{Suite: suite, Profile: f.profile}
	for _, text := range f.systems {
		if err := underTest(&o, text); err != nil {
			return nil, fmt.Errorf("--system %s: %w", text, err)
		}
	}
	if o.Provider, err = f.provider(f.execute.Keep, progress); err != nil {
		return nil, err
	}
	if o.Plan.Simulators, err = catalog().Own(); err != nil {
		return nil, err
	}
	plan, err := conformance.NewPlan(command.Context(), o)
	if err != nil || f.cases == 0 {
		return plan, err
	}
	if len(plan.Rules()) == 0 {
		return nil, fmt.Errorf("--cases %d: suite %s has no rule of which cases can be drawn for this implementation", f.cases, suite.Name)
	}
	if f.seed == 0 {
		// The command that makes the report again must name it.
		if err := command.Flags().Set("seed", strconv.FormatUint(1+rand.Uint64N(1<<31), 10)); err != nil { //nolint:gosec // any number will do
			return nil, fmt.Errorf("choose a seed: %w", err)
		}
	}
	return plan, nil
}

// underTest reads NAME=faults:A,B, NAME=variant:A and NAME[/VARIANT]=process:FILE or manifests:FILE.
func underTest(o *conformance.Options, text string) error {
	name, what, ok1 := strings.Cut(text, "=")
	kind, value, ok2 := strings.Cut(what, ":")
	if !ok1 || !ok2 || name == "" || value == "" {
		return errors.New("want NAME=process:FILE, NAME=manifests:FILE, NAME=faults:A,B or NAME=variant:A")
	}
	switch kind {
	case "faults":
		if name != o.Suite.System {
			return fmt.Errorf("suite %s has no simulator of a system %q", o.Suite.Name, name)
		}
		o.Faults = append(o.Faults, strings.Split(value, ",")...)
		return nil
	case "variant":
		if name != o.Suite.System {
			return fmt.Errorf("suite %s has no simulator of a system %q", o.Suite.Name, name)
		}
		definition := clusters.System{Name: name, Simulated: &clusters.Simulated{Variant: value}}
		o.Substitutes = append(o.Substitutes, conformance.Substitute{System: name, Definition: definition})
		return nil
	case "process", "manifests":
		definition, err := scenarios.LoadSystem(value)
		if err != nil {
			return err
		}
		if definition.Kind() != kind {
			return fmt.Errorf("%s defines a system that is %s", value, definition.Kind())
		}
		system, variant, _ := strings.Cut(name, "/")
		o.Substitutes = append(o.Substitutes, conformance.Substitute{System: system, Variant: variant, Definition: definition})
		return nil
	}
	return fmt.Errorf("want process, manifests, faults or variant, not %q", kind)
}

func (f *conformanceFlags) write(report *reports.ConformanceReport) error {
	var errs []error
	for _, path := range f.outputs {
		data, err := []byte(reports.ConformanceMarkdown(report)), error(nil)
		if filepath.Ext(path) != ".md" {
			data, err = reports.ConformanceYAML(report)
		}
		if err == nil {
			err = reports.ReplaceFile(path, data)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// writeConclusions says what did not pass, and the result.
func writeConclusions(out io.Writer, report *reports.ConformanceReport, files []string) {
	fmt.Fprintln(out)
	for _, q := range report.Requirements {
		if q.Status != reports.ConformancePassed {
			fmt.Fprintf(out, "%-8s %-8s %s: %s\n         %s\n", q.Status, q.Level, q.ID, q.Statement, q.Reason)
		}
	}
	fmt.Fprintf(out, "%s: %s\n", report.Suite.Name, report.Summary)
	for _, file := range files {
		fmt.Fprintf(out, "report: %s\n", file)
	}
}
