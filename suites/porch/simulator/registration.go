package simulator

import (
	"context"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/rehearse-dev/rehearse/suites/porch/api/v1alpha1"
	"github.com/rehearse-dev/rehearse/suites/simulators/operator"
)

// The names of the simulator's own objects.
const (
	systemNamespace = "porch-system"
	serviceName     = "api"
	// serverName is the name that the cluster's API server expects in the simulator's certificate.
	serverName = serviceName + "." + systemNamespace + ".svc"
	// gitConfigMap is the name of a ConfigMap. Its key "url" contains the URL of the simulator's git server.
	gitConfigMap = "git"
	servicePort  = 443
)

//go:embed repositories.yaml
var repositoriesCRD []byte

// registration makes the cluster's API server forward requests for the simulator's API group to the simulator.
type registration struct {
	client    client.Client
	discovery discovery.DiscoveryInterface
	o         Options
	gitURL    string
	done      atomic.Bool
}

// ready returns the reason why the cluster's API server does not forward requests to the simulator yet; nil if it does.
func (r *registration) ready(*http.Request) error {
	if !r.done.Load() {
		return errors.New("the API server has not found the API yet")
	}
	return nil
}

// register installs all required objects. It returns when the API server has discovered the API.
func (r *registration) register(ctx context.Context) error {
	if err := r.install(ctx); err != nil {
		return err
	}
	if _, err := r.discovery.ServerResourcesForGroupVersion(v1alpha1.GroupVersion.String()); err != nil {
		return fmt.Errorf("ask the API server for %s: %w", v1alpha1.GroupVersion, err)
	}
	r.done.Store(true)
	return nil
}

// install creates the objects, or corrects them.
func (r *registration) install(ctx context.Context) error {
	crd := map[string]any{}
	if err := yaml.Unmarshal(repositoriesCRD, &crd); err != nil {
		return fmt.Errorf("read the definition of repositories: %w", err)
	}
	apiService, err := r.apiService()
	if err != nil {
		return err
	}
	for _, content := range []map[string]any{
		{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": systemNamespace}},
		crd,
		{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": own(gitConfigMap), "data": map[string]any{"url": r.gitURL},
		},
		{
			"apiVersion": "v1", "kind": "Service", "metadata": own(serviceName),
			"spec": map[string]any{"ports": []any{map[string]any{
				"name": "https", "port": int64(servicePort),
				"protocol": "TCP",
			}}},
		},
		r.endpointSlice(),
		apiService,
	} {
		object := &unstructured.Unstructured{Object: content}
		if err := operator.Apply(ctx, r.client, "porch-simulator", object); err != nil {
			return err
		}
	}
	return nil
}

// own is the metadata of an object of the simulator.
func own(name string) map[string]any {
	return map[string]any{"namespace": systemNamespace, "name": name}
}

// endpointSlice points to this process. An API server rejects a loopback endpoint of type IPv4 or IPv6. But it accepts
// an endpoint of type FQDN, and connects to whatever address that contains. Any other IP address has its own type: in a
// cluster with nodes, the API server connects through kube-proxy, which does not support FQDN.
func (r *registration) endpointSlice() map[string]any {
	addressType := "FQDN"
	if address, err := netip.ParseAddr(r.o.Host); err == nil && !address.IsLoopback() {
		addressType = "IPv4"
		if address.Is6() {
			addressType = "IPv6"
		}
	}
	return map[string]any{
		"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
		"metadata": map[string]any{
			"namespace": systemNamespace, "name": serviceName,
			"labels": map[string]any{"kubernetes.io/service-name": serviceName},
		},
		"addressType": addressType,
		"ports":       []any{map[string]any{"name": "https", "port": int64(r.o.Port), "protocol": "TCP"}},
		"endpoints":   []any{map[string]any{"addresses": []any{r.o.Host}, "conditions": map[string]any{"ready": true}}},
	}
}

func apiServiceName() string {
	return v1alpha1.GroupVersion.Version + "." + v1alpha1.GroupVersion.Group
}

func (r *registration) apiService() (map[string]any, error) {
	authority, err := os.ReadFile(filepath.Join(r.o.CertDir, "ca.crt"))
	if err != nil {
		return nil, fmt.Errorf("read the authority of the serving certificate: %w", err)
	}
	return map[string]any{
		"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
		"metadata": map[string]any{"name": apiServiceName()},
		"spec": map[string]any{
			"group": v1alpha1.GroupVersion.Group, "version": v1alpha1.GroupVersion.Version,
			"groupPriorityMinimum": int64(1000), "versionPriority": int64(15),
			"service":  map[string]any{"namespace": systemNamespace, "name": serviceName, "port": int64(servicePort)},
			"caBundle": base64.StdEncoding.EncodeToString(authority),
		},
	}, nil
}
