package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/existing"
	"github.com/rehearse-dev/rehearse/clusters/local"
	"github.com/rehearse-dev/rehearse/harness/capture"
	"github.com/rehearse-dev/rehearse/harness/transplant"
	"github.com/rehearse-dev/rehearse/harness/upgrade"
)

// originFlags are those of rehearse upgrade that name a cluster whose objects are rehearsed.
type originFlags struct {
	context, kubeconfig, capture   string
	secrets                        bool
	serviceRange, encryptionConfig string
	webhooks                       string

	opened []io.Closer
}

func (f *originFlags) add(command *cobra.Command) {
	set := command.Flags()
	set.StringVar(&f.context, "from-context", "", "a live cluster, by its context in the kubeconfig; it is only read")
	set.StringVar(&f.kubeconfig, "kubeconfig", "", "kubeconfig for --from-context (default KUBECONFIG or ~/.kube/config)")
	set.StringVar(&f.capture, "capture", "", "a file of rehearse capture")
	set.BoolVar(&f.secrets, "with-secrets", false, "keep the values of Secrets, instead of dummies of the same length")
	set.StringVar(&f.serviceRange, "service-cluster-ip-range", "", "range of the addresses of Services in the cluster (default: read from its data)")
	set.StringVar(&f.webhooks, "webhooks", "allow", "who answers webhooks in place of the cluster's own: allow (a recorder that allows everything), or down (nobody, once the first state has been surveyed)")
}

// copies says whether the objects are those of a cluster.
func (f *originFlags) copies() bool { return f.context != "" || f.capture != "" }

func (f *originFlags) close() {
	for _, one := range f.opened {
		_ = one.Close() // it serves nobody any more
	}
}

// origin reads the cluster, and returns the first state: what the cluster says of itself, under what flags say.
func (f *originFlags) origin(command *cobra.Command, provider *local.Provider, flags clusters.State, progress clusters.Progress) (*upgrade.Origin, clusters.State, error) {
	if f.webhooks != "allow" && f.webhooks != "down" {
		return nil, flags, fmt.Errorf("--webhooks %s: want allow or down", f.webhooks)
	}
	if f.context != "" && f.capture != "" {
		return nil, flags, errors.New("--from-context and --capture name two clusters; use one of them")
	}
	ctx := command.Context()
	captured, err := f.captured(ctx, progress)
	if err != nil {
		return nil, flags, err
	}
	progress("%s", captured.String())
	recorder, err := transplant.NewRecorder(ctx, time.Now())
	if err != nil {
		return nil, flags, broken(err)
	}
	f.opened = append(f.opened, recorder)
	copied, err := transplant.New(transplant.FromCapture(captured), transplant.Options{
		Name: captured.Name, Incomplete: len(captured.Missing) > 0, ServiceRange: f.serviceRange, Webhooks: recorder, Now: time.Now,
	})
	if err != nil {
		return nil, flags, err
	}
	first, err := transplant.FirstState(ctx, provider, provider.Releases, &captured.Index, copied, flags)
	origin := &upgrade.Origin{Copy: copied, Called: recorder.Notes}
	if f.webhooks == "down" {
		origin.Surveyed = func() { _ = recorder.Close() }
	}
	return origin, first, err
}

// captured is the file, or what the live cluster is just read into. The latter is on no disk.
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
	if _, err := source.Export(ctx, &held, capture.Options{Secrets: f.secrets, Progress: progress, Now: time.Now}); err != nil {
		return nil, err
	}
	return capture.InMemory(access.Context, held.Bytes())
}
