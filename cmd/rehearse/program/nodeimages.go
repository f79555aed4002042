package program

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/clusters/kind/engine"
	"github.com/rehearse-dev/rehearse/clusters/kind/nodeimage"
	"github.com/rehearse-dev/rehearse/clusters/releases"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
)

func newNodeImagesCommand() *cobra.Command {
	var flags cli.ReleaseFlags
	var mirror string
	command := &cobra.Command{
		Use:   "node-images VERSION...",
		Short: "Build node images for kind clusters without any container registry",
		Long: `Node-images builds images for kind nodes from Debian packages and Go modules, and loads them into the
container engine as ` + nodeimage.Repository + `:vVERSION, where --provider kind finds them. It also
builds ` + nodeimage.BalancerTag + `, the load balancer of clusters with several control planes.
It needs Linux, root, debootstrap, Go and a container engine. An image whose inputs did not change
is not built again.`,
		Example: `  sudo rehearse node-images 1.34 1.35`,
		Args:    cobra.MinimumNArgs(1),
		RunE: func(command *cobra.Command, versions []string) error {
			progress := cli.ProgressTo(command.ErrOrStderr())
			programs, err := releases.New(flags.Options(progress))
			if err != nil {
				return err
			}
			loader, err := engine.Detect(command.Context())
			if err != nil {
				return cli.Broken(err)
			}
			builder := nodeimage.New(nodeimage.Options{
				CacheDir: filepath.Join(programs.CacheDir(), "node-images"), Programs: programs, Loader: loader, Mirror: mirror,
				Progress: progress,
			})
			var errs []error
			for _, version := range versions {
				tag, err := builder.Build(command.Context(), version)
				if err != nil {
					errs = append(errs, cli.Broken(err))
					continue
				}
				fmt.Fprintln(command.OutOrStdout(), tag)
			}
			if tag, err := builder.BuildBalancer(command.Context()); err != nil {
				errs = append(errs, cli.Broken(err))
			} else {
				fmt.Fprintln(command.OutOrStdout(), tag)
			}
			return errors.Join(errs...)
		},
	}
	flags.AddTo(command)
	command.Flags().StringVar(&mirror, "mirror", "", "mirror of Debian packages (default: that of debootstrap)")
	return command
}
