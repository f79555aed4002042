package systems

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/internal/apitest"
)

func counter(code string, n int) string {
	return fmt.Sprintf("# TYPE other counter\nother{name=\"w\"} "+
		"7\n%s{code=%q,name=\"w\",operation=\"CREATE\",rejected=\"false\",type=\"validating\"} %d\n", requestsMetric, code, n)
}

func rejection(kind string, n int) string {
	return fmt.Sprintf("%s{error_type=%q,name=\"w\",operation=\"CREATE\",rejection_code=\"403\",type=\"validating\"} %d\n",
		rejectionsMetric, kind, n)
}

func TestCountAnswers(t *testing.T) {
	for text, want := range map[string]float64{
		"": 0,
		"apiserver_admission_webhook_request_total_x{name=\"w\"} 3\n": 0,
		counter("200", 3): 3,
		counter("200", 3) + rejection("no_error", 2):               5,
		counter("403", 3) + rejection("no_error", 3):               3,
		counter("404", 3) + rejection("calling_webhook_error", 3):  0,
		counter("500", 3) + rejection("calling_webhook_error", 3):  0,
		counter("0", 3) + rejection("apiserver_internal_error", 3): 0,
	} {
		counts, err := countAnswers([]byte(text))
		if got := counts[answerKey{"w", "validating"}]; err != nil || got != want {
			t.Errorf("%s\n%v answers, %v; want %v", text, got, err, want)
		}
		if got := counts[answerKey{"w", "admit"}]; got != 0 {
			t.Errorf("%v answers of a mutating webhook of the same name", got)
		}
	}
}

var pod = &unstructured.Unstructured{Object: map[string]any{
	"apiVersion": "v1", "kind": "Pod",
	"metadata": map[string]any{"name": "probe"},
}}

func rejected(message string) *metav1.Status {
	return apitest.Status(http.StatusForbidden, metav1.StatusReasonForbidden, message)
}

// proveOne proves one webhook with one probe. answer is the API server's response to it, and changes its counters.
func proveOne(ctx context.Context, t *testing.T, before string, probes []*unstructured.Unstructured,
	answer func(c *fakeCluster, n int) *metav1.Status,
) (int, error) {
	t.Helper()
	c := newFakeCluster(t)
	c.metrics = before
	c.probe = func(n int) *metav1.Status { return answer(c, n) }
	s := newSet(t, c, Options{})
	err := s.prove(ctx, nil, probes, []hook{
		{
			configuration: reference{kind: webhookKinds[1], name: "configuration"}, name: "w", step: "validating",
			creates: true,
		},
		{name: "updates only", step: "validating"},
	}, s.api.answers)
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.probes, err
}

// TestProofIsTheCountAlone: neither an accepted nor a rejected probe proves that a webhook is served.
func TestProofIsTheCountAlone(t *testing.T) {
	probes, err := proveOne(t.Context(), t, "", []*unstructured.Unstructured{pod},
		func(c *fakeCluster, n int) *metav1.Status {
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
		func(c *fakeCluster, n int) *metav1.Status {
			c.metrics = counter("200", 4+n/2) // 4, 5, 5, ...
			return rejected("no")
		})
	if probes != 2 || err != nil {
		t.Errorf("%d probes, %v; want 2", probes, err)
	}
}

func TestUnprovenWebhook(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	_, err := proveOne(ctx, t, "", []*unstructured.Unstructured{pod}, func(_ *fakeCluster, n int) *metav1.Status {
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
