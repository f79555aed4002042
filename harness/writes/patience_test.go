package writes

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/rehearse-dev/rehearse/scenarios"
)

// A write that expects a webhook's timeout waits longer than the API server waits for the webhook.
func TestPatience(t *testing.T) {
	rejected := func(code int) *scenarios.Expect {
		return &scenarios.Expect{Rejected: &scenarios.Rejection{Code: code}}
	}
	for _, test := range []struct {
		set    time.Duration
		expect *scenarios.Expect
		want   time.Duration
	}{
		{0, nil, defaultPatience},
		{0, &scenarios.Expect{CEL: "true"}, defaultPatience},
		{0, rejected(422), defaultPatience},
		{0, rejected(500), webhookPatience},
		{time.Second, rejected(500), time.Second},
	} {
		w := &Writer{Patience: test.set}
		if got := w.patience(&scenarios.Step{Expect: test.expect}); got != test.want {
			t.Errorf("patience %s, expectation %+v: got %s, want %s", test.set, test.expect, got, test.want)
		}
	}
}

// After a try without an answer, the next one waits longer than the API server waits for a webhook.
func TestPatienceGrows(t *testing.T) {
	for _, test := range []struct {
		set  time.Duration
		err  error
		want time.Duration
	}{
		{0, nil, 0},
		{0, fmt.Errorf("put: %w", context.DeadlineExceeded), webhookPatience},
		{0, syscall.ECONNREFUSED, 0},
		{0, apierrors.NewTimeoutError("request timed out", 1), 0},
		{defaultPatience, context.DeadlineExceeded, defaultPatience},
	} {
		if got := longer(test.set, test.err); got != test.want {
			t.Errorf("patience %s, error %v: got %s, want %s", test.set, test.err, got, test.want)
		}
	}
}
