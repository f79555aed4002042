package program

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/clusters/existing"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/harness/capture"
	"github.com/rehearse-dev/rehearse/reports/terminal"
)

func newCaptureCommand() *cobra.Command {
	var kubeconfig, context, output string
	var secrets bool
	command := &cobra.Command{
		Use:   "capture --context CONTEXT -o FILE",
		Short: "Export the objects of a live cluster, read-only, for rehearse upgrade --capture",
		Long: `Capture reads all objects of a cluster and writes them to a file (mode 0600), so that an upgrade can
be rehearsed on another machine or again. It sends only GET requests. It skips and lists what the
credentials may not read.

The values of Secrets are replaced by dummies of the same length; --with-secrets keeps them.
Environment variables of Pods are kept: treat the file like the cluster itself. The ClusterRole that
the credentials need is in https://github.com/rehearse-dev/rehearse/blob/main/docs/upgrade.md.

Exit codes: 0 the file was written; 2 the input is wrong; 3 the cluster could not be read;
130 interrupted.`,
		Example: "  rehearse capture --context prod -o prod.capture\n  rehearse upgrade --capture prod.capture --to 1.36",
		Args:    cli.NoArgs("name the file to write with -o"),
		RunE: func(command *cobra.Command, _ []string) error {
			if output == "" {
				return errors.New("-o FILE is required; see rehearse capture --help")
			}
			access, err := existing.ReadKubeconfig(kubeconfig, context)
			if err != nil {
				return err
			}
			source, err := capture.NewSource(access.Context, access.Config)
			if err != nil {
				return err
			}
			index, err := source.ExportTo(command.Context(), output, capture.Options{
				Secrets:  secrets,
				Progress: cli.ProgressTo(command.ErrOrStderr()), Now: time.Now,
			})
			if errors.Is(err, fs.ErrExist) {
				return fmt.Errorf("%w; remove it, or name another file with -o", err)
			}
			if err != nil {
				return cli.Broken(err)
			}
			fmt.Fprintf(cli.Guarded(command.OutOrStdout()), "%scapture: %s\n", terminal.Clean(index.String()), output)
			return nil
		},
	}
	set := command.Flags()
	set.StringVar(&context, "context", "", "context in the kubeconfig (default: the current context)")
	set.StringVar(&kubeconfig, "kubeconfig", "", "the kubeconfig (default KUBECONFIG or ~/.kube/config)")
	set.StringVarP(&output, "output", "o", "", "the file to write; it must not exist")
	set.BoolVar(&secrets, "with-secrets", false, "keep the values of Secrets, instead of dummies of the same length")
	return command
}
