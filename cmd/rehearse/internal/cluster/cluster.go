// Package cluster is the command for clusters that outlive it.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/providers"
	"github.com/rehearse-dev/rehearse/clusters/skew"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/harness"
)

// defaultName is the name of a cluster if the user gives none.
const defaultName = "rehearse"

// Command has a subcommand for each action on clusters.
func Command() *cobra.Command {
	command := &cobra.Command{
		Use:   "cluster",
		Short: "Create and change clusters for experiments, which outlive the command",
		Example: `  rehearse cluster create --version 1.35 --feature-gates RelaxedServiceNameValidation=true --nodes 3
  export KUBECONFIG=$(rehearse cluster kubeconfig)
  rehearse cluster transition --version 1.34
  rehearse cluster delete
  rehearse cluster create --provider kind --version 1.35 mine`,
	}
	command.AddCommand(createCommand(), listCommand(), kubeconfigCommand(),
		transitionCommand(), deleteCommand())
	return command
}

func createCommand() *cobra.Command {
	var flags lastingFlags
	var state cli.StateFlags
	var controlPlanes int
	command := &cobra.Command{
		Use: "create [NAME]", Short: "Create a cluster that runs until it is deleted", Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			provider, err := flags.provider(cli.ProgressTo(command.ErrOrStderr()))
			if err != nil {
				return err
			}
			change, err := state.Change(command)
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
			cluster, err := provider.Create(command.Context(), nameOf(args), wanted)
			if err != nil {
				return cli.Broken(err)
			}
			if err := awaitAccount(command, cluster); err != nil {
				return cli.Broken(err)
			}
			fmt.Fprintf(command.OutOrStdout(), "cluster %s is ready: %s\n  export KUBECONFIG=%s\n", cluster.Name(),
				cluster.State(), cluster.KubeconfigPath())
			return nil
		},
	}
	flags.add(command)
	state.AddTo(command)
	command.Flags().IntVar(&controlPlanes, "control-planes", 1,
		"number of control planes: at most 7; an odd number for a kind cluster")
	return command
}

// awaitAccount waits for the default ServiceAccount, so that the user's first pod is accepted.
func awaitAccount(command *cobra.Command, cluster clusters.Cluster) error {
	client, err := dynamic.NewForConfig(cluster.RESTConfig())
	if err != nil {
		return fmt.Errorf("make a client for cluster %s: %w", cluster.Name(), err)
	}
	if !harness.AwaitAccount(command.Context(), client, metav1.NamespaceDefault) {
		fmt.Fprintln(command.ErrOrStderr(), "there is no default ServiceAccount yet: pods are rejected until "+
			"kube-controller-manager has created it")
	}
	return nil
}

func listCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the clusters that were created", Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			var flags lastingFlags
			// All of them, which is the default.
			flags.Add(pflag.NewFlagSet("list", pflag.ContinueOnError), providers.Lasting())
			all, err := flags.each(nil)
			if err != nil {
				return err
			}
			rows := [][]string{{"NAME", "PROVIDER", "STATE", "RUNNING", "KUBECONFIG"}}
			var errs []error
			for _, provider := range all {
				found, err := list(command.Context(), provider)
				rows, errs = append(rows, found...), append(errs, err)
			}
			return errors.Join(append(errs, cli.WriteTable(command.OutOrStdout(), rows))...)
		},
	}
}

// list returns a row for each of a provider's clusters, including those that cannot be read.
func list(ctx context.Context, provider clusters.LastingProvider) (rows [][]string, err error) {
	names, err := provider.Names()
	if err != nil {
		return nil, cli.Broken(err)
	}
	var errs []error
	for _, name := range names {
		info, err := provider.Describe(ctx, name)
		running := strings.Join(info.Running, ",")
		if err != nil {
			errs, running = append(errs, err), "unknown"
		}
		rows = append(rows, []string{name, provider.Name(), info.State.String(), running, info.Kubeconfig})
	}
	return rows, cli.Broken(errors.Join(errs...))
}

func kubeconfigCommand() *cobra.Command {
	var flags lastingFlags
	command := &cobra.Command{
		Use: "kubeconfig [NAME]", Short: "Print the path of a cluster's kubeconfig", Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			provider, err := owner(command, flags, nameOf(args), nil)
			if err != nil {
				return err
			}
			info, err := provider.Describe(command.Context(), nameOf(args))
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

func transitionCommand() *cobra.Command {
	var flags lastingFlags
	var state cli.StateFlags
	var force bool
	var roll rollFlags
	command := &cobra.Command{
		Use: "transition [NAME]", Short: "Change the state of a cluster; its objects stay", Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			change, err := state.Change(command)
			if err != nil {
				return err
			}
			provider, cluster, err := open(command.Context(), command, flags, nameOf(args),
				cli.ProgressTo(command.ErrOrStderr()))
			if err != nil {
				return err
			}
			defer cluster.Release()
			if err := state.MissingSchedulers(cluster.State()); err != nil {
				return err
			}
			wanted, err := provider.Resolve(command.Context(), cluster.State().With(change))
			if err != nil {
				return err
			}
			if err := inStep(cluster, wanted.Version); err != nil && !force {
				return fmt.Errorf("%w; --force allows it", err)
			}
			if err := provider.Check(command.Context(), []clusters.State{cluster.State(), wanted}); err != nil {
				return err
			}
			if err := roll.converge(command.Context(), command.OutOrStdout(), cluster, wanted); err != nil {
				return err
			}
			fmt.Fprintf(command.OutOrStdout(), "cluster %s: %s\n", cluster.Name(), cluster.State())
			return nil
		},
	}
	flags.add(command)
	state.AddTo(command)
	command.Flags().StringArrayVar(&state.Removed, "remove-scheduler", nil, "remove this additional kube-scheduler")
	command.Flags().BoolVar(&force, "force", false, "allow what the version skew policy forbids")
	roll.addTo(command)
	return command
}

// inStep returns an error if a version is more than one minor version away from the cluster's, or from that of an API
// server that an earlier transition has not reached.
func inStep(cluster clusters.Cluster, version string) error {
	errs := []error{skew.Check(cluster.State().Version, version)}
	if rolling, ok := cluster.(clusters.Rolling); ok && errs[0] == nil {
		for _, server := range rolling.Servers() {
			errs = append(errs, skew.Check(server.Version, version))
		}
	}
	return errors.Join(errs...)
}

func deleteCommand() *cobra.Command {
	var flags lastingFlags
	command := &cobra.Command{
		Use: "delete [NAME...]", Short: "Delete clusters and their files",
		RunE: func(command *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{defaultName}
			}
			var errs []error
			for _, name := range args {
				errs = append(errs, remove(command, flags, filepath.Base(name)))
			}
			return errors.Join(errs...)
		},
	}
	flags.add(command)
	return command
}

func remove(command *cobra.Command, flags lastingFlags, name string) error {
	_, cluster, err := open(command.Context(), command, flags, name, cli.ProgressTo(command.ErrOrStderr()))
	if err != nil {
		return err
	}
	if err := cluster.Delete(command.Context()); err != nil {
		return cli.Broken(err)
	}
	fmt.Fprintf(command.OutOrStdout(), "cluster %s is deleted\n", name)
	return nil
}

func nameOf(args []string) string {
	if len(args) == 0 {
		return defaultName
	}
	return filepath.Base(args[0])
}
