package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/existing"
	"github.com/rehearse-dev/rehearse/clusters/kind"
	"github.com/rehearse-dev/rehearse/clusters/local"
	"github.com/rehearse-dev/rehearse/clusters/releases"
)

// releaseFlags say where Kubernetes programs come from.
type releaseFlags struct {
	source, binDir string
}

func (f *releaseFlags) add(command *cobra.Command) {
	command.Flags().StringVar(&f.source, "source", string(releases.Auto), "where Kubernetes programs come from: auto, download or build")
	command.Flags().StringVar(&f.binDir, "kubernetes-bin", "", "use the Kubernetes programs of this folder instead")
}

func (f *releaseFlags) options(progress clusters.Progress) releases.Options {
	return releases.Options{Source: releases.Source(f.source), BinDir: f.binDir, Progress: progress}
}

func (f *releaseFlags) local(lasting bool, progress clusters.Progress) (*local.Provider, error) {
	provider, err := local.Default(f.options(progress), progress)
	if err != nil {
		return nil, err
	}
	provider.Lasting = lasting
	return provider, nil
}

const nodeImageUsage = "kind: the node image of a version (1.36=NAME), of every version (example.com/node:v{version}), or the load balancer of several control planes (load-balancer=NAME)"

// providerFlags choose the provider of clusters.
type providerFlags struct {
	releaseFlags
	name, kubeconfig, context, transitionCommand, hostAddress string
	nodeImages                                                []string
	transitionTimeout                                         time.Duration
}

func (f *providerFlags) add(command *cobra.Command) {
	f.releaseFlags.add(command)
	command.Flags().StringVar(&f.name, "provider", "local", "where clusters come from: local, kind or existing")
	command.Flags().StringArrayVar(&f.nodeImages, "node-image", nil, nodeImageUsage)
	command.Flags().StringVar(&f.kubeconfig, "kubeconfig", "", "existing cluster: its kubeconfig (default KUBECONFIG or ~/.kube/config)")
	command.Flags().StringVar(&f.context, "context", "", "existing cluster: the context in the kubeconfig")
	command.Flags().StringVar(&f.transitionCommand, "transition-command", "", "existing cluster: the program that performs a transition; it gets REHEARSE_VERSION, REHEARSE_FEATURE_GATES and REHEARSE_STATE in its environment")
	command.Flags().DurationVar(&f.transitionTimeout, "transition-timeout", 0, "existing cluster: how long it may take to be in the new state after the transition command has ended (default 5m, but 1m where nothing changes)")
	command.Flags().StringVar(&f.hostAddress, "host-address", "", "existing cluster: the address at which its API server reaches this machine, for systems that run as processes here")
}

func (f *providerFlags) provider(lasting bool, progress clusters.Progress) (clusters.Provider, error) {
	if f.name != "existing" && (f.kubeconfig != "" || f.context != "" || f.transitionCommand != "" || f.transitionTimeout != 0 || f.hostAddress != "") {
		return nil, errors.New("--kubeconfig, --context, --transition-command, --transition-timeout and --host-address are for --provider existing")
	}
	if f.transitionTimeout < 0 {
		return nil, fmt.Errorf("--transition-timeout %s: want a positive duration, such as 10m", f.transitionTimeout)
	}
	if f.name != "kind" && len(f.nodeImages) > 0 {
		return nil, errors.New("--node-image is for --provider kind")
	}
	switch f.name {
	case "local":
		return f.local(lasting, progress)
	case "kind":
		return f.kind(f.nodeImages, lasting, progress)
	case "existing":
		return existing.New(existing.Options{
			Kubeconfig: f.kubeconfig, Context: f.context, HostAddress: f.hostAddress,
			TransitionCommand: strings.Fields(f.transitionCommand), TransitionTimeout: f.transitionTimeout,
		})
	default:
		return nil, fmt.Errorf("--provider %q: want local, kind or existing", f.name)
	}
}

func (f *releaseFlags) kind(nodeImages []string, lasting bool, progress clusters.Progress) (*kind.Provider, error) {
	images, err := kind.ParseNodeImages(nodeImages)
	if err != nil {
		return nil, err
	}
	provider, err := kind.Default(f.options(progress), images, progress)
	if err != nil {
		return nil, err
	}
	provider.Lasting = lasting
	return provider, nil
}
