package program

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/clusters/releases"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
)

func newFetchCommand() *cobra.Command {
	var flags cli.ReleaseFlags
	var programs []string
	command := &cobra.Command{
		Use:   "fetch VERSION|FILE|FOLDER...",
		Short: "Get the programs that runs need, in advance",
		Long: `Fetch puts kube-apiserver, kube-controller-manager and kube-scheduler of each version into the
cache. It downloads them from the official host and verifies their checksums. If the host cannot be
reached, it builds them from the module k8s.io/kubernetes. "1.34" is the newest available patch of
that minor version; "1.34.4" is exactly that patch.

For a file or folder of scenarios, it gets their versions of Kubernetes that are not in the cache,
and builds the Go modules of their systems.`,
		Example: `  rehearse fetch 1.34 1.35
  rehearse fetch examples/operators/gatekeeper
  rehearse fetch --source build 1.34.4
  rehearse fetch --program kubectl 1.36`,
		Args: cli.Named("a version, such as 1.35, or a file of scenarios"),
		RunE: func(command *cobra.Command, args []string) error {
			options := flags.Options(cli.ProgressTo(command.ErrOrStderr()))
			options.Refresh = true
			store, err := releases.New(options)
			if err != nil {
				return err
			}
			var errs []error
			for _, asked := range args {
				if isPath(asked) {
					errs = append(errs, fetchFor(command, options, asked, programs))
					continue
				}
				version, err := store.Resolve(command.Context(), asked)
				if err != nil {
					errs = append(errs, err)
					continue
				}
				errs = append(errs, ensure(command, store, version, programs))
			}
			return errors.Join(errs...)
		},
	}
	flags.AddTo(command)
	command.Flags().StringSliceVar(&programs, "program", nil,
		"also get this program: kubectl, kubelet, kubeadm or kube-proxy")
	return command
}

// ensure gets the programs of a version, and prints their folder. It also gets the list of the version's feature gates.
func ensure(command *cobra.Command, store *releases.Store, version string, programs []string) error {
	binaries, err := store.Ensure(command.Context(), version, programs...)
	if err != nil {
		return cli.Broken(err)
	}
	fmt.Fprintf(command.OutOrStdout(), "%s\t%s\n", version, binaries.Dir)
	if _, err := store.FeatureList(command.Context(), version); err != nil {
		fmt.Fprintf(command.ErrOrStderr(), "%s: %v\n", version, err)
	}
	return nil
}
