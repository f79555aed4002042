package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/providers"
	"github.com/rehearse-dev/rehearse/clusters/skew"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
)

const defaultClusterName = "rehearse"

func newClusterCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "cluster",
		Short: "Clusters to play with, which outlive the command",
		Example: `  rehearse cluster create --version 1.35 --feature-gates RelaxedServiceNameValidation=true --nodes 3
  export KUBECONFIG=$(rehearse cluster kubeconfig)
  rehearse cluster transition --version 1.34
  rehearse cluster delete
  rehearse cluster create --provider kind --version 1.35 mine`,
	}
	command.AddCommand(newClusterCreateCommand(), newClusterListCommand(), newClusterKubeconfigCommand(),
		newClusterTransitionCommand(), newClusterDeleteCommand())
	return command
}

// stateFlags describe a state, or a change of one.
type stateFlags struct {
	version       string
	gates         map[string]string
	runtimeConfig map[string]string
	nodes         int
	profiles      string
	schedulers    []string
	removed       []string
}

func (f *stateFlags) add(command *cobra.Command) {
	command.Flags().StringVar(&f.version, "version", "", "Kubernetes version: 1.35 or 1.35.4")
	command.Flags().StringToStringVar(&f.gates, "feature-gates", nil,
		"feature gates: A=true,B=false; A= returns a gate to its default")
	command.Flags().StringToStringVar(&f.runtimeConfig, "runtime-config", nil,
		"APIs: scheduling.k8s.io/v1alpha1=true; scheduling.k8s.io/v1alpha1= returns one to its default")
	command.Flags().IntVar(&f.nodes, "nodes", 0, "number of nodes: simulated ones, or workers of a kind cluster")
	command.Flags().StringVar(&f.profiles, "scheduler-config", "",
		"file of a KubeSchedulerConfiguration whose profiles to use")
	command.Flags().StringArrayVar(&f.schedulers, "scheduler", nil,
		"an additional kube-scheduler: NAME, which is its schedulerName, or NAME=FILE with a KubeSchedulerConfiguration "+
			"whose profiles to use")
}

func (f *stateFlags) change(command *cobra.Command) (clusters.Change, error) {
	change := clusters.Change{Version: f.version, FeatureGates: map[string]*bool{}, RuntimeConfig: map[string]*string{}}
	for gate, text := range f.gates {
		switch text {
		case "true", "false":
			value := text == "true"
			change.FeatureGates[gate] = &value
		case "":
			change.FeatureGates[gate] = nil
		default:
			return change, fmt.Errorf("--feature-gates %s=%s: want true, false or nothing", gate, text)
		}
	}
	for key, value := range f.runtimeConfig {
		change.RuntimeConfig[key] = &value
		if value == "" {
			change.RuntimeConfig[key] = nil
		}
	}
	if command.Flags().Changed("nodes") {
		change.Nodes = []clusters.NodeGroup{{Count: &f.nodes}}
	}
	var err error
	if f.profiles != "" {
		if change.SchedulerProfiles, err = readProfiles("--scheduler-config", f.profiles); err != nil {
			return change, err
		}
	}
	for _, text := range f.schedulers {
		name, file, hasFile := strings.Cut(text, "=")
		if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
			return change, fmt.Errorf("--scheduler %s: the name %q: %s", text, name, strings.Join(problems, "; "))
		}
		scheduler := clusters.NamedSchedulerChange{NamedScheduler: clusters.NamedScheduler{Name: name}}
		if hasFile {
			if scheduler.Profiles, err = readProfiles("--scheduler", file); err != nil {
				return change, err
			}
		}
		change.Schedulers = append(change.Schedulers, scheduler)
	}
	for _, name := range f.removed {
		change.Schedulers = append(change.Schedulers,
			clusters.NamedSchedulerChange{NamedScheduler: clusters.NamedScheduler{Name: name}, Remove: true})
	}
	return change, nil
}

// readProfiles takes the profiles out of a file with a KubeSchedulerConfiguration.
func readProfiles(flag, file string) ([]map[string]any, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", flag, err)
	}
	var config struct {
		Profiles []map[string]any `json:"profiles"`
	}
	if err := yaml.Unmarshal(data, &config); err != nil {
		return nil, fmt.Errorf("read %s %s: %w", flag, file, err)
	}
	if len(config.Profiles) == 0 {
		return nil, fmt.Errorf("%s %s has no profiles", flag, file)
	}
	return config.Profiles, nil
}

// missingSchedulers says which schedulers are to be removed that are not there.
func (f *stateFlags) missingSchedulers(state clusters.State) error {
	for _, name := range f.removed {
		if !slices.ContainsFunc(state.Schedulers, func(s clusters.NamedScheduler) bool { return s.Name == name }) {
			return fmt.Errorf("--remove-scheduler %s: the cluster has no scheduler of that name; it is %s", name, state)
		}
	}
	return nil
}

func newClusterCreateCommand() *cobra.Command {
	var flags lastingFlags
	var state stateFlags
	var controlPlanes int
	command := &cobra.Command{
		Use: "create [NAME]", Short: "Create a cluster that lasts until it is deleted", Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			provider, err := flags.provider(cli.ProgressTo(command.ErrOrStderr()))
			if err != nil {
				return err
			}
			change, err := state.change(command)
			if err != nil {
				return err
			}
			wanted, err := provider.Resolve(command.Context(), clusters.State{ControlPlanes: controlPlanes}.With(change))
			if err != nil {
				return err
			}
			if err := provider.Check(command.Context(), []clusters.State{wanted}); err != nil {
				return err
			}
			cluster, err := provider.Create(command.Context(), clusterName(args), wanted)
			if err != nil {
				return cli.Broken(err)
			}
			fmt.Fprintf(command.OutOrStdout(), "cluster %s is ready: %s\n  export KUBECONFIG=%s\n", cluster.Name(),
				cluster.State(), cluster.KubeconfigPath())
			return nil
		},
	}
	flags.add(command)
	state.add(command)
	command.Flags().IntVar(&controlPlanes, "control-planes", 1,
		"number of control planes: at most 7; an odd number for a kind cluster")
	return command
}

func newClusterListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the clusters that were created", Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			var flags lastingFlags
			// all of them, as they are by default
			flags.Add(pflag.NewFlagSet("list", pflag.ContinueOnError), providers.Lasting())
			all, err := flags.each(nil)
			if err != nil {
				return err
			}
			table := tabwriter.NewWriter(command.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(table, "NAME\tPROVIDER\tSTATE\tRUNNING\tKUBECONFIG")
			var errs []error
			for _, provider := range all {
				errs = append(errs, list(command.Context(), table, provider))
			}
			return errors.Join(append(errs, table.Flush())...)
		},
	}
}

// list writes a line for each of a provider's clusters, also for those that cannot be looked at.
func list(ctx context.Context, w io.Writer, provider clusters.LastingProvider) error {
	names, err := provider.Names()
	if err != nil {
		return cli.Broken(err)
	}
	var errs []error
	for _, name := range names {
		info, err := provider.Describe(ctx, name)
		running := strings.Join(info.Running, ",")
		if err != nil {
			errs, running = append(errs, err), "unknown"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", name, provider.Name(), info.State, running, info.Kubeconfig)
	}
	return cli.Broken(errors.Join(errs...))
}

func newClusterKubeconfigCommand() *cobra.Command {
	var flags lastingFlags
	command := &cobra.Command{
		Use: "kubeconfig [NAME]", Short: "Print the path of a cluster's kubeconfig", Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			provider, err := owner(command, flags, clusterName(args), nil)
			if err != nil {
				return err
			}
			info, err := provider.Describe(command.Context(), clusterName(args))
			if info.Kubeconfig == "" {
				return err
			}
			fmt.Fprintln(command.OutOrStdout(), info.Kubeconfig)
			return nil
		},
	}
	flags.add(command)
	return command
}

func newClusterTransitionCommand() *cobra.Command {
	var flags lastingFlags
	var state stateFlags
	var force bool
	var upTo int
	command := &cobra.Command{
		Use: "transition [NAME]", Short: "Take a cluster to another state; its objects stay", Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			change, err := state.change(command)
			if err != nil {
				return err
			}
			provider, cluster, err := open(command.Context(), command, flags, clusterName(args),
				cli.ProgressTo(command.ErrOrStderr()))
			if err != nil {
				return err
			}
			defer cluster.Release()
			if err := state.missingSchedulers(cluster.State()); err != nil {
				return err
			}
			wanted, err := provider.Resolve(command.Context(), cluster.State().With(change))
			if err != nil {
				return err
			}
			if err := checkSkew(cluster.State(), wanted); err != nil && !force {
				return err
			}
			if err := provider.Check(command.Context(), []clusters.State{cluster.State(), wanted}); err != nil {
				return err
			}
			if err := convergeUpTo(command.Context(), command.OutOrStdout(), cluster, wanted, upTo); err != nil {
				return err
			}
			fmt.Fprintf(command.OutOrStdout(), "cluster %s: %s\n", cluster.Name(), cluster.State())
			return nil
		},
	}
	flags.add(command)
	state.add(command)
	command.Flags().StringArrayVar(&state.removed, "remove-scheduler", nil, "remove this additional kube-scheduler")
	command.Flags().BoolVar(&force, "force", false, "rehearse what the version skew policy forbids")
	command.Flags().IntVar(&upTo, "up-to", 0, upToUsage)
	return command
}

func checkSkew(from, to clusters.State) error {
	before, err := clusters.ParseVersion(from.Version)
	if err != nil {
		return err
	}
	after, err := clusters.ParseVersion(to.Version)
	if err != nil {
		return err
	}
	if err := skew.Check(before, after); err != nil {
		return fmt.Errorf("%w; --force rehearses it all the same", err)
	}
	return nil
}

func newClusterDeleteCommand() *cobra.Command {
	var flags lastingFlags
	command := &cobra.Command{
		Use: "delete [NAME...]", Short: "Delete clusters and all that they left",
		RunE: func(command *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{defaultClusterName}
			}
			for _, name := range args {
				_, cluster, err := open(command.Context(), command, flags, name, cli.ProgressTo(command.ErrOrStderr()))
				if err != nil {
					return err
				}
				if err := cluster.Delete(command.Context()); err != nil {
					return cli.Broken(err)
				}
				fmt.Fprintf(command.OutOrStdout(), "cluster %s is deleted\n", name)
			}
			return nil
		},
	}
	flags.add(command)
	return command
}

func clusterName(args []string) string {
	if len(args) == 0 {
		return defaultClusterName
	}
	return filepath.Base(args[0])
}
