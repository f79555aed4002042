package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
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
}

func newConformanceCommand() *cobra.Command {
	var f conformanceFlags
	command := &cobra.Command{
		Use:   "conformance SUITE",
		Short: "Run a suite against an implementation and report which requirements it meets",
		Long: `Conformance runs a suite's scenarios, which are part of this program, and says of each requirement whether it is met. Without --system it
tests the suite's simulator (kubernetes: Kubernetes itself). With --output it writes a ConformanceReport, YAML or, where the file's name ends in .md,
Markdown; then the implementation must be named.

A requirement is passed when every scenario that covers it and can be run on the provider passed, and at least one did; it is failed when one failed; and it is
untested when one could not be judged, or none was run.

Exit codes: 0 each requirement is met, or fails as a known issue says; 1 one failed; 2 the input is wrong; 3 one is untested; 130 interrupted.`,
		Example: `  rehearse conformance kubernetes
  rehearse conformance kai --profile webhook --system kai=process:my-kai.yaml --system kai/older=process:my-old-kai.yaml \
    --organization acme --project kai --url https://example.com --version 1.2.3 --contact @acme/kai --output report.yaml
  rehearse conformance kai --system kai=faults:hint-never,fails-open
  rehearse conformance diff before.yaml after.yaml`,
		Args: oneSuite,
		RunE: func(command *cobra.Command, args []string) error { return f.run(command, args[0]) },
	}
	f.providerFlags.add(command)
	flags := command.Flags()
	flags.StringVar(&f.profile, "profile", "", "the kind of implementation, in suites that have several")
	flags.StringArrayVar(&f.systems, "system", nil, "test another system than the simulator: NAME=process:FILE or NAME=manifests:FILE (a YAML file that defines it), NAME/VARIANT=... for a variant that scenarios ask for; or faults of the simulator: NAME=faults:A,B")
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
	failure := harness.Execute(command.Context(), plan.Plan, f.execute)
	terminal.Close()
	report, err := plan.Report(f.execute.Recorder.Run(), conformance.About{
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
	return conformance.NewPlan(command.Context(), o)
}

// underTest reads NAME=faults:A,B and NAME[/VARIANT]=process:FILE or manifests:FILE.
func underTest(o *conformance.Options, text string) error {
	name, what, ok1 := strings.Cut(text, "=")
	kind, value, ok2 := strings.Cut(what, ":")
	if !ok1 || !ok2 || name == "" || value == "" {
		return errors.New("want NAME=process:FILE, NAME=manifests:FILE or NAME=faults:A,B")
	}
	switch kind {
	case "faults":
		if name != o.Suite.System {
			return fmt.Errorf("suite %s has no simulator of a system %q", o.Suite.Name, name)
		}
		o.Faults = append(o.Faults, strings.Split(value, ",")...)
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
	return fmt.Errorf("want process, manifests or faults, not %q", kind)
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
