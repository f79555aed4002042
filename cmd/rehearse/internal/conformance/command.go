// Package conformance is the command that runs a suite and shows which of its requirements are met.
package conformance

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/builtin"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/session"
	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/reports/conformances"
	"github.com/rehearse-dev/rehearse/suites/conformance"
)

// settings are what to test, and what to report.
type settings struct {
	cli.ProviderFlags
	suites         builtin.Suites
	profile, focus string
	systems        []string
	implementation conformances.Implementation
	outputs        []string
	execute        harness.Options
	// cases is the number of cases to generate for each rule, from a seed.
	cases int
	seed  uint64
	// of is an existing run to make the report from.
	of string
	session.ShardFlags
	session.RepeatFlag
}

// Command runs suites.
func Command(all builtin.Suites) *cobra.Command {
	f := settings{suites: all}
	command := &cobra.Command{
		Use:   "conformance [SUITE...]",
		Short: "Test which requirements of a suite an implementation meets",
		Long: `Conformance runs a suite's scenarios and shows for each requirement whether it is met. Suites are
built in; ./FOLDER is your own suite, with requirements.yaml and a folder scenarios. Without
--system it tests the suite's simulator (kubernetes: Kubernetes itself). --output writes a
ConformanceReport: YAML, or Markdown if the file's name ends in .md. It requires the flags that
describe the implementation. Without a SUITE, all suites run. Several suites have separate reports:
--output is then a folder for SUITE.yaml.

--cases N also generates N cases for each rule that decides for any input whether it is allowed (the
names of kai and kubernetes, the paths of porch), tries to create each as a dry run, and compares
the verdict with the specification. A case with a different verdict is reduced to the smallest
input, and fails its requirement.

A requirement with variants is also met by an implementation of another variant; the report names
it.

A requirement is passed if all scenarios that cover it and that the provider supports passed, and at
least one did. It is failed if one failed, and untested if one could not be planned or judged, or
none ran.

--repeat N runs the suite N times. Requirements whose results or variants differ are unstable, which
is not passed. Each run has its own folder in the report folder (run-1, ...). junit.xml beside them
contains each scenario once, and those with different results as failures.

With --shard 2/5, only a part of the clusters runs, and requirements are not judged. "rehearse
merge" merges all parts, and --of FOLDER writes the report of the merged run.

Exit codes: 0 all requirements are met, or fail because of a known issue; 1 one failed or is
unstable; 2 the input is wrong; 3 one is untested, a scenario was not judged to its end, or work on a
cluster failed, such as its deletion; 130 interrupted. With --shard: those of rehearse run, and 3 if
a scenario cannot be planned.`,
		Example: `  rehearse conformance
  rehearse conformance kubernetes
  rehearse conformance ./examples/team-rules
  rehearse conformance kai --profile webhook --system kai=process:my-kai.yaml \
    --system kai/older=process:my-old-kai.yaml \
    --organization acme --project kai --url https://example.com --version 1.2.3 --contact @acme/kai --output report.yaml
  rehearse conformance kai --system kai=faults:hint-never,fails-open
  rehearse conformance kai --profile webhook --cases 1000 --seed 7
  rehearse conformance leaderworkerset --repeat 10 --focus lws-leader-deleted
  rehearse conformance kai --shard 1/2 --report-dir shard-1
  rehearse conformance kai --of merged
  rehearse conformance diff before.yaml after.yaml`,
		RunE: f.run,
	}
	f.ProviderFlags.AddTo(command)
	flags := command.Flags()
	flags.StringVar(&f.profile, "profile", "", "kind of implementation, for suites with several kinds")
	flags.StringArrayVar(&f.systems, "system", nil, "test this system instead of the simulator: "+cli.Definitions+
		" (a YAML file that defines it), NAME/VARIANT=... for a variant that scenarios need; or "+
		"the simulator with faults, liberties or a variant: NAME=faults:A,B, NAME=liberties:A,B, NAME=variant:A")
	cli.OnceVar(flags, &f.focus, "focus", "only scenarios whose name matches this regular expression; requirements "+
		"that they do not cover are left out")
	f.RepeatFlag.AddTo(command, "number of runs of the suite: a requirement whose results differ is unstable, which "+
		"is not passed")
	flags.IntVar(&f.cases, "cases", 0, "number of generated cases for each rule")
	flags.StringVar(&f.of, "of", "", "write the report of this run (a run.json or a report folder), and run only "+
		"what variants of requirements need")
	f.ShardFlags.AddTo(command)
	flags.Uint64Var(&f.seed, "seed", 0, "with --cases: seed of the generated cases (default: random)")
	flags.StringVar(&f.implementation.Organization, "organization", "", "organization of the implementation")
	flags.StringVar(&f.implementation.Project, "project", "", "name of the implementation")
	flags.StringVar(&f.implementation.URL, "url", "", "URL of the implementation: https://...")
	flags.StringVar(&f.implementation.Version, "version", "", "version of the implementation")
	flags.StringArrayVar(&f.implementation.Contact, "contact", nil,
		"contact of the implementation: @team or an address; may be repeated")
	flags.StringArrayVarP(&f.outputs, "output", "o", nil,
		"write the report to this file (YAML, or Markdown for .md) or folder; may be repeated")
	session.AddTo(command, &f.execute, "folder for report.html, junit.xml, run.json and the files of failed scenarios")
	flags.BoolVar(&f.execute.Keep, "keep", false, "keep the clusters, and print how to reach them")
	command.AddCommand(diffCommand())
	return command
}

func (f *settings) newPlan(command *cobra.Command, name string,
	progress func(string, ...any),
) (*conformance.Plan, error) {
	suite, err := f.suites.Find(name)
	if err != nil {
		return nil, err
	}
	o := conformance.Options{Suite: suite, Profile: f.profile, Focus: f.focus}
	for _, text := range f.systems {
		if err := underTest(&o, text); err != nil {
			return nil, fmt.Errorf("--system %s: %w", text, err)
		}
	}
	if o.Provider, err = f.Provider(f.execute.Keep, progress); err != nil {
		return nil, err
	}
	if o.Plan, err = session.PlanOptions(f.suites, progress); err != nil {
		return nil, err
	}
	if err := f.Put(&o.Plan, f.systems...); err != nil {
		return nil, err
	}
	plan, err := conformance.NewPlan(command.Context(), o)
	if err != nil || f.cases == 0 {
		return plan, err
	}
	if len(plan.Rules()) == 0 {
		return nil, fmt.Errorf("--cases %d: suite %s has no rule for which cases can be generated for this "+
			"implementation",
			f.cases, suite.Name)
	}
	if f.seed == 0 {
		// The command that repeats the report must contain the seed.
		if err := command.Flags().Set("seed", strconv.FormatUint(1+rand.Uint64N(1<<31),
			10)); err != nil { //nolint:gosec // any number will do
			return nil, fmt.Errorf("choose a seed: %w", err)
		}
	}
	return plan, nil
}

// underTest reads NAME=faults:A,B, NAME=variant:A and NAME[/VARIANT]=process:FILE, module:FILE or manifests:FILE.
func underTest(o *conformance.Options, text string) error {
	flag, ok := cli.ParseSystem(text)
	if !ok || flag.Value == "" {
		return errors.New("want " + cli.Definitions + ", NAME=faults:A,B, NAME=liberties:A,B or NAME=variant:A")
	}
	ofSimulator := slices.Contains([]string{"liberties", "faults", "variant"}, flag.Kind)
	if ofSimulator && (flag.Name != o.Suite.System || flag.OfVariant) {
		return fmt.Errorf("suite %s has no simulator of a system %q", o.Suite.Name, text[:strings.Index(text, "=")])
	}
	list := strings.Split(flag.Value, ",")
	switch {
	case flag.Kind == "liberties":
		o.Liberties = append(o.Liberties, list...)
	case flag.Kind == "faults":
		o.Faults = append(o.Faults, list...)
	case flag.Kind == "variant":
		definition := clusters.System{Name: flag.Name, Simulated: &clusters.Simulated{Variant: flag.Value}}
		o.Substitutes = append(o.Substitutes, conformance.Substitute{System: flag.Name, Definition: definition})
	case flag.Defined():
		definition, err := flag.Definition()
		if err != nil {
			return err
		}
		o.Substitutes = append(o.Substitutes, conformance.Substitute{
			System: flag.Name, Variant: flag.Variant, Definition: definition,
		})
	default:
		return fmt.Errorf("want process, module, manifests, faults, liberties or variant, not %q", flag.Kind)
	}
	return nil
}
