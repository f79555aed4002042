package realtest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/rehearse-dev/rehearse/internal/clustertest"
	"github.com/rehearse-dev/rehearse/reports"
)

const rejections = 1000

// bareClient sends the same writes as a scenario's table, when the first row starts and before that row is sent.
type bareClient struct {
	*captor
	first      string
	took       time.Duration
	ended      time.Time
	unexpected error
}

func (c *bareClient) Observe(e reports.Event) error {
	if e.Kind != reports.StepStarted || e.Step.Name != c.first {
		return nil
	}
	config := rest.CopyConfig(c.cluster.RESTConfig())
	config.QPS = -1
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	api := client.Resource(configMaps).Namespace(e.Scenario.Namespace)
	began := time.Now()
	for n := range rejections {
		object := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap",
			"metadata": map[string]any{"name": fmt.Sprintf("rejected-%d", n)},
		}}
		if _, err := api.Create(context.Background(), object, metav1.CreateOptions{}); err == nil ||
			!strings.Contains(err.Error(), "denied the request: never") {
			c.unexpected = fmt.Errorf("row %d: %w", n, err)
			return c.unexpected
		}
	}
	c.ended = time.Now()
	c.took = c.ended.Sub(began)
	return nil
}

// BenchmarkRejections compares 1,000 rejections by a webhook, each checked and reported as its own step, with a bare
// client that sends the same requests.
func BenchmarkRejections(b *testing.B) {
	webhooks := newWebhooks(b)
	var rows []string
	for n := range rejections {
		rows = append(rows, fmt.Sprintf("{n: %d}", n))
	}
	text := `apiVersion: rehearse.dev/v1alpha1
kind: Scenario
metadata: {name: rejected-a-thousand-times}
spec:
  cluster: {version: "1.36"}
  steps:` + configuration(webhooks.URL+"/deny", webhooks.trusted, "Fail") + `
  - create: {apiVersion: v1, kind: ConfigMap, metadata: {name: first}}
    expect: {rejected: {by: webhook}}
  - name: rejected
    cases: [` + strings.Join(rows, ", ") + `]
    create: {apiVersion: v1, kind: ConfigMap, metadata: {name: "rejected-${case.n}"}}
    expect: {rejected: {code: 403, by: webhook, message: never}}
`
	for b.Loop() {
		client := &bareClient{captor: &captor{Provider: clustertest.Local(b)}, first: "rejected [0]"}
		result := run(b, client.captor, text, client)
		if reports.ExitCode(result) != reports.ExitPassed || client.unexpected != nil {
			b.Fatal(client.unexpected, explain(result))
		}
		steps := result.Tracks[0].Scenarios[0].Steps
		took := steps[len(steps)-1].Finished.Sub(client.ended)
		b.ReportMetric(float64(client.took.Microseconds())/rejections/1000, "ms/bare")
		b.ReportMetric(float64(took.Microseconds())/rejections/1000, "ms/rejection")
		b.ReportMetric(took.Seconds()/client.took.Seconds(), "rejections/bare")
	}
}
