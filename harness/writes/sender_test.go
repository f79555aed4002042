package writes_test

import (
	"context"
	"testing"
	"time"

	"github.com/cenkalti/backoff/v4"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/harness/matching"
	"github.com/rehearse-dev/rehearse/harness/served"
	"github.com/rehearse-dev/rehearse/harness/writes"
	"github.com/rehearse-dev/rehearse/internal/apitest"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/scenarios"
)

const manager = "rehearse-test-1"

// sender sends steps to a server, and records the attempts and the created objects.
type sender struct {
	*writes.Writer
	attempts []string
	made     []writes.Made
}

func newSender(t *testing.T, server *apitest.Server) *sender {
	t.Helper()
	config := writes.Configure(server.Config(), "rehearse/test")
	client, err := dynamic.NewForConfig(config)
	golden.Must(t, err)
	found, err := discovery.NewDiscoveryClientForConfig(config)
	golden.Must(t, err)
	s := &sender{}
	s.Writer = &writes.Writer{
		Client: client, Kinds: served.NewKinds(found.RESTClient(), "1.34.4"), Namespace: "ns",
		Differences: func(want, got map[string]any) []string { return matching.Differences(want, got) },
		Holds:       func(*scenarios.Step, map[string]any) (bool, error) { return false, nil },
		Wrote:       func(m writes.Made) { s.made = append(s.made, m) },
		Pauses:      func() backoff.BackOff { return new(backoff.ZeroBackOff) },
		Appear:      time.Nanosecond,
	}
	return s
}

func (s *sender) do(ctx context.Context, step scenarios.Step) writes.Verdict {
	return s.Do(ctx, writes.Request{
		Step: &step, Manager: manager,
		Attempt: func(outcome string) { s.attempts = append(s.attempts, outcome) },
	})
}

func configMap(name string, data map[string]any) scenarios.Object {
	return scenarios.Object{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name},
		"data": data,
	}
}

func stored(name, namespace string) map[string]any {
	return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{
		"name":      name,
		"namespace": namespace,
	}}
}

func reject(r scenarios.Rejection) *scenarios.Expect { return &scenarios.Expect{Rejected: &r} }

func invalid() *metav1.Status {
	return apitest.Status(422, "Invalid", "data is invalid", metav1.StatusCause{
		Type: "FieldValueInvalid", Field: "data.x",
		Message: "must be y",
	})
}

// only misbehaves at the n-th request of a verb for ConfigMaps.
func only(verb string, n int, fault apitest.Fault) func(apitest.Request) *apitest.Fault {
	return func(r apitest.Request) *apitest.Fault {
		if r.Verb == verb && r.Kind == "ConfigMap" && r.Number == n {
			return &fault
		}
		return nil
	}
}

func always(verb string, fault apitest.Fault) func(apitest.Request) *apitest.Fault {
	return func(r apitest.Request) *apitest.Fault {
		if r.Verb == verb && r.Kind == "ConfigMap" {
			return &fault
		}
		return nil
	}
}
