// Package canary tells when an API server knows the admission policies and webhook configurations that were written: it writes one more of its
// own, whose effect can be seen, and an API server hears of them in their order.
package canary

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/harness/writes"
)

// Group is the API group of policies and webhook configurations.
const Group = "admissionregistration.k8s.io"

// label marks the Lease that a canary is about: a kind that other policies and webhooks seldom are about, and of which a dry run does no harm.
const label = "rehearse.dev/canary"

// removal is how long the removal of a canary may take. What is left of one is about nothing.
const removal = 5 * time.Second

var leases = schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}

// Family is one of the ways in which admission is configured: a policy and its binding belong together.
type Family string

// FamilyOf says which family a kind belongs to; false when it configures no admission.
func FamilyOf(gvk schema.GroupVersionKind) (Family, bool) {
	if gvk.Group != Group {
		return "", false
	}
	switch gvk.Kind {
	case "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding":
		return "ValidatingAdmissionPolicy", true
	case "MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding":
		return "MutatingAdmissionPolicy", true
	case "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration":
		return Family(gvk.Kind), true
	}
	return "", false
}

// Canary is what is written to see when it has an effect.
type Canary struct {
	// Client writes it, with a configuration from writes.Configure.
	Client dynamic.Interface
	// Family that it is of, in this version of its API.
	Family  Family
	Version string
	// Namespace in which a Lease is created as a dry run.
	Namespace string
	// Name of its objects, of which there is no other in the cluster.
	Name string
}

// Await returns when the canary has been seen to have its effect, so that all of its family that was written or deleted before is known to the
// API server that answers. It tries until the context ends, and leaves nothing behind.
func (c Canary) Await(ctx context.Context) error {
	pieces := c.pieces()
	defer c.remove(context.WithoutCancel(ctx), pieces)
	pauses := backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(10*time.Millisecond), backoff.WithMaxInterval(200*time.Millisecond), backoff.WithMaxElapsedTime(0))
	written := 0
	for {
		err := c.write(ctx, pieces, &written)
		if err == nil {
			var seen bool
			if seen, err = c.look(ctx); seen {
				return nil
			}
		}
		timer := time.NewTimer(pauses.NextBackOff())
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("wait until the API server knows each %s: %w", c.Family, errors.Join(context.Cause(ctx), err))
		}
	}
}

// write creates what is not written yet.
func (c Canary) write(ctx context.Context, pieces []piece, written *int) error {
	for ; *written < len(pieces); *written++ {
		p := pieces[*written]
		_, err := c.Client.Resource(p.resource).Create(ctx, p.object.DeepCopy(), metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("create %s %s: %w", p.object.GetKind(), c.Name, err)
		}
	}
	return nil
}

// look says whether the canary is seen in a dry run.
func (c Canary) look(ctx context.Context) (bool, error) {
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
		"metadata": map[string]any{"name": c.Name, "labels": map[string]any{label: c.Name}},
	}}
	ctx, warnings := writes.WithWarnings(ctx)
	made, err := c.Client.Resource(leases).Namespace(c.Namespace).Create(ctx, object, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if c.seen(made, warnings(), err) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("create a Lease as a dry run: %w", err)
	}
	return false, errors.New("a Lease, created as a dry run, was not affected by it yet")
}

func (c Canary) remove(ctx context.Context, pieces []piece) {
	ctx, cancel := context.WithTimeout(ctx, removal)
	defer cancel()
	for _, p := range pieces {
		_ = c.Client.Resource(p.resource).Delete(ctx, c.Name, metav1.DeleteOptions{}) // it is about nothing that anybody else writes
	}
}
