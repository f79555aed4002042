// Package e2eframework provides Rehearse's clusters and scenarios to Go tests that use sigs.k8s.io/e2e-framework.
package e2eframework

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/e2e-framework/klient"
	"sigs.k8s.io/e2e-framework/klient/wait"
	"sigs.k8s.io/e2e-framework/support"
	"sigs.k8s.io/yaml"

	"github.com/rehearse-dev/rehearse/clusters"
)

// Provider implements E2EClusterProvider with any of Rehearse's providers.
type Provider struct {
	provider clusters.Provider
	name     string
	state    clusters.State
	cluster  clusters.Cluster
}

var _ support.E2EClusterProvider = (*Provider)(nil)

// New wraps a provider. Create creates a cluster in the given state.
func New(provider clusters.Provider, state clusters.State) *Provider {
	return &Provider{provider: provider, name: "rehearse", state: state}
}

// Cluster is the running cluster, with which a test makes transitions; nil before Create.
func (p *Provider) Cluster() clusters.Cluster { return p.cluster }

// WithName sets the cluster's name.
func (p *Provider) WithName(name string) support.E2EClusterProvider {
	p.name = name
	return p
}

// WithVersion sets the version of Kubernetes.
func (p *Provider) WithVersion(version string) support.E2EClusterProvider {
	p.state.Version = version
	return p
}

// WithPath does nothing: Rehearse does not need the path of a program.
func (p *Provider) WithPath(string) support.E2EClusterProvider { return p }

// WithOpts applies the framework's options.
func (p *Provider) WithOpts(options ...support.ClusterOpts) support.E2EClusterProvider {
	for _, option := range options {
		option(p)
	}
	return p
}

// SetDefaults does nothing: there are no defaults.
func (p *Provider) SetDefaults() support.E2EClusterProvider { return p }

// Create creates the cluster and returns the path of its kubeconfig. It accepts no arguments.
func (p *Provider) Create(ctx context.Context, args ...string) (string, error) {
	if len(args) > 0 {
		return "", fmt.Errorf("create cluster %s: arguments %q are not understood; a clusters.State says it all", p.name,
			args)
	}
	state, err := p.provider.Resolve(ctx, p.state)
	if err != nil {
		return "", err
	}
	if err := p.provider.Check(ctx, []clusters.State{state}); err != nil {
		return "", err
	}
	if p.cluster, err = p.provider.Create(ctx, p.name, state); err != nil {
		return "", err
	}
	return p.cluster.KubeconfigPath(), nil
}

// CreateWithConfig creates the cluster whose clusters.State is in a YAML file.
func (p *Provider) CreateWithConfig(ctx context.Context, configFile string) (string, error) {
	data, err := os.ReadFile(configFile)
	if err != nil {
		return "", fmt.Errorf("read the state of cluster %s: %w", p.name, err)
	}
	p.state = clusters.State{}
	if err := yaml.UnmarshalStrict(data, &p.state); err != nil {
		return "", fmt.Errorf("read the state of cluster %s from %s: %w", p.name, configFile, err)
	}
	return p.Create(ctx)
}

// GetKubeconfig is the path of the kubeconfig; "" before Create.
func (p *Provider) GetKubeconfig() string {
	if p.cluster == nil {
		return ""
	}
	return p.cluster.KubeconfigPath()
}

// GenerateKubeconfig returns the path of the kubeconfig that Create wrote.
func (p *Provider) GenerateKubeconfig(...string) (string, error) {
	if p.cluster == nil {
		return "", errNotCreated
	}
	return p.cluster.KubeconfigPath(), nil
}

// GetKubectlContext is the name of the kubeconfig's current context; "" before the cluster is created.
func (p *Provider) GetKubectlContext() string {
	if p.cluster == nil {
		return ""
	}
	config, err := clientcmd.LoadFromFile(p.cluster.KubeconfigPath())
	if err != nil {
		return ""
	}
	return config.CurrentContext
}

// ExportLogs collects the cluster's logs into a folder.
func (p *Provider) ExportLogs(ctx context.Context, dest string) error {
	if p.cluster == nil {
		return errNotCreated
	}
	return p.cluster.Collect(ctx, dest)
}

// Destroy deletes the cluster.
func (p *Provider) Destroy(ctx context.Context) error {
	if p.cluster == nil {
		return nil
	}
	err := p.cluster.Delete(ctx)
	p.cluster = nil
	return err
}

// WaitForControlPlane waits for the default ServiceAccount, without which pods are rejected. The control plane is ready
// when Create returns, but its controllers begin a moment later.
func (p *Provider) WaitForControlPlane(ctx context.Context, client klient.Client) error {
	there := func(ctx context.Context) (bool, error) {
		err := client.Resources().Get(ctx, "default", metav1.NamespaceDefault, &corev1.ServiceAccount{})
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	}
	if err := wait.For(there, wait.WithContext(ctx), wait.WithImmediate(), wait.WithInterval(100*time.Millisecond),
		wait.WithTimeout(time.Minute)); err != nil {
		return fmt.Errorf("wait for the default ServiceAccount of cluster %s: %w", p.name, err)
	}
	return nil
}

// KubernetesRestConfig is the configuration that reaches the cluster; nil before Create.
func (p *Provider) KubernetesRestConfig() *rest.Config {
	if p.cluster == nil {
		return nil
	}
	return p.cluster.RESTConfig()
}

var errNotCreated = errors.New("the cluster was not created")
