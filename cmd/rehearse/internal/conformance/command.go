// Package conformance is the command that runs a suite and says which of its requirements are met.
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

// settings say what is tested, and what is reported.
type settings struct {
	cli.ProviderFlags
	profile, focus string
	systems        []string
	implementation conformances.Implementation
	outputs        []string
	execute        harness.Options
	// cases are drawn of each rule, with a seed.
	cases int
	seed  uint64
	// of is a run that is there already, of which the report is made.
	of string
	session.ShardFlags
	session.RepeatFlag
}

// Command runs suites.
func Command() *cobra.Command {
	var f settings
	command := &cobra.Command{
		Use:   "conformance [SUITE...]",
		Short: "Run a suite against an implementation and report which requirements it meets",
		Long: `Conformance runs a suite's scenarios and says of each requirement whether it is met. Suites are part
of this program; ./FOLDER is one of your own: requirements.yaml, and scenarios in the folder
scenarios. Without --system it tests the suite's simulator (kubernetes: Kubernetes itself). With
--output it writes a ConformanceReport, YAML or, where the file's name ends in .md, Markdown; then
the implementation must be named. Of several suites, or of all where none is named, each has a
report of its own: --output is then a folder, which gets SUITE.yaml.

With --cases N it also draws N cases of each rule of the suite that says of any input whether it is
allowed (the names of kai and kubernetes, the paths of porch), tries to create each as a dry run,
and compares the verdict with the specification's. A case that is judged otherwise is made as small
as it gets, and its requirement is failed.

A requirement that has variants is met, too, by an implementation that follows another variant than
the one that is stated; the report says which.

A requirement is passed when every scenario that covers it and can be run on the provider passed,
and at least one did; it is failed when one failed; and it is untested when one could not be judged,
or none was run.

With --repeat N the suite is run N times. The report says which requirements came out differently:
they are unstable, which is not passed. Each run has its own folder in the report folder (run-1,
...); junit.xml beside them has each scenario once, and one that came out differently as a failure.

With --shard 2/5 only a part of the clusters is run, and nothing is said of the requirements: rehearse
merge makes one run of all parts, and --of its folder makes the report of that.

Exit codes: 0 each requirement is met, or fails as a known issue says; 1 one failed, or is unstable;
2 the input is wrong; 3 one is untested; 130 interrupted. With --shard those of rehearse run.`,
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
	flags.StringVar(&f.profile, "profile", "", "the kind of implementation, in suites that have several")
	flags.StringArrayVar(&f.systems, "system", nil, "test another system than the simulator: "+cli.Definitions+
		" (a YAML file that defines it), NAME/VARIANT=... for a variant that scenarios ask for; or a "+
		"simulator with faults or in a variant: NAME=faults:A,B, NAME=liberties:A,B, NAME=variant:A")
	flags.StringVar(&f.focus, "focus", "", "only scenarios whose name matches this regular expression; requirements "+
		"that none of them covers are left out")
	f.RepeatFlag.AddTo(command, "run the suite that many times: a requirement that comes out differently is unstable, "+
		"which is not passed")
	flags.IntVar(&f.cases, "cases", 0, "draw that many cases of each rule")
	flags.StringVar(&f.of, "of", "", "make the report of this run, a run.json or a report folder that has one, and run "+
		"only what variants of requirements need")
	f.ShardFlags.AddTo(command)
	flags.Uint64Var(&f.seed, "seed", 0, "with --cases: draw the cases that this seed draws (default any)")
	flags.StringVar(&f.implementation.Organization, "organization", "", "who makes the implementation")
	flags.StringVar(&f.implementation.Project, "project", "", "name of the implementation")
	flags.StringVar(&f.implementation.URL, "url", "", "where the implementation is found: https://...")
	flags.StringVar(&f.implementation.Version, "version", "", "version of the implementation")
	flags.StringArrayVar(&f.implementation.Contact, "contact", nil,
		"whom to ask: @team, an address; may be given several times")
	flags.StringArrayVarP(&f.outputs, "output", "o", nil,
		"write the report into this file, YAML or (.md) Markdown, or into this folder; may be given several times")
	session.AddTo(command, &f.execute, "folder for junit.xml, run.json and what failed scenarios leave")
	flags.BoolVar(&f.execute.Keep, "keep", false, "leave the clusters, and say how to reach them")
	command.AddCommand(diffCommand())
	return command
}

func (f *settings) newPlan(command *cobra.Command, name string,
	progress func(string, ...any),
) (*conformance.Plan, error) {
	suite, err := builtin.Find(name)
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
	if o.Plan, err = session.PlanOptions(progress); err != nil {
		return nil, err
	}
	if err := f.Put(&o.Plan); err != nil {
		return nil, err
	}
	plan, err := conformance.NewPlan(command.Context(), o)
	if err != nil || f.cases == 0 {
		return plan, err
	}
	if len(plan.Rules()) == 0 {
		return nil, fmt.Errorf("--cases %d: suite %s has no rule of which cases can be drawn for this implementation",
			f.cases, suite.Name)
	}
	if f.seed == 0 {
		// The command that makes the report again must name it.
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
		return errors.New("want " + cli.Definitions + ", NAME=faults:A,B or NAME=variant:A")
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
