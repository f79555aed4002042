package realtest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/local"
	"github.com/rehearse-dev/rehearse/internal/clustertest"
	"github.com/rehearse-dev/rehearse/reports"
)

var priorityClasses = schema.GroupVersionResource{
	Group: "scheduling.k8s.io", Version: "v1",
	Resource: "priorityclasses",
}

const judged = `apiVersion: rehearse.dev/v1alpha1
kind: Scenario
metadata: {name: %s}
spec:
  cluster: {version: "1.36"}
  steps:%s
  - name: judged
    timeout: 15s
    create: {apiVersion: v1, kind: ConfigMap, metadata: {name: rejected}}
    expect: {rejected: {%s}}
`

// If a webhook does not judge, the scenario is an error with the reason, whatever rejection it expects.
func TestWebhooksThatDoNotJudge(t *testing.T) {
	webhooks := newWebhooks(t)
	tests := []struct {
		name, path, caBundle string
		status               reports.Status
		says                 []string
	}{
		{"denies", "/deny", webhooks.trusted, reports.Passed, nil},
		{"is-slow", "/slow", webhooks.trusted, reports.Error, []string{"context deadline exceeded"}},
		{"has-a-wrong-certificate", "/deny", webhooks.strange, reports.Error, []string{"x509"}},
		{"answers-garbage", "/garbage", webhooks.trusted, reports.Error, []string{"failed to call webhook"}},
		{"answers-nothing", "/empty", webhooks.trusted, reports.Error, []string{"failed to call webhook"}},
		{
			"answers-somebody-else", "/stranger", webhooks.trusted, reports.Error,
			[]string{"received invalid webhook response"},
		},
		{"is-out-of-order", "/broken", webhooks.trusted, reports.Error, []string{"out of order"}},
		{"has-no-such-path", "/nowhere", webhooks.trusted, reports.Error, []string{"could not find the requested resource"}},
		{"is-down", "", "", reports.Error, []string{"connection refused"}},
	}
	var documents []string
	for _, test := range tests {
		url := webhooks.URL + test.path
		if test.path == "" {
			url, test.caBundle = "https://127.0.0.1:1/", webhooks.trusted
		}
		documents = append(documents, fmt.Sprintf(judged, test.name, configuration(url, test.caBundle, "Fail"), ""))
	}
	result := run(t, clustertest.Local(t), strings.Join(documents, "---\n"))
	for i, test := range tests {
		s := result.Tracks[0].Scenarios[i]
		step := s.Steps[len(s.Steps)-1]
		if s.Name != test.name || s.Status != test.status || step.Status != test.status {
			t.Errorf("%s: scenario %s, step %s, want %s: %s", test.name, s.Status, step.Status, test.status, step.Message)
		}
		if test.status == reports.Error {
			test.says = append(test.says, "could not be judged", `failed calling webhook "test.rehearse.dev"`)
		}
		for _, words := range test.says {
			if !strings.Contains(step.Message, words) {
				t.Errorf("%s: the message does not say %q:\n%s", test.name, words, step.Message)
			}
		}
	}
	if code := reports.ExitCode(result); code != reports.ExitError {
		t.Errorf("exit code %d, want %d", code, reports.ExitError)
	}
}

// captor keeps the cluster that it makes, so that the test can look into it.
type captor struct {
	*local.Provider
	cluster clusters.Cluster
}

func (c *captor) Create(ctx context.Context, name string, state clusters.State) (clusters.Cluster, error) {
	cluster, err := c.Provider.Create(ctx, name, state)
	c.cluster = cluster
	return cluster, err
}

// whenDone runs when a scenario has finished its cleanup and the cluster still exists.
type whenDone func() error

func (f whenDone) Observe(e reports.Event) error {
	if e.Kind != reports.ScenarioFinished {
		return nil
	}
	return f()
}

// An object that a webhook with the policy Ignore lets through is reported as accepted, and is removed.
func TestIgnoredWebhookLetsThrough(t *testing.T) {
	p := &captor{Provider: clustertest.Local(t)}
	left := -1
	look := whenDone(func() error {
		client, err := dynamic.NewForConfig(p.cluster.RESTConfig())
		if err != nil {
			return err
		}
		list, err := client.Resource(priorityClasses).List(context.Background(),
			metav1.ListOptions{LabelSelector: "by=lets-through"})
		if err == nil {
			left = len(list.Items)
		}
		return err
	})
	result := run(t, p, `
apiVersion: rehearse.dev/v1alpha1
kind: Scenario
metadata: {name: lets-through}
spec:
  cluster: {version: "1.36"}
  steps:`+configuration("https://127.0.0.1:1/", newWebhooks(t).trusted, "Ignore")+`
  - name: slips through
    create: {apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: slips-through, labels: {by: lets-through}}, value: 5}
    expect: {rejected: {by: webhook}}
`, look)
	s := result.Tracks[0].Scenarios[0]
	step := s.Steps[len(s.Steps)-1]
	if step.Name != "slips through" || step.Status != reports.Failed || !strings.Contains(step.Message,
		"was accepted, but should have been rejected (expected by webhook)") {
		t.Errorf("got %s: %s", step.Status, step.Message)
	}
	if left != 0 {
		t.Errorf("%d objects were left behind", left)
	}
}
