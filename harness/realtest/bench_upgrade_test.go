package realtest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness/manifests"
	"github.com/rehearse-dev/rehearse/harness/survey"
	"github.com/rehearse-dev/rehearse/harness/upgrade"
	"github.com/rehearse-dev/rehearse/harness/writes"
	"github.com/rehearse-dev/rehearse/internal/clustertest"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports/upgrades"
)

// stock is a thousand objects of 14 kinds. 200 of them are workloads, with 2,000 pods.
var stock = []struct {
	count int
	text  string
}{
	{120, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: d-%d}, spec: {replicas: 10, selector: {matchLabels: {app: d-%[1]d}}, template: {metadata: {labels: {app: d-%[1]d}}, spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 1m}}}]}}}}`},
	{60, `{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: s-%d}, spec: {replicas: 10, podManagementPolicy: Parallel, serviceName: s, selector: {matchLabels: {app: s-%[1]d}}, template: {metadata: {labels: {app: s-%[1]d}}, spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 1m}}}]}}}}`},
	{20, `{apiVersion: batch/v1, kind: Job, metadata: {name: j-%d}, spec: {parallelism: 10, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}`},
	{300, `{apiVersion: v1, kind: ConfigMap, metadata: {name: c-%d}, data: {key: value}}`},
	{130, `{apiVersion: v1, kind: Secret, metadata: {name: t-%d}, stringData: {key: value}}`},
	{150, `{apiVersion: v1, kind: Service, metadata: {name: w-%d}, spec: {selector: {app: d-%[1]d}, ports: [{port: 80}]}}`},
	{40, `{apiVersion: v1, kind: ServiceAccount, metadata: {name: a-%d}}`},
	{30, `{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: r-%d}, rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]}`},
	{30, `{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: r-%d}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r-%[1]d}, subjects: [{kind: ServiceAccount, name: a-%[1]d}]}`},
	{40, `{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: i-%d}, spec: {rules: [{host: h-%[1]d.example.com, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: w-%[1]d, port: {number: 80}}}}]}}]}}`},
	{20, `{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: n-%d}, spec: {podSelector: {matchLabels: {app: d-%[1]d}}, ingress: [{}]}}`},
	{20, `{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: p-%d}, spec: {minAvailable: 1, selector: {matchLabels: {app: d-%[1]d}}}}`},
	{20, `{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: h-%d}, spec: {maxReplicas: 20, minReplicas: 10, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d-%[1]d}}}`},
	{20, `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: v-%d}, spec: {accessModes: [ReadWriteOnce], storageClassName: none, resources: {requests: {storage: 1Gi}}}}`},
}

func stored(b *testing.B, text string) []*manifests.Object {
	b.Helper()
	file := filepath.Join(b.TempDir(), "stock.yaml")
	golden.Write(b, file, text)
	objects, err := manifests.Sources{Paths: []string{file}}.Load()
	golden.Must(b, err)
	return objects
}

func thousand(b *testing.B) []*manifests.Object {
	b.Helper()
	var text strings.Builder
	for _, kind := range stock {
		for n := range kind.count {
			fmt.Fprintf(&text, kind.text+"\n---\n", n)
		}
	}
	return stored(b, text.String())
}

// thereAndBack rehearses an upgrade and the rollback.
func thereAndBack(b *testing.B, objects []*manifests.Object, nodes, sample int, from, to string) *upgrades.Report {
	b.Helper()
	p := clustertest.Local(b)
	wanted := upgrade.Wanted{From: clusters.State{Version: from}, To: clusters.Change{Version: to}}
	wanted.From.Nodes = []clusters.NodeGroup{{Count: &nodes}}
	path, err := upgrade.NewPath(b.Context(), p, wanted)
	golden.Must(b, err)
	for i, state := range path.States { // the path goes up again, which is not needed here
		if i > 0 && state.Version == path.States[0].Version {
			path.States, path.Ways = path.States[:i+1], path.Ways[:i+1]
			break
		}
	}
	report, err := upgrade.Run(b.Context(), upgrade.Options{
		Provider: p, Path: path, Objects: objects, Namespace: "default", Settle: time.Second, Sample: sample,
		Progress: b.Logf,
	})
	golden.Must(b, err)
	return report
}

// A thousand objects and their 2,000 pods, two minor versions up and back.
func BenchmarkUpgradeOfThousandObjects(b *testing.B) {
	objects := thousand(b)
	measured(b, func() *upgrades.Report { return thereAndBack(b, objects, 30, 0, "1.34", "1.36") })
}

// measured repeats the rehearsal and reports its cost. Nothing may break.
func measured(b *testing.B, rehearse func() *upgrades.Report) {
	b.Helper()
	for b.Loop() {
		began := time.Now()
		report := rehearse()
		if n := report.Count(upgrades.Breaks); n > 0 {
			b.Fatalf("%d findings, want none:\n%s", n, upgrades.Text(report))
		}
		b.ReportMetric(time.Since(began).Seconds(), "s/rehearsal")
		b.ReportMetric(float64(report.Requests), "requests")
		b.ReportMetric(peakMemory(b), "MB/peak-of-harness")
	}
}

// Very many small objects, up and back. All of them are read, a thousand of each kind are sent dry runs.
func BenchmarkUpgradeOfThirtyThousandObjects(b *testing.B) {
	var text strings.Builder
	text.WriteString(`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: gadgets.example.com}, spec: {group: example.com, scope: Namespaced, names: {kind: Gadget, plural: gadgets}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}}]}}` + "\n---\n")
	for n := range 20_000 {
		fmt.Fprintf(&text, "{apiVersion: v1, kind: ConfigMap, metadata: {name: c-%d}, data: {key: value}}\n---\n", n)
	}
	for n := range 10_000 {
		fmt.Fprintf(&text, "{apiVersion: example.com/v1, kind: Gadget, metadata: {name: g-%d}, spec: {size: 1}}\n---\n", n)
	}
	objects := stored(b, text.String())
	measured(b, func() *upgrades.Report { return thereAndBack(b, objects, 1, 1000, "1.35", "1.36") })
}

// sent records the requests that pass through it, except watches.
type sent struct {
	next http.RoundTripper
	mu   *sync.Mutex
	all  *[]*http.Request
}

func (s sent) RoundTrip(request *http.Request) (*http.Response, error) {
	again := request.Clone(context.Background())
	if request.Body != nil {
		body, err := io.ReadAll(request.Body)
		if err != nil {
			return nil, err
		}
		request.Body = io.NopCloser(bytes.NewReader(body))
		again.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	}
	if request.URL.Query().Get("watch") == "" {
		s.mu.Lock()
		*s.all = append(*s.all, again)
		s.mu.Unlock()
	}
	return s.next.RoundTrip(request)
}

// BenchmarkSurvey compares a survey with a bare client that sends the same requests, eight at once as well.
func BenchmarkSurvey(b *testing.B) {
	one := 1
	for b.Loop() {
		cluster := clustertest.Create(b, clustertest.Local(b), "survey", clusters.State{
			Version: "1.36", Nodes: []clusters.NodeGroup{{Count: &one}},
		})
		var mu sync.Mutex
		var requests []*http.Request
		config := rest.CopyConfig(cluster.RESTConfig())
		config.Wrap(func(next http.RoundTripper) http.RoundTripper { return sent{next, &mu, &requests} })
		s, err := survey.New(config, survey.Options{})
		golden.Must(b, err)
		s.Add(configMapsStored(b, cluster.RESTConfig(), 1000)...)
		var surveyed time.Duration
		for range 2 { // the first one is a warm-up
			mark, err := s.Begin(b.Context())
			golden.Must(b, err)
			mu.Lock()
			requests = nil
			mu.Unlock()
			began := time.Now()
			if _, err := s.At(b.Context(), mark); err != nil {
				b.Fatal(err)
			}
			surveyed = time.Since(began)
		}
		s.Close()
		bare := replayed(b, cluster.RESTConfig(), requests)
		b.ReportMetric(float64(len(requests)), "requests")
		b.ReportMetric(surveyed.Seconds(), "s/survey")
		b.ReportMetric(surveyed.Seconds()/bare.Seconds(), "survey/bare")
	}
}

// configMapsStored creates objects to survey.
func configMapsStored(b *testing.B, config *rest.Config, count int) []survey.Created {
	b.Helper()
	client, err := dynamic.NewForConfig(writes.Configure(config, "bench"))
	golden.Must(b, err)
	var all []survey.Created
	for n := range count {
		content := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap",
			"metadata": map[string]any{"name": fmt.Sprintf("c-%d", n)}, "data": map[string]any{"key": "value"},
		}}
		stored, err := client.Resource(configMaps).Namespace("default").Create(b.Context(), content,
			metav1.CreateOptions{})
		golden.Must(b, err)
		all = append(all, survey.Created{
			Object: &manifests.Object{Content: content}, Namespace: "default", UID: string(stored.GetUID()),
		})
	}
	return all
}

// replayed sends requests with eight workers, reads the answers, and returns the time that this took.
func replayed(b *testing.B, config *rest.Config, requests []*http.Request) time.Duration {
	b.Helper()
	client, err := rest.HTTPClientFor(writes.Configure(config, "bench"))
	golden.Must(b, err)
	work := make(chan *http.Request)
	var workers sync.WaitGroup
	began := time.Now()
	for range 8 {
		workers.Go(func() {
			for request := range work {
				if request.GetBody != nil {
					request.Body, _ = request.GetBody()
				}
				response, err := client.Do(request)
				if err != nil {
					b.Error(err)
					continue
				}
				if _, err := io.Copy(io.Discard, response.Body); err != nil {
					b.Error(err)
				}
				_ = response.Body.Close()
			}
		})
	}
	for _, request := range requests {
		request.RequestURI = ""
		work <- request
	}
	close(work)
	workers.Wait()
	return time.Since(began)
}
