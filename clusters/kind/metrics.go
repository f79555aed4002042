package kind

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/proof"
)

// Metrics reads a component's /metrics on the control plane's node: of several the first, or the one whose component leads.
func (c *Cluster) Metrics(ctx context.Context, component clusters.Component) ([]byte, error) {
	n, err := c.leader(ctx, component)
	if err != nil {
		return nil, err
	}
	return c.nodeMetrics(ctx, component, n)
}

func (c *Cluster) nodeMetrics(ctx context.Context, component clusters.Component, n node) ([]byte, error) {
	switch component {
	case clusters.APIServer:
		return n.api.get(ctx, metricsPath)
	case clusters.Kubelet:
		return c.api.get(ctx, "/api/v1/nodes/"+n.nodeName+"/proxy/metrics")
	case clusters.ControllerManager:
		return c.get(ctx, string(component)+"-"+n.nodeName, 10257, true, metricsPath)
	case clusters.Scheduler:
		return c.get(ctx, string(component)+"-"+n.nodeName, 10259, true, metricsPath)
	case clusters.Etcd:
		return c.get(ctx, string(component)+"-"+n.nodeName, 2381, false, metricsPath)
	case clusters.KubeProxy:
		pod, err := c.proxyPod(ctx, n)
		if err != nil {
			return nil, err
		}
		return c.get(ctx, pod.Name, 10249, false, metricsPath)
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

// get reads a path from the loopback of a pod of the system as the administrator.
func (c *Cluster) get(ctx context.Context, pod string, port int, secure bool, path string) ([]byte, error) {
	url := fmt.Sprintf("http://%s:%d%s", pod, port, path)
	transport := &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return c.dial(ctx, metav1.NamespaceSystem, pod, port)
		},
	}
	if secure {
		config, err := rest.TLSConfigFor(c.rest)
		if err != nil {
			return nil, fmt.Errorf("read %s of %s: %w", path, pod, err)
		}
		// Its certificate is of its own making. The tunnel has already proven whom it leads to.
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

// proxyPod is kube-proxy's pod on a node.
func (c *Cluster) proxyPod(ctx context.Context, n node) (*corev1.Pod, error) {
	list, err := c.client.CoreV1().Pods(metav1.NamespaceSystem).List(ctx, metav1.ListOptions{
		LabelSelector: "k8s-app=kube-proxy", FieldSelector: "spec.nodeName=" + n.nodeName,
	})
	if err != nil {
		return nil, err
	}
	for i, pod := range list.Items {
		if pod.DeletionTimestamp == nil {
			return &list.Items[i], nil
		}
	}
	return nil, fmt.Errorf("node %s has no pod of kube-proxy", n.name)
}

// startTime of the process that gave these metrics, 0 when it does not say.
func startTime(metrics []byte) float64 { return gauge(metrics, "process_start_time_seconds") }

// hasLeader is nil where an etcd says that it has found a leader: its member takes part again, and there are enough of them.
func hasLeader(metrics []byte) error {
	if gauge(metrics, "etcd_server_has_leader") != 1 {
		return errors.New("it knows no leader yet")
	}
	return nil
}

// gauge is the value of a metric without labels, 0 when it is not there.
func gauge(metrics []byte, name string) float64 {
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(metrics))
	if err != nil {
		return 0
	}
	for _, metric := range families[name].GetMetric() {
		return metric.GetGauge().GetValue()
	}
	return 0
}

// prove asks every component of every node, by its own metrics, whether it runs the version and the gates that were meant.
func (c *Cluster) prove(ctx context.Context, state clusters.State) error {
	proofs, ctx := errgroup.WithContext(ctx)
	for _, component := range gated() {
		for _, n := range c.nodes {
			if n.controlPlane || component == clusters.Kubelet || component == clusters.KubeProxy {
				proofs.Go(func() error { return c.proveOne(ctx, component, n, state) })
			}
		}
	}
	return proofs.Wait()
}

func (c *Cluster) proveOne(ctx context.Context, component clusters.Component, n node, state clusters.State) error {
	return c.await(ctx, fmt.Sprintf("the metrics of %s on %s", component, n.name), func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, oneLook)
		defer cancel()
		metrics, err := c.nodeMetrics(ctx, component, n)
		if err != nil {
			return err
		}
		if err := proof.Component(metrics, state.Version, state.Gates(component)); err != nil {
			return final(fmt.Errorf("%s on %s: %w", component, n.name, err))
		}
		return nil
	})
}
