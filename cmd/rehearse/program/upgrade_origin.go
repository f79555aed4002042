package program

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/existing"
	"github.com/rehearse-dev/rehearse/clusters/local"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/harness/capture"
	"github.com/rehearse-dev/rehearse/harness/storage"
	"github.com/rehearse-dev/rehearse/harness/transplant"
	"github.com/rehearse-dev/rehearse/harness/upgrade"
)

// originFlags are the flags of rehearse upgrade that select the cluster whose objects are rehearsed.
type originFlags struct {
	context, kubeconfig            string
	capture, snapshot              string
	secrets                        bool
	serviceRange, encryptionConfig string
	webhooks                       string
	programs                       map[string]string

	opened []io.Closer
}

func (f *originFlags) add(command *cobra.Command) {
	set := command.Flags()
	set.StringVar(&f.context, "from-context", "", "a live cluster, by its context in the kubeconfig; it is only read")
	set.StringVar(&f.kubeconfig, "kubeconfig", "",
		"kubeconfig for --from-context (default KUBECONFIG or ~/.kube/config)")
	set.StringVar(&f.capture, "capture", "", "a file of rehearse capture")
	set.StringVar(&f.snapshot, "etcd-snapshot", "",
		"a backup of a cluster's etcd, from etcdctl snapshot save; needs --from")
	set.StringVar(&f.encryptionConfig, "encryption-config", "",
		"EncryptionConfiguration of the values in --etcd-snapshot; it is read in place")
	set.BoolVar(&f.secrets, "with-secrets", false, "keep the values of Secrets, instead of dummies of the same length")
	set.StringVar(&f.serviceRange, "service-cluster-ip-range", "",
		"range of the addresses of Services in the cluster (default: read from its data)")
	set.StringToStringVar(&f.programs, "webhook", nil,
		"a program that answers webhooks: NAME=process:PROGRAM, with the name of a webhook configuration, a Service "+
			"(NAMESPACE/NAME) or a CustomResourceDefinition; its environment contains CERT_DIR, WEBHOOK_HOST, "+
			"WEBHOOK_PORT and KUBECONFIG; may be repeated")
	set.StringVar(&f.webhooks, "webhooks", "allow",
		"replacement for the cluster's webhooks: allow (a recorder that allows everything) or down (nothing answers "+
			"after the first state)")
}

// copies reports whether the objects are copied from a cluster.
func (f *originFlags) copies() bool { return f.context != "" || f.capture != "" || f.snapshot != "" }

func (f *originFlags) close() {
	for _, one := range f.opened {
		_ = one.Close() // it is no longer used
	}
}

// unused rejects the flags of copies where nothing is copied.
func (f *originFlags) unused(command *cobra.Command) error {
	for _, name := range []string{
		"kubeconfig", "encryption-config", "service-cluster-ip-range", "webhook", "webhooks",
	} {
		if !command.Flags().Changed(name) {
			continue
		}
		err := fmt.Errorf("--%s needs --from-context, --capture or --etcd-snapshot", name)
		if name == "webhook" {
			err = fmt.Errorf("%w; with -f, -k or --ordinary, name the program with --system", err)
		}
		return err
	}
	return f.checkSecrets()
}

// check rejects flags with wrong values, and flags that exclude each other.
func (f *originFlags) check() error {
	if f.webhooks != "allow" && f.webhooks != "down" {
		return fmt.Errorf("--webhooks %s: want allow or down", f.webhooks)
	}
	named := 0
	for _, flag := range []string{f.context, f.capture, f.snapshot} {
		if flag != "" {
			named++
		}
	}
	if named > 1 {
		return errors.New("--from-context, --capture and --etcd-snapshot are alternatives; use one of them")
	}
	if f.encryptionConfig != "" && f.snapshot == "" {
		return errors.New("--encryption-config is for --etcd-snapshot")
	}
	return f.checkSecrets()
}

// checkSecrets rejects --with-secrets where it has no effect.
func (f *originFlags) checkSecrets() error {
	if f.secrets && f.context == "" {
		return errors.New("--with-secrets is for --from-context: a file of rehearse capture has the values if that " +
			"command had the flag, and a backup always has them")
	}
	return nil
}

// origin reads the cluster, and returns the first state: the cluster's own, as far as flags do not override it.
func (f *originFlags) origin(
	command *cobra.Command, provider *local.Provider, flags clusters.Change, progress clusters.Progress,
) (*upgrade.Origin, clusters.State, error) {
	if err := f.check(); err != nil {
		return nil, clusters.State{}, err
	}
	ctx := command.Context()
	data, index, err := f.data(ctx, flags, progress)
	if err != nil {
		return nil, clusters.State{}, err
	}
	files, err := f.files()
	if err != nil {
		return nil, clusters.State{}, err
	}
	recorder, err := transplant.NewRecorder(ctx, files, time.Now())
	if err != nil {
		return nil, clusters.State{}, cli.Broken(err)
	}
	f.opened = append(f.opened, recorder)
	options := transplant.Options{
		Name: index.Source, Missing: index.Missing, ServiceRange: f.serviceRange, Webhooks: recorder, Now: time.Now,
	}
	if index.GatesUnknown != "" {
		options.Assumed = []string{fmt.Sprintf("the feature gates of %s are not known (%s): gates that "+
			"--from-feature-gates does not set had their defaults", index.Source, index.GatesUnknown)}
	}
	if f.encryptionConfig != "" {
		if options.EncryptionConfig, err = filepath.Abs(f.encryptionConfig); err != nil {
			return nil, clusters.State{}, err
		}
	}
	copied, err := transplant.New(data, options)
	if err != nil {
		return nil, clusters.State{}, err
	}
	first, err := transplant.FirstState(ctx, provider, provider.Releases, index, copied, flags)
	origin := &upgrade.Origin{Copy: copied, Called: recorder.Notes, Death: recorder.Death}
	origin.Created = func(ctx context.Context, cluster clusters.Cluster) error {
		return recorder.Start(ctx, cluster, time.Now())
	}
	if f.webhooks == "down" {
		origin.Surveyed = func() { _ = recorder.Down() }
	}
	return origin, first, err
}

// digest is equal for copies of equal files with the same options and programs.
func (f *originFlags) digest() (string, error) {
	programs, err := f.files()
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\x00%s\x00%t\x00", f.webhooks, f.serviceRange, f.secrets)
	if err := addFile(sum, cmp.Or(f.capture, f.snapshot)); err != nil {
		return "", err
	}
	for _, name := range slices.Sorted(maps.Keys(programs)) {
		fmt.Fprintf(sum, "\x00%s\x00", name)
		if err := addFile(sum, programs[name]); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// addFile writes a file into a digest.
func addFile(into io.Writer, name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := io.Copy(into, file); err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	return nil
}

// files returns the programs of --webhook by their names.
func (f *originFlags) files() (map[string]string, error) {
	files := map[string]string{}
	for name, value := range f.programs {
		file, ok := strings.CutPrefix(value, "process:")
		if !ok || file == "" {
			return nil, fmt.Errorf("--webhook %s=%s: want NAME=process:PROGRAM", name, value)
		}
		if extension := filepath.Ext(file); extension == ".yaml" || extension == ".yml" {
			return nil, fmt.Errorf("--webhook %s=%s: want the program itself; only --system takes a file that defines one",
				name, value)
		}
		path, err := exec.LookPath(file)
		if err == nil {
			path, err = filepath.Abs(path)
		}
		if err != nil {
			return nil, fmt.Errorf("--webhook %s=%s: %w", name, value, err)
		}
		files[name] = path
	}
	return files, nil
}

// data returns what the cluster stored, and what is known about the cluster.
func (f *originFlags) data(
	ctx context.Context, flags clusters.Change, progress clusters.Progress,
) (transplant.Data, *capture.Index, error) {
	if f.snapshot != "" {
		return f.backup(flags)
	}
	captured, err := f.captured(ctx, progress)
	if err != nil {
		return nil, nil, err
	}
	for line := range strings.Lines(strings.TrimSpace(captured.String())) {
		progress("%s", strings.TrimSpace(line))
	}
	index := captured.Index
	index.Source = captured.Name
	return transplant.FromCapture(captured), &index, nil
}

// backup opens a backup of etcd.
func (f *originFlags) backup(flags clusters.Change) (transplant.Data, *capture.Index, error) {
	if flags.Version == "" {
		return nil, nil, errors.New("--etcd-snapshot needs --from, the version of its cluster")
	}
	if f.encryptionConfig != "" {
		if _, err := os.Stat(f.encryptionConfig); err != nil {
			return nil, nil, fmt.Errorf("--encryption-config: %w", err)
		}
	}
	snapshot, err := storage.OpenSnapshot(f.snapshot)
	if err != nil {
		return nil, nil, err
	}
	f.opened = append(f.opened, snapshot)
	for provider, n := range snapshot.Encrypted() {
		if provider != "kms" && f.encryptionConfig == "" {
			return nil, nil,
				fmt.Errorf("etcd snapshot %s: %d values are encrypted (%s); name the EncryptionConfiguration of the API server "+
					"with --encryption-config", f.snapshot, n, provider)
		}
		if provider == "aesgcm" && snapshot.Prefix() != storage.Prefix {
			return nil, nil, fmt.Errorf("etcd snapshot %s: %d values are encrypted with aesgcm, and their keys begin with %s: "+
				"such values can be read only under their own keys, but a copy has keys that begin with %s", f.snapshot, n,
				snapshot.Prefix(), storage.Prefix)
		}
	}
	return transplant.FromSnapshot(snapshot), &capture.Index{
		Source: f.snapshot, Secrets: true,
		GatesUnknown: "an etcd backup does not contain them",
	}, nil
}

// captured opens the capture file, or captures the live cluster in memory, not on disk.
func (f *originFlags) captured(ctx context.Context, progress clusters.Progress) (*capture.Capture, error) {
	if f.capture != "" {
		return capture.Open(f.capture)
	}
	access, err := existing.ReadKubeconfig(f.kubeconfig, f.context)
	if err != nil {
		return nil, err
	}
	source, err := capture.NewSource(access.Context, access.Config)
	if err != nil {
		return nil, err
	}
	var held bytes.Buffer
	if _, err := source.Export(ctx, &held, capture.Options{
		Secrets: f.secrets, Progress: progress,
		Now: time.Now,
	}); err != nil {
		return nil, cli.Broken(err)
	}
	return capture.InMemory(access.Context, held.Bytes())
}
