// Package existing uses an existing cluster through its kubeconfig, and never creates or deletes one.
package existing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"reflect"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/proof"
	"github.com/rehearse-dev/rehearse/clusters/scratch"
)

// Options of a Provider.
type Options struct {
	// Kubeconfig is the path of the file. Default: $KUBECONFIG or ~/.kube/config.
	Kubeconfig string
	// Context in the file. Default: its current one.
	Context string
	// TransitionCommand is the program, with its arguments, that performs a transition. Default: no transitions.
	TransitionCommand []string
	// TransitionTimeout is the timeout for the new state after the transition command has exited. Default: 5 minutes, or
	// 1 minute without a change of the cluster's answer.
	TransitionTimeout time.Duration
	// HostAddress is the address at which the cluster's API server reaches this machine, for systems that are processes
	// here. Default: 127.0.0.1 if the API server is on this machine.
	HostAddress string
}

// Provider provides one existing cluster.
type Provider struct {
	options Options
	rest    *rest.Config
	// name is the name of the context, cluster the name of the cluster in the kubeconfig.
	name, cluster string
	access        Access
	patience
	// left says how transitions have left the cluster; nil while it is in its first state.
	left atomic.Pointer[string]
}

// New reads the kubeconfig.
func New(o Options) (*Provider, error) {
	access, err := ReadKubeconfig(o.Kubeconfig, o.Context)
	if err != nil {
		return nil, err
	}
	access.Config.QPS = -1
	return &Provider{
		options: o, rest: access.Config, name: access.Context, cluster: access.Cluster, access: access,
		patience: patienceFor(o.TransitionTimeout),
	}, nil
}

// Name returns "existing".
func (p *Provider) Name() string { return "existing" }

// Borrowed returns the name of the cluster in the kubeconfig, for messages.
func (p *Provider) Borrowed() string {
	return fmt.Sprintf("cluster %s (context %s)", p.cluster, p.name)
}

// Resolve sets the cluster's exact version if the state's version agrees with it. Check rejects any other version.
func (p *Provider) Resolve(ctx context.Context, state clusters.State) (clusters.State, error) {
	got, err := p.serverVersion(ctx)
	if err != nil {
		return state, err
	}
	if state.Version == "" || agree(state.Version, got) {
		state.Version = got
	}
	return state, nil
}

// agree reports whether a version in a scenario means the exact one.
func agree(asked, exact string) bool {
	a, err1 := clusters.ParseVersion(asked)
	e, err2 := clusters.ParseVersion(exact)
	if err1 != nil || err2 != nil {
		return false
	}
	return a.MinorString() == e.MinorString() && (!a.Exact() || a.Compare(e) == 0)
}

func (p *Provider) serverVersion(ctx context.Context) (string, error) {
	client, err := discovery.NewDiscoveryClientForConfig(p.rest)
	if err != nil {
		return "", fmt.Errorf("make a client for cluster %s: %w", p.name, err)
	}
	data, err := client.RESTClient().Get().AbsPath("/version").DoRaw(ctx) // ServerVersion would not end with the context
	if err != nil {
		return "", fmt.Errorf("ask cluster %s for its version: %w", p.name, err)
	}
	var info version.Info
	if err := json.Unmarshal(data, &info); err != nil {
		return "", fmt.Errorf("read the version of cluster %s: %w", p.name, err)
	}
	release, err := clusters.ParseRelease(info.GitVersion)
	if err != nil {
		return "", fmt.Errorf("cluster %s says its version is %q: %w", p.name, info.GitVersion, err)
	}
	return release.String(), nil
}

// Check rejects a path if the cluster is not in its first state, or if it needs a transition command that is not set.
func (p *Provider) Check(ctx context.Context, path []clusters.State) error {
	for _, state := range path[1:] {
		if len(p.options.TransitionCommand) == 0 && !sameCluster(state, path[0]) {
			return fmt.Errorf("transition to %s: an existing cluster is not ours to change; name a program that does it with "+
				"--transition-command, or use --provider local or kind", state)
		}
	}
	return errors.Join(p.checkSystems(path), p.at(ctx, path[0]))
}

// sameCluster reports whether two states differ at most in their systems, which can change on any cluster.
func sameCluster(a, b clusters.State) bool {
	a.Systems, b.Systems = nil, nil
	return reflect.DeepEqual(a, b)
}

// checkSystems rejects systems that are processes here if it is unknown how the cluster can reach them.
func (p *Provider) checkSystems(path []clusters.State) error {
	if p.hostAddress() != "" {
		return nil
	}
	for _, state := range path {
		for _, system := range state.Systems {
			if system.Kind() != "manifests" {
				return fmt.Errorf("system %s runs as a process on this machine, and the address at which the API "+
					"server of cluster %s can reach it is unknown: set --host-address", system.Name, p.name)
			}
		}
	}
	return nil
}

// hostAddress returns the address at which the API server reaches this machine; "" if it is unknown.
func (p *Provider) hostAddress() string {
	if p.options.HostAddress != "" {
		return p.options.HostAddress
	}
	server, err := url.Parse(p.rest.Host)
	if err != nil {
		return ""
	}
	if ip := net.ParseIP(server.Hostname()); server.Hostname() == "localhost" || ip != nil && ip.IsLoopback() {
		return "127.0.0.1"
	}
	return ""
}

// differsError reports that a cluster is not in a state.
type differsError struct{ error }

func differs(format string, args ...any) error { return differsError{fmt.Errorf(format, args...)} }

// Unwrap returns what differs.
func (e differsError) Unwrap() error { return e.error }

// at returns an error if the cluster is not in the state, as far as the cluster shows it: a differsError, unless the
// cluster cannot be asked.
func (p *Provider) at(ctx context.Context, state clusters.State) error {
	got, err := p.serverVersion(ctx)
	if err != nil {
		return err
	}
	var errs []error
	if !agree(state.Version, got) {
		errs = append(errs, differs("cluster %s runs Kubernetes %s, but %s is wanted", p.name, got, state.Version))
	}
	if len(state.Nodes) > 0 {
		errs = append(errs, errors.New("an existing cluster keeps its nodes: remove nodes"))
	}
	rest := state
	if rest.NumberOfControlPlanes() == 1 {
		rest.ControlPlanes = 0
	}
	rest.Version, rest.FeatureGates, rest.Nodes, rest.Systems = "", nil, nil, nil
	if !reflect.DeepEqual(rest, clusters.State{}) {
		errs = append(errs, fmt.Errorf("these settings of an existing cluster cannot be verified: %s", rest))
	}
	if len(state.FeatureGates) > 0 {
		metrics, err := p.metrics(ctx)
		if err != nil {
			errs = append(errs, fmt.Errorf("read which feature gates cluster %s has: %w", p.name, err))
		} else if err := proof.Component(metrics, "", state.FeatureGates); err != nil {
			errs = append(errs, differs("kube-apiserver of cluster %s: %w", p.name, err))
		}
	}
	return errors.Join(errs...)
}

func (p *Provider) metrics(ctx context.Context) ([]byte, error) {
	client, err := discovery.NewDiscoveryClientForConfig(p.rest)
	if err != nil {
		return nil, fmt.Errorf("make a client for cluster %s: %w", p.name, err)
	}
	data, err := client.RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return nil, fmt.Errorf("read /metrics of kube-apiserver: %w", err)
	}
	return data, nil
}

// Prepare has nothing to get.
func (p *Provider) Prepare(context.Context, clusters.State) error { return nil }

// Create returns the existing cluster. It must still be in the first state, in which Check found it.
func (p *Provider) Create(ctx context.Context, _ string, state clusters.State) (clusters.Cluster, error) {
	if err := p.still(ctx, state); err != nil {
		return nil, err
	}
	c := &Cluster{provider: p, first: state, state: state}
	var err error
	if c.dir, c.remove, err = scratch.Folder("existing"); err != nil {
		return nil, err
	}
	if c.kubeconfig, err = p.access.write(c.dir); err != nil {
		return nil, errors.Join(err, c.remove())
	}
	return c, nil
}

// still returns an error unless the cluster is in its first state: an earlier track, or somebody else, may have changed
// it since Check.
func (p *Provider) still(ctx context.Context, first clusters.State) error {
	err := p.at(ctx, first)
	if left := p.left.Load(); err == nil && left != nil {
		err = differs("%s", *left)
	}
	var changed differsError
	switch {
	case errors.As(err, &changed):
		return fmt.Errorf("cluster %s is no longer in the first state (an earlier track or somebody else changed it): "+
			"%w; take it back to %s, and run the rest again", p.name, err, first)
	case err != nil:
		return fmt.Errorf("check that cluster %s is still in its first state: %w", p.name, err)
	}
	return nil
}

// Footprint reports that there is only one cluster, which needs nothing of this machine.
func (p *Provider) Footprint([]clusters.State) clusters.Footprint {
	return clusters.Footprint{Only: true}
}
