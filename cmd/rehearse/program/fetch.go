package program

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/clusters/releases"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
)

// fetchFlags are the flags of rehearse fetch.
type fetchFlags struct {
	cli.ReleaseFlags
	programs []string
	// platform is that of another machine; "" for this one's.
	platform string
	system   fetchedSystem
}

func newFetchCommand() *cobra.Command {
	var f fetchFlags
	command := &cobra.Command{
		Use:   "fetch VERSION|FILE|FOLDER...",
		Short: "Get the programs that runs need, in advance",
		Long: `Fetch puts kube-apiserver, kube-controller-manager and kube-scheduler of each version into the
cache. It downloads them from the official host and verifies their checksums. If the host cannot be
reached, it builds them from the module k8s.io/kubernetes. "1.34" is the newest published patch of
that minor version; "1.34.4" is exactly that patch.

For a file or folder of scenarios, it gets their versions of Kubernetes that are not in the cache
("1.34" is the newest cached patch), and builds the Go modules of their systems. With --system NAME,
it builds the --versions of this system (and of its replicas) instead of those in the scenarios, as
rehearse matrix uses them. --system NAME=FILE.yaml builds the system that the file defines, and
needs no scenarios; without --versions, it builds the version in the file.

With --platform, it gets a version's programs for an image of another platform (make image). The
image also needs those of this machine's platform in the cache.

Exit codes: 0 all programs are in the cache; 2 the input is wrong, or a version was not found; 3 a
program could not be downloaded or built; 130 interrupted.`,
		Example: `  rehearse fetch 1.34 1.35
  rehearse fetch examples/operators/gatekeeper
  rehearse fetch --system jobset --versions v0.10.1,v0.11.0 examples/operators/jobset
  rehearse fetch --system lws=lws.yaml --versions v0.7.0,v0.8.0
  rehearse fetch --source build 1.34.4
  rehearse fetch --program kubectl 1.36
  rehearse fetch --platform linux/arm64 1.36`,
		Args: func(command *cobra.Command, args []string) error {
			if f.system.definesItself() {
				return nil
			}
			return cli.Named("a version, such as 1.35, or a file of scenarios")(command, args)
		},
		RunE: f.run,
	}
	f.AddTo(command)
	set := command.Flags()
	set.StringSliceVar(&f.programs, "program", nil, "also get this program: kubectl, kubelet, kubeadm or kube-proxy")
	set.StringVar(&f.system.flag, "system", "", "the system whose --versions are built: NAME, or NAME=FILE.yaml")
	set.StringSliceVar(&f.system.versions, "versions", nil, "versions of the system")
	set.StringVar(&f.platform, "platform", "", "get the programs for an image of this platform: linux/amd64 or "+
		"linux/arm64 (default: this machine's)")
	return command
}

func (f *fetchFlags) run(command *cobra.Command, args []string) error {
	options := f.Options(cli.ProgressTo(command.ErrOrStderr()))
	options.Refresh = true
	if command.Flags().Changed("platform") {
		if err := f.checkPlatform(args); err != nil {
			return err
		}
		options.Platform = strings.Replace(f.platform, "/", "-", 1)
	}
	if err := f.system.read(args); err != nil {
		return err
	}
	store, err := releases.New(options)
	if err != nil {
		return err
	}
	var errs []error
	if f.system.definition != nil {
		errs = append(errs, build(command, store, f.system.programs(*f.system.definition)))
	}
	for _, asked := range args {
		if isPath(asked) {
			errs = append(errs, f.scenarios(command, options, asked))
			continue
		}
		version, err := store.Resolve(command.Context(), asked)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		errs = append(errs, ensure(command, store, version, f.programs))
	}
	return errors.Join(errs...)
}

func (f *fetchFlags) checkPlatform(args []string) error {
	if f.platform != "linux/amd64" && f.platform != "linux/arm64" {
		return fmt.Errorf("--platform %s: want linux/amd64 or linux/arm64", f.platform)
	}
	if f.system.flag != "" || slices.ContainsFunc(args, isPath) {
		return errors.New("--platform: name versions; scenarios and systems need programs of this machine's platform")
	}
	return nil
}

// ensure gets the programs of a version, and prints their folder. It also gets the list of the version's feature gates.
func ensure(command *cobra.Command, store *releases.Store, version string, programs []string) error {
	binaries, err := store.Ensure(command.Context(), version, programs...)
	switch {
	case releases.NotPublished(err):
		return err
	case err != nil:
		return cli.Broken(err)
	}
	fmt.Fprintf(command.OutOrStdout(), "%s\t%s\n", version, binaries.Dir)
	if _, err := store.FeatureList(command.Context(), version); err != nil {
		fmt.Fprintf(command.ErrOrStderr(), "%s: %v\n", version, err)
	}
	return nil
}
