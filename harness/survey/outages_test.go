package survey

import (
	"context"
	"errors"
	"testing"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/rehearse-dev/rehearse/harness/writes"
)

// A write is not retried if a webhook fails it that has failed another one to the end. The words about the webhook may
// differ in the rest.
func TestWritesThatAWebhookFailsAreNotRetried(t *testing.T) {
	webhook := func(name, rest string) error {
		return apierrors.NewInternalError(errors.New(`failed calling webhook "` + name + `": ` + rest))
	}
	o := &outages{}
	o.add(webhook("a.example.com", "connection refused"))
	o.add(apierrors.NewInternalError(errors.New("conversion webhook for example.com/v1, Kind=A failed: Post: EOF")))
	o.add(apierrors.NewInternalError(errors.New("etcd is slow")))
	for _, test := range []struct {
		name  string
		err   error
		again bool
	}{
		{"the same webhook", webhook("a.example.com", "context deadline exceeded"), false},
		{"another webhook", webhook("b.example.com", "connection refused"), true},
		{
			"the same conversion",
			apierrors.NewInternalError(errors.New("conversion webhook for example.com/v1, Kind=A failed: no route")), false,
		},
		{"no webhook", apierrors.NewInternalError(errors.New("etcd is slow")), true},
	} {
		var working errgroup.Group
		for range 4 {
			working.Go(func() error {
				tries := 0
				outcome, err := o.persist(t.Context(), func(context.Context) error {
					if tries++; tries == 1 {
						return test.err
					}
					return nil
				})
				if again := tries > 1; again != test.again || (err == nil) != again || (outcome == writes.Accepted) != again {
					t.Errorf("%s: %d tries, %s, %v", test.name, tries, outcome, err)
				}
				return nil
			})
		}
		_ = working.Wait() // the functions return no errors
	}
}

// An interrupted survey learns nothing about webhooks.
func TestAnInterruptIsNoOutage(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	o, failed := &outages{}, apierrors.NewInternalError(errors.New(`failed calling webhook "a": context canceled`))
	_, _ = o.persist(ctx, func(context.Context) error {
		interrupt()
		return failed
	})
	if o.has(failed) {
		t.Error("the webhook counts as down")
	}
}
