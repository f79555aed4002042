package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/nodes"
	"github.com/rehearse-dev/rehearse/clusters/proof"
)

// Metrics reads a component's /metrics on the control plane that it names; if it names none, those of the component
// that leads, or of the first control plane.
func (c *Cluster) Metrics(ctx context.Context, component clusters.Component) ([]byte, error) {
	if name, plane := component.Plane(); plane >= 0 {
		if planes := c.ControlPlanes(); plane < len(planes) {
			return c.NodeMetrics(ctx, name, planes[plane])
		}
		return nil, fmt.Errorf("read metrics of %s: the cluster has %d control planes", component, len(c.ControlPlanes()))
	}
	n, err := c.leader(ctx, component)
	if err != nil {
		return nil, err
	}
	return c.NodeMetrics(ctx, component, n)
}

func (c *Cluster) NodeMetrics(ctx context.Context, component clusters.Component, n nodes.Node) ([]byte, error) {
	switch component {
	case clusters.APIServer:
		return c.Server(n).Get(ctx, metricsPath)
	case clusters.Kubelet:
		return c.API.Get(ctx, "/api/v1/nodes/"+n.NodeName+"/proxy/metrics")
	case clusters.ControllerManager:
		return c.Get(ctx, string(component)+"-"+n.NodeName, 10257, true, metricsPath)
	case clusters.Scheduler:
		return c.Get(ctx, string(component)+"-"+n.NodeName, 10259, true, metricsPath)
	case clusters.Etcd:
		return c.Get(ctx, string(component)+"-"+n.NodeName, 2381, false, metricsPath)
	case clusters.KubeProxy:
		pod, err := proxyPod(ctx, c, n)
		if err != nil {
			return nil, err
		}
		return c.Get(ctx, pod.Name, 10249, false, metricsPath)
	default:
		return nil, fmt.Errorf("a kind cluster runs no %s", component)
	}
}

func readBody(of string, response *http.Response) ([]byte, error) {
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("read the answer of %s: %w", of, err)
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answered %s: %s", of, response.Status, body)
	}
	return body, nil
}

// metricsPath is where components serve their metrics.
const metricsPath = "/metrics"

// Get reads a path from the loopback of a system pod as the administrator.
func (c *Cluster) Get(ctx context.Context, pod string, port int, secure bool, path string) ([]byte, error) {
	url := fmt.Sprintf("http://%s:%d%s", pod, port, path)
	transport := &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return c.Dial(ctx, metav1.NamespaceSystem, pod, port)
		},
	}
	if secure {
		config, err := rest.TLSConfigFor(c.REST)
		if err != nil {
			return nil, fmt.Errorf("read %s of %s: %w", path, pod, err)
		}
		// Its certificate is self-signed. The tunnel has already proven which pod it leads to.
		config.InsecureSkipVerify = true
		transport.TLSClientConfig = config
		url = fmt.Sprintf("https://%s:%d%s", pod, port, path)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return nil, fmt.Errorf("read %s of %s: %w", path, pod, err)
	}
	return readBody(pod, response)
}

// proxyPod returns kube-proxy's pod on a node.
func proxyPod(ctx context.Context, c *Cluster, n nodes.Node) (*corev1.Pod, error) {
	list, err := c.Client.CoreV1().Pods(metav1.NamespaceSystem).List(ctx, metav1.ListOptions{
		LabelSelector: "k8s-app=kube-proxy", FieldSelector: "spec.nodeName=" + n.NodeName,
	})
	if err != nil {
		return nil, err
	}
	for i, pod := range list.Items {
		if pod.DeletionTimestamp == nil {
			return &list.Items[i], nil
		}
	}
	return nil, fmt.Errorf("node %s has no pod of kube-proxy", n.Name)
}

// StartTime returns the start time of the process with these metrics; 0 if they do not contain it.
func StartTime(metrics []byte) float64 { return gauge(metrics, "process_start_time_seconds") }

// HasLeader returns nil if an etcd has found a leader: then it is an active member again, and there is a quorum.
func HasLeader(metrics []byte) error {
	if gauge(metrics, "etcd_server_has_leader") != 1 {
		return errors.New("it has no leader yet")
	}
	return nil
}

// gauge returns the value of a metric without labels; 0 if it is missing.
func gauge(metrics []byte, name string) float64 {
	families, err := proof.Families(metrics, name)
	if err != nil {
		return 0
	}
	for _, metric := range families[name].GetMetric() {
		return metric.GetUntyped().GetValue()
	}
	return 0
}

// StartedAt returns when the component's process started; 0 if that is unknown.
func (c *Cluster) StartedAt(ctx context.Context, component clusters.Component, n nodes.Node) float64 {
	ctx, cancel := context.WithTimeout(ctx, OneLook)
	defer cancel()
	metrics, err := c.NodeMetrics(ctx, component, n)
	if err != nil {
		return 0
	}
	return StartTime(metrics)
}
