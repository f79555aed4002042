package installing

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/clusters/systems/internal/objects"
	"github.com/rehearse-dev/rehearse/clusters/systems/internal/webhooks"
	"github.com/rehearse-dev/rehearse/internal/apitest"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

func counter(code string, n int) string {
	return fmt.Sprintf("# TYPE other counter\nother{name=\"w\"} "+
		"7\n%s{code=%q,name=\"w\",operation=\"CREATE\",rejected=\"false\",type=\"validating\"} %d\n", "apiserver_admission_webhook_request_total", code, n)
}

func rejection(kind string, n int) string {
	return fmt.Sprintf("%s{error_type=%q,name=\"w\",operation=\"CREATE\",rejection_code=\"403\",type=\"validating\"} %d\n",
		"apiserver_admission_webhook_rejection_count", kind, n)
}

var pod = &unstructured.Unstructured{Object: map[string]any{
	"apiVersion": "v1", "kind": "Pod",
	"metadata": map[string]any{"name": "probe"},
}}

func rejected(message string) *metav1.Status {
	return apitest.Status(http.StatusForbidden, metav1.StatusReasonForbidden, message)
}

func newInstaller(t *testing.T, server *apitest.Server) *Installer {
	t.Helper()
	client, err := objects.New(server.Config())
	golden.Must(t, err)
	hooks, err := webhooks.New(server.Config())
	golden.Must(t, err)
	return &Installer{Objects: client, Webhooks: hooks}
}

// probed is an API server whose counters a test sets.
type probed struct{ metrics string }

// proveOne proves one webhook with one probe. answer is the API server's response to it, and changes its counters.
func proveOne(ctx context.Context, t *testing.T, before string, probes []*unstructured.Unstructured,
	answer func(c *probed, n int) *metav1.Status,
) (int, error) {
	t.Helper()
	c, server := &probed{metrics: before}, apitest.New(t)
	server.Misbehave(func(r apitest.Request) *apitest.Fault {
		switch {
		case r.Path == "/metrics":
			return &apitest.Fault{Code: http.StatusOK, Text: c.metrics}
		case r.DryRun:
			if status := answer(c, r.Number); status != nil {
				return &apitest.Fault{Status: status}
			}
		}
		return nil
	})
	s := newInstaller(t, server)
	configuration := objects.Reference{
		Kind: schema.GroupKind{Group: "admissionregistration.k8s.io", Kind: "ValidatingWebhookConfiguration"},
		Name: "configuration",
	}
	hooks := []webhooks.Hook{
		{Configuration: configuration, Name: "w", Step: "validating", Creates: true},
		{Name: "updates only", Step: "validating"},
	}
	err := s.Prove(ctx, nil, probes, hooks, s.Webhooks.Answers)
	return server.Requests("create", "Pod"), err
}

// TestProofIsTheCountAlone: neither an accepted nor a rejected probe proves that a webhook is served.
func TestProofIsTheCountAlone(t *testing.T) {
	probes, err := proveOne(t.Context(), t, "", []*unstructured.Unstructured{pod},
		func(c *probed, n int) *metav1.Status {
			switch n {
			case 1: // the API server does not know of the webhook yet
				return nil
			case 2: // something else rejects
				return rejected("no service account")
			case 3: // it knows of the webhook, which does not answer
				c.metrics = counter("500", 1) + rejection("calling_webhook_error", 1)
				return rejected(`failed calling webhook "w"`)
			}
			c.metrics = counter("200", n)
			return nil
		})
	if probes != 4 || err != nil {
		t.Errorf("%d probes, %v; want 4", probes, err)
	}
}

// TestRestartedAPIServer: counters that were reset are no proof until they grow.
func TestRestartedAPIServer(t *testing.T) {
	probes, err := proveOne(t.Context(), t, counter("200", 90), []*unstructured.Unstructured{pod},
		func(c *probed, n int) *metav1.Status {
			c.metrics = counter("200", 4+n/2) // 4, 5, 5, ...
			return rejected("no")
		})
	if probes != 2 || err != nil {
		t.Errorf("%d probes, %v; want 2", probes, err)
	}
}

func TestUnprovenWebhook(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	_, err := proveOne(ctx, t, "", []*unstructured.Unstructured{pod}, func(_ *probed, n int) *metav1.Status {
		if n == 3 {
			cancel(errors.New("enough"))
		}
		return rejected("not this one")
	})
	if err == nil || !strings.Contains(err.Error(), "webhook w (ValidatingWebhookConfiguration configuration)") ||
		!strings.Contains(err.Error(), "Pod probe: not this one") {
		t.Errorf("got %v, want the webhook and what the probe was answered", err)
	}
	_, err = proveOne(t.Context(), t, "", nil, nil)
	if err == nil || !strings.Contains(err.Error(), "has no probes") {
		t.Errorf("without probes: %v", err)
	}
}
