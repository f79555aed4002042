package program

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/builtin"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/pastruns"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/session"
	"github.com/rehearse-dev/rehearse/harness/manifests"
	"github.com/rehearse-dev/rehearse/harness/manifests/ordinary"
	"github.com/rehearse-dev/rehearse/harness/planning"
	"github.com/rehearse-dev/rehearse/harness/upgrade"
	"github.com/rehearse-dev/rehearse/reports/page"
	"github.com/rehearse-dev/rehearse/reports/upgrades"
)

// upgradeFlags are the flags of rehearse upgrade.
type upgradeFlags struct {
	cli.ReleaseFlags
	originFlags
	from, to     cli.StateFlags
	files        []string
	overlays     []string
	ordinary     bool
	only, except []string
	namespace    string
	nodes        int
	settle       time.Duration
	sample       int
	noRollback   bool
	noRedeploy   bool
	strategy     string
	systems      session.SystemFlags
	plan         bool
	shard        string
	reportDir    string
}

// defaultSettle is long enough for the controllers of Kubernetes.
const defaultSettle = 10 * time.Second

func newUpgradeCommand(all builtin.Suites) *cobra.Command {
	flags := upgradeFlags{systems: session.SystemFlags{Known: all}}
	command := &cobra.Command{
		Use:   "upgrade --from VERSION --to VERSION -f FILE|FOLDER|-",
		Short: "Show what an upgrade and a rollback would do to your own manifests or cluster",
		Long: `Upgrade creates the objects of your manifests on a real control plane of the version --from. It
upgrades to the version --to one minor version at a time, rolls back the same way, and upgrades
again. At each state it checks every object: whether it reads as before, can be edited, deleted and
created again, and whether anything changed without a user action. It needs no scenario. What breaks
is printed as soon as it is seen; the report comes at the end.

At the end it recreates all objects with the version --to, like a deployment after the upgrade, and
rolls back once more, because the older version may be unable to edit objects that the newer version
created.

With --from-context, or with --capture and a file of "rehearse capture", the objects are those of a
live cluster, which is only read. With --etcd-snapshot, they are those of an etcd backup. Rehearse
copies them directly into etcd, as they are stored, and never recreates them.

--system runs an operator beside your objects, so that they can be its custom resources. --upgrade
upgrades it after Kubernetes. Without --to, only the operator is upgraded.

With --shard 2/5, all objects are created, but only a part of the kinds is checked; rehearse merge
merges the reports.

Pods run on simulated nodes: no image is pulled, and nothing in a container runs.

Exit codes: 0 nothing breaks; 1 something breaks; 2 the input is wrong; 3 something could not be
judged; 130 interrupted.`,
		Example: `  rehearse upgrade --from 1.34 --to 1.36 --ordinary
  rehearse upgrade --from 1.34 --to 1.36 -f manifests/
  rehearse upgrade --from 1.34 --to 1.36 -k overlays/prod
  helm template my-chart | rehearse upgrade --from 1.35 --to 1.36 -f -
  rehearse upgrade --from 1.35.3 --to 1.35.4 -f statefulset.yaml --no-rollback
  rehearse upgrade --from 1.33 --to 1.36 --strategy skip-level -f manifests/
  rehearse upgrade --from 1.35 --to 1.36 --system my=process:op.yaml --upgrade my=process:op-2.yaml -f manifests/
  rehearse upgrade --from-context prod --to 1.36
  rehearse upgrade --capture prod.capture --to 1.36
  rehearse upgrade --etcd-snapshot backup.db --from 1.34 --to 1.36
  rehearse upgrade --capture prod.capture --to 1.36 --shard 1/2 --report-dir shard-1
  rehearse upgrade --from 1.36 --feature-gates SomeGate=true -f manifests/`,
		Args: cli.NoArgs("name manifests with -f"),
		RunE: func(command *cobra.Command, _ []string) error {
			return flags.run(command)
		},
	}
	flags.ReleaseFlags.AddTo(command)
	flags.originFlags.add(command)
	flags.systems.AddTo(command)
	set := command.Flags()
	set.StringVar(&flags.from.Version, "from", "", "Kubernetes version to start from: 1.34 or 1.34.4")
	set.StringVar(&flags.to.Version, "to", "", "Kubernetes version to upgrade to (default: that of --from, if "+
		"--feature-gates, --runtime-config or --upgrade is set)")
	set.StringArrayVarP(&flags.files, "filename", "f", nil,
		"a file or folder of manifests, or - for standard input; may be repeated")
	set.StringArrayVarP(&flags.overlays, "kustomize", "k", nil,
		"a folder with a kustomization, as kubectl -k takes it; may be repeated")
	set.BoolVar(&flags.ordinary, "ordinary", false,
		"rehearse typical objects that come with rehearse, for example if you have no manifests at hand")
	set.StringToStringVar(&flags.to.Gates, "feature-gates", nil,
		"feature gates of the target: A=true,B=false; A= returns a gate to its default")
	set.StringToStringVar(&flags.to.RuntimeConfig, "runtime-config", nil,
		"APIs of the target: scheduling.k8s.io/v1alpha1=true")
	set.StringToStringVar(&flags.from.Gates, "from-feature-gates", nil,
		"feature gates of the first state; they stay set, except those that --feature-gates changes")
	set.StringToStringVar(&flags.from.RuntimeConfig, "from-runtime-config", nil, "APIs of the first state")
	set.StringSliceVar(&flags.only, "only", nil, "check only objects of these kinds (Deployment, "+
		"Ingress.networking.k8s.io), namespaces (shop/), or both (shop/Deployment); the others are created, too")
	set.StringSliceVar(&flags.except, "except", nil, "leave out objects of these kinds or namespaces")
	set.StringVarP(&flags.namespace, "namespace", "n", "default", "namespace of objects that name none")
	set.IntVar(&flags.nodes, "nodes", 3, "number of simulated nodes; a copy of a cluster has the cluster's own "+
		"nodes instead")
	set.DurationVar(&flags.settle, "settle", defaultSettle, "how long the untouched cluster is watched at each "+
		"state, after each leader has its lease")
	set.IntVar(&flags.sample, "sample", 0, "maximum number of objects of the same kind and shape to send dry runs "+
		"for; others are only read (default: no limit)")
	set.StringVar(&flags.strategy, "strategy", string(upgrade.Minor), "path through the versions: minor (one minor "+
		"version at a time), two-step (the new programs first emulate the previous version) or skip-level (only the "+
		"last version's programs, which emulate one minor version after the other)")
	set.BoolVar(&flags.noRollback, "no-rollback", false, "only upgrade: no rollback and no second upgrade")
	set.BoolVar(&flags.noRedeploy, "no-redeploy", false, "do not recreate the objects on the target version for "+
		"another rollback")
	set.StringVar(&flags.shard, "shard", "", "check only the objects of this part of the kinds: 2/5 is the second of "+
		"five; rehearse merge merges the reports of all parts")
	set.BoolVar(&flags.plan, "plan", false, "show what would be done, and start nothing")
	set.StringVar(&flags.reportDir, "report-dir", "rehearse-report",
		"folder for report.html, upgrade.json, upgrade.md and junit.xml")
	return command
}

// options returns the options of the rehearsal. It finds all mistakes in the input.
func (f *upgradeFlags) options(command *cobra.Command) (upgrade.Options, error) {
	o := upgrade.Options{
		Namespace: f.namespace, Settle: f.settle, Sample: f.sample,
		Progress: cli.ProgressTo(command.ErrOrStderr()),
	}
	given := f.ordinary || len(f.files)+len(f.overlays) > 0
	if given && f.copies() {
		return o, errors.New("-f, -k and --ordinary cannot be combined with --from-context, --capture or --etcd-snapshot: " +
			"use one kind of source")
	}
	if !given && !f.copies() {
		return o, errors.New("give the objects with -f or -k, or use --ordinary, or one of --from-context, --capture and " +
			"--etcd-snapshot; see rehearse upgrade --help")
	}
	var err error
	if o.Shard, err = planning.ParseShard(f.shard); err != nil {
		return o, fmt.Errorf("--shard: %w", err)
	}
	if f.shard != "" && f.context != "" {
		return o, errors.New("--shard with --from-context: the objects of a live cluster may change between the shards; " +
			"capture the cluster with rehearse capture, and give each shard the file with --capture")
	}
	if !slices.Contains(upgrade.Strategies(), upgrade.Strategy(f.strategy)) {
		return o, fmt.Errorf("--strategy %s: want one of %v", f.strategy, upgrade.Strategies())
	}
	from, err1 := f.from.Change(command)
	to, err2 := f.to.Change(command)
	if err := errors.Join(err1, err2); err != nil {
		return o, err
	}
	from.Nodes, to.Nodes = nil, nil // --nodes is not one of their flags
	upgraded, err := f.addSystems(&from, &o)
	if err != nil {
		return o, err
	}
	provider, err := f.Local(o.Progress)
	if err != nil {
		return o, err
	}
	o.Provider, o.Features = provider, provider.Releases
	first := clusters.State{Nodes: []clusters.NodeGroup{{Count: &f.nodes}}}
	if f.copies() {
		if command.Flags().Changed("nodes") {
			from.Nodes = first.Nodes
		}
		if o.Origin, first, err = f.origin(command, provider, from, o.Progress); err != nil {
			return o, err
		}
		if o.Origin.Selection = f.selecting(f.only, f.except); f.shard != "" {
			if o.Origin.Digest, err = f.digest(); err != nil {
				return o, err
			}
		}
	} else if first, err = f.given(command, first.With(from), &o); err != nil {
		return o, err
	}
	o.Only = f.selecting(f.only, nil)
	o.Path, err = upgrade.NewPath(command.Context(), provider, upgrade.Wanted{
		From: first, To: to,
		Upgraded: upgraded, Systems: o.Systems, Strategy: upgrade.Strategy(f.strategy),
		NoRollback: f.noRollback, NoRedeploy: f.noRedeploy || f.copies(),
	})
	return o, err
}

// addSystems puts the systems of the flags into the first state, and returns the systems that change in the last one.
func (f *upgradeFlags) addSystems(from *clusters.Change, o *upgrade.Options) ([]clusters.System, error) {
	if f.copies() && f.systems.Any() {
		return nil, errors.New("--system and --upgrade need -f, -k or --ordinary: a copy of a cluster has the " +
			"cluster's own CRDs and webhooks, see --webhook")
	}
	first, upgraded, with, err := f.systems.Read(o.Progress)
	for _, system := range first {
		from.Systems = append(from.Systems, clusters.SystemChange{System: system})
	}
	if err != nil {
		return nil, err
	}
	o.Systems = with
	o.Definitions, err = f.systems.Definitions()
	return upgraded, err
}

// given loads the objects from files, and returns the first state with what they need.
func (f *upgradeFlags) given(command *cobra.Command, first clusters.State, o *upgrade.Options) (clusters.State, error) {
	if err := f.unused(command); err != nil {
		return first, err
	}
	if first.Version == "" {
		return first, errors.New("-f, -k and --ordinary need --from, the version that you have; see rehearse " +
			"upgrade --help")
	}
	sources := manifests.Sources{Paths: f.files, Overlays: f.overlays, Stdin: command.InOrStdin()}
	if f.ordinary {
		sources.Files = ordinary.Files()
	}
	objects, err := sources.Load()
	if err != nil {
		return first, err
	}
	if _, err = f.selecting(f.only, f.except).Of(objects); err != nil {
		return first, err
	}
	if objects, err = f.selecting(nil, f.except).Of(objects); err != nil {
		return first, err
	}
	needs := manifests.PlacementOf(objects)
	first.Nodes = []clusters.NodeGroup{{Count: &f.nodes, Capacity: needs.Capacity, Labels: needs.Labels}}
	if o.Objects, o.Notes = upgrade.Fit(objects, first.Nodes, f.systems.Any()); len(o.Objects) == 0 {
		return first, fmt.Errorf("nothing is left to rehearse: %s", strings.Join(o.Notes, "; "))
	}
	return first, nil
}

// selecting is the selection of entries among the objects. Those of a copy name their namespaces.
func (f *upgradeFlags) selecting(only, except []string) manifests.Selection {
	selection := manifests.Selection{Only: only, Except: except}
	if !f.copies() {
		selection.Namespace = f.namespace
	}
	return selection
}

func (f *upgradeFlags) run(command *cobra.Command) error {
	defer f.close()
	options, err := f.options(command)
	switch {
	case err != nil && f.plan:
		return err
	case err != nil:
		return session.NotStarted(err, []string{f.reportDir}, pastruns.UpgradeFile, upgrades.MarkdownFile)
	}
	if f.plan {
		fmt.Fprint(command.OutOrStdout(), upgrade.Describe(options))
		return nil
	}
	reported := session.Report[*upgrades.Report]{
		Dir: f.reportDir, Write: upgrades.Write, Page: page.OfUpgrade, Markdown: upgrades.Markdown, Text: upgrades.TextIn,
	}
	planned := upgrade.Planned(options)
	head := cli.Head(command)
	planned.Command, planned.Program, planned.Build = head.Command, head.Program, head.Build
	end, err := reported.Begin(planned) // a rehearsal that dies leaves this
	if err != nil {
		return err
	}
	defer end()
	report, err := upgrade.Run(command.Context(), options)
	report.Command, report.Program, report.Build = head.Command, head.Program, head.Build
	reported.Of = report
	return reported.Finish(command, err)
}
