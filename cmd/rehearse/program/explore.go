package program

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/features"
	"github.com/rehearse-dev/rehearse/clusters/local"
	"github.com/rehearse-dev/rehearse/clusters/skew"
	"github.com/rehearse-dev/rehearse/clusters/systems"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/builtin"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/pastruns"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/session"
	"github.com/rehearse-dev/rehearse/harness/explore"
	"github.com/rehearse-dev/rehearse/harness/manifests"
	"github.com/rehearse-dev/rehearse/harness/planning"
	"github.com/rehearse-dev/rehearse/harness/transplant"
	"github.com/rehearse-dev/rehearse/reports/explorations"
	"github.com/rehearse-dev/rehearse/reports/page"
)

// exploreFlags are the flags of rehearse explore.
type exploreFlags struct {
	cli.ReleaseFlags
	path      []string
	gates     []string
	kinds     []string
	duration  time.Duration
	seed      uint64
	objects   int
	nodes     int
	settle    time.Duration
	known     string
	crds      []string
	force     bool
	noProof   bool
	plan      bool
	reportDir string
	shard     string
	systems   session.SystemFlags
	// features are the lists of feature gates.
	features features.Lister
}

func newExploreCommand(all builtin.Suites) *cobra.Command {
	flags := exploreFlags{systems: session.SystemFlags{Known: all}}
	command := &cobra.Command{
		Use:   "explore --path VERSION,VERSION,...",
		Short: "Find what an upgrade, a rollback or a feature gate breaks, with generated objects",
		Long: `Explore generates objects of every kind that the API server serves, with as many fields and values
as it accepts. It creates them in a cluster, takes the cluster along the path, and checks every
object at each state: whether it can be read, edited, deleted and created again, and whether it is
complete. What breaks is grouped, and reduced to the smallest object and the shortest path. Each
finding about an object is written as a scenario, which runs again on a new cluster. If that run
comes to its end and does not show the problem, the finding is dropped. A finding without a complete
second run is marked "not tried again".

A state of the path is a version, optionally followed by feature gates and APIs: "1.34.4 SomeGate=true".

--system runs an operator beside the objects, so that its kinds are explored, too. --upgrade changes it
once the newest version is reached, and changes it back before the path goes on.

With --shard 2/5, only a part of the kinds is explored; rehearse merge merges the reports.

A finding is a defect (stuck, unreadable, moved, lost for good) or a hazard that follows from how
Kubernetes is designed (a field that an older version does not know). The rules are in
https://github.com/rehearse-dev/rehearse/blob/main/docs/explore.md.

Exit codes: 0 no new findings; 1 new findings; 2 the input is wrong; 3 something could not be
judged; 130 interrupted.`,
		Example: `  rehearse explore --path 1.34,1.35,1.34
  rehearse explore --path 1.35,1.36,1.35 --kinds Pod,Ingress --for 20m --seed 7
  rehearse explore --path 1.36 --gates all
  rehearse explore --path 1.36 --kinds Widget --system my=process:op.yaml --upgrade my=process:op-2.yaml
  rehearse explore --path 1.35,1.36,1.35 --shard 1/2 --report-dir shard-1
  rehearse explore --path "1.34.4 SomeGate=true,1.34.4 SomeGate=false" --known known.yaml`,
		Args: cli.NoArgs("name the versions with --path"),
		RunE: func(command *cobra.Command, _ []string) error { return flags.run(command) },
	}
	flags.ReleaseFlags.AddTo(command)
	flags.systems.AddTo(command)
	set := command.Flags()
	set.StringSliceVar(&flags.path, "path", nil, `states to go through: 1.34,1.35,1.34, or "1.34.4 SomeGate=true,1.34.4"`)
	set.StringSliceVar(&flags.gates, "gates", nil, "feature gates to turn on, off and on at the one version of --path: "+
		"names, or all")
	set.StringSliceVar(&flags.kinds, "kinds", nil, "only these kinds: Pod,Ingress.networking.k8s.io (default: all)")
	set.DurationVar(&flags.duration, "for", 0, "end the search after this time, and report what was "+
		"found (default: no limit)")
	set.Uint64Var(&flags.seed, "seed", 1, "seed for the choice of objects if --objects is smaller than their "+
		"number; the same seed makes the same choice")
	set.IntVar(&flags.objects, "objects", 1500, "maximum number of objects that take the path, "+
		"not counting twins (copies that each state also writes unchanged); 0: all")
	set.IntVar(&flags.nodes, "nodes", 10, "number of simulated nodes")
	set.DurationVar(&flags.settle, "settle", 3*time.Second, "how long the untouched cluster is watched at each state")
	set.StringArrayVar(&flags.crds, "crds", nil, "a file or folder with CustomResourceDefinitions, to explore their "+
		"kinds as well; may be repeated")
	set.StringVar(&flags.known, "known", "",
		"file of known findings, such as known.yaml of an earlier report folder")
	set.BoolVar(&flags.force, "force", false, "allow a path that the version skew policy forbids")
	set.BoolVar(&flags.noProof, "no-proof", false, "do not run the scenarios of the findings, so that findings may "+
		"be coincidences")
	set.BoolVar(&flags.plan, "plan", false, "show what would be done, and start nothing")
	set.StringVar(&flags.shard, "shard", "", "explore only this part of the kinds: 2/5 is the second of five; "+
		"rehearse merge merges all parts")
	set.StringVar(&flags.reportDir, "report-dir", "rehearse-report",
		"folder for report.html, explore.md, explore.json, junit.xml, known.yaml and the scenarios of the findings")
	return command
}

// options returns the options of the exploration. It finds all mistakes in the input.
func (f *exploreFlags) options(command *cobra.Command) (explore.Options, error) {
	o := explore.Options{
		Kinds: f.kinds, For: f.duration, Seed: f.seed, Objects: f.objects, Settle: f.settle, Prove: !f.noProof,
		Workers: 8 * runtime.NumCPU(), Progress: cli.ProgressTo(command.ErrOrStderr()),
	}
	if len(f.path) == 0 {
		return o, errors.New("give the states of the path: --path 1.34,1.35,1.34; see rehearse explore --help")
	}
	var err error
	if o.Shard, err = planning.ParseShard(f.shard); err != nil {
		return o, fmt.Errorf("--shard: %w", err)
	}
	provider, err := f.Local(o.Progress)
	if err != nil {
		return o, err
	}
	o.Provider, f.features = provider, provider.Releases
	for _, text := range f.path {
		state, err := stateOf(text)
		if err != nil {
			return o, err
		}
		state.Nodes = []clusters.NodeGroup{{Count: &f.nodes}}
		if state, err = provider.Resolve(command.Context(), state); err != nil {
			return o, err
		}
		o.Path = append(o.Path, state)
	}
	o.Base = o.Path[0]
	if o.Path, o.Gates, err = f.withGates(command, provider, o.Path); err != nil {
		return o, err
	}
	if err := f.withSystems(command, &o); err != nil {
		return o, err
	}
	if err := f.check(o.Path); err != nil {
		return o, err
	}
	if err := f.customs(command, &o); err != nil {
		return o, err
	}
	if f.known != "" {
		if err := f.spared(); err != nil {
			return o, err
		}
		if o.Known, err = explorations.ReadKnown(f.known); err != nil {
			return o, err
		}
	}
	return o, provider.Check(command.Context(), o.Path)
}

// spared returns an error if the report would replace the list of known findings.
func (f *exploreFlags) spared() error {
	replaced, err1 := os.Stat(filepath.Join(f.reportDir, "known.yaml"))
	list, err2 := os.Stat(f.known)
	if err1 == nil && err2 == nil && os.SameFile(replaced, list) {
		return fmt.Errorf("--known %s: the report of this run would replace the file; copy it to another folder, or "+
			"choose another --report-dir", f.known)
	}
	return nil
}

// customs reads the definitions of --crds.
func (f *exploreFlags) customs(command *cobra.Command, o *explore.Options) error {
	if len(f.crds) == 0 {
		return nil
	}
	objects, err := manifests.Sources{Paths: f.crds, Stdin: command.InOrStdin()}.Load()
	if err != nil {
		return err
	}
	for _, one := range objects {
		if one.Content.GetKind() == "CustomResourceDefinition" {
			clean := *one
			clean.Content = transplant.Exported(one.Content)
			o.Customs = append(o.Customs, withoutConversion(&clean, o.Progress))
		}
	}
	if len(o.Customs) == 0 {
		return fmt.Errorf("--crds %s: there is no CustomResourceDefinition in it", strings.Join(f.crds, ", "))
	}
	return nil
}

// withoutConversion is a definition without a conversion webhook that a Service, or a server elsewhere, would answer:
// there is no such Service, and a server would get objects that do not exist.
func withoutConversion(o *manifests.Object, progress func(string, ...any)) *manifests.Object {
	if transplant.Callee(o.Content.Object, "spec", "conversion", "webhook", "clientConfig") == "" {
		return o
	}
	without := *o
	without.Content = o.Content.DeepCopy()
	if stored, others := transplant.WithoutConversion(without.Content); len(others) > 0 {
		progress("%s: no program answers its conversion webhook. Only its stored version %s is explored, not %s",
			o, stored, strings.Join(others, ", "))
	}
	return &without
}

// withSystems puts the systems of the flags onto the path.
func (f *exploreFlags) withSystems(command *cobra.Command, o *explore.Options) error {
	first, upgraded, with, err := f.systems.Read(o.Progress)
	if err != nil {
		return err
	}
	if len(upgraded) > 0 && len(f.gates) > 0 {
		return errors.New("--upgrade and --gates: explore them one after the other; otherwise the cause is unknown")
	}
	o.Systems = with
	if o.Shard.Of > 0 {
		if o.Definitions, err = f.systems.Definitions(); err != nil {
			return err
		}
	}
	o.Path = explore.WithSystems(o.Path, first, upgraded)
	o.Base.Systems = append(o.Base.Systems, first...)
	for i := range o.Gates {
		gate := &o.Gates[i]
		for _, state := range []*clusters.State{&gate.On, &gate.Off, &gate.Flipped} {
			state.Systems = append(state.Systems, first...)
		}
	}
	return systems.CheckPath(command.Context(), o.Path, with)
}

// withGates returns the path on which gates are flipped, and the gates.
func (f *exploreFlags) withGates(command *cobra.Command, provider *local.Provider, path []clusters.State) (
	[]clusters.State, []explore.Gate, error,
) {
	if len(f.gates) == 0 {
		if len(path) < 2 && len(f.systems.Upgrades) == 0 {
			return nil, nil, fmt.Errorf("--path %s: want two states or more, --gates, or --upgrade", f.path[0])
		}
		return path, nil, nil
	}
	if len(path) > 1 {
		return nil, nil, errors.New("--gates: want one state in --path: the gates are turned on, off and on there")
	}
	if !f.plan && slices.Contains(f.gates, "all") { // only the programs know their gates
		if err := provider.Prepare(command.Context(), path[0]); err != nil {
			return nil, nil, err
		}
	}
	list, err := provider.Releases.FeatureList(command.Context(), path[0].Version)
	if err != nil {
		return nil, nil, err
	}
	gates, err := explore.GatesOf(list, path[0], f.gates)
	if err != nil {
		return nil, nil, err
	}
	return explore.PathOf(list, path[0], gates), gates, nil
}

// check finds steps of the path that change nothing, or that the version skew policy forbids.
func (f *exploreFlags) check(path []clusters.State) error {
	for i := 1; i < len(path); i++ {
		if path[i-1].String() == path[i].String() {
			return fmt.Errorf("--path: nothing changes from %s to the state after it; omit one of them", path[i-1])
		}
		if err := skew.Check(path[i-1].Version, path[i].Version); err != nil && !f.force {
			return fmt.Errorf("--path: %w; --force allows it", err)
		}
	}
	return nil
}

// stateOf parses a state of a path: a version, and gates and APIs behind it.
func stateOf(text string) (clusters.State, error) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return clusters.State{}, errors.New("--path: a state is empty; want a version, such as 1.34")
	}
	state := clusters.State{Version: words[0]}
	for _, word := range words[1:] {
		name, value, ok := strings.Cut(word, "=")
		switch {
		case !ok || value != "true" && value != "false":
			return state, fmt.Errorf("--path %s: %q: want NAME=true or NAME=false", text, word)
		case strings.Contains(name, "/"):
			if state.RuntimeConfig == nil {
				state.RuntimeConfig = map[string]string{}
			}
			state.RuntimeConfig[name] = value
		default:
			if state.FeatureGates == nil {
				state.FeatureGates = map[string]bool{}
			}
			state.FeatureGates[name] = value == "true"
		}
	}
	return state, nil
}

func (f *exploreFlags) run(command *cobra.Command) error {
	options, err := f.options(command)
	switch {
	case err != nil && f.plan:
		return err
	case err != nil:
		return session.NotStarted(err, []string{f.reportDir}, pastruns.ExploreFile, explorations.MarkdownFile)
	}
	if f.plan {
		fmt.Fprint(command.OutOrStdout(), explore.Describe(options))
		return nil
	}
	head := cli.Head(command)
	head.Format = explorations.Format
	planned := explore.Planned(options)
	planned.Head = head
	planned.Started = time.Now()
	reported := session.Report[*explorations.Report]{
		Dir: f.reportDir, Write: explorations.Write, Page: page.OfExploration, Markdown: explorations.Markdown,
		Text: explorations.TextIn,
	}
	end, err := reported.Begin(planned) // a shard that dies leaves this
	if err != nil {
		return err
	}
	defer end()
	if err := cli.Planned(command.Context()); err != nil {
		return cli.Broken(err)
	}
	report, err := explore.Run(command.Context(), options)
	report.Command, report.Program, report.Build = head.Command, head.Program, head.Build
	for i, hop := range features.Along(command.Context(), f.features, options.Path...) {
		if i+1 < len(report.Path) {
			report.Path[i+1].Flips = hop.Changes() // without the list of a version, its gates are not named
		}
	}
	reported.Of = report
	return reported.Finish(command, err)
}
