// Package canary finds out when an API server knows new policies, webhook configurations, roles, and labels of
// namespaces, by which it judges writes. It writes a test object whose effect it can observe. An API server receives
// all objects of a kind in order.
package canary

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/harness/pauses"
	"github.com/rehearse-dev/rehearse/harness/writes"
)

// label marks the canary, which no scenario is to count, and the Lease that it is about: a kind that other policies and
// webhooks seldom are about, and of which a dry run does no harm.
const label = history.AsideLabel

// removal is how long the removal of a canary may take. What is left of one is about nothing.
const removal = 5 * time.Second

var (
	leases     = schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}
	namespaces = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
)

// Family are kinds that belong together: a policy and its binding, a role and its bindings.
type Family string

// Families that are not of admission's configuration.
const (
	Role        Family = "Role"
	ClusterRole Family = "ClusterRole"
	Namespace   Family = "Namespace"
)

const (
	admission     = "admissionregistration.k8s.io"
	authorization = "rbac.authorization.k8s.io"
)

// FamilyOf says which family a kind belongs to; false when it is of none.
func FamilyOf(gvk schema.GroupVersionKind) (Family, bool) {
	switch gvk.Group + " " + gvk.Kind {
	case admission + " ValidatingAdmissionPolicy", admission + " ValidatingAdmissionPolicyBinding":
		return "ValidatingAdmissionPolicy", true
	case admission + " MutatingAdmissionPolicy", admission + " MutatingAdmissionPolicyBinding":
		return "MutatingAdmissionPolicy", true
	case admission + " ValidatingWebhookConfiguration", admission + " MutatingWebhookConfiguration":
		return Family(gvk.Kind), true
	case authorization + " Role", authorization + " RoleBinding":
		return Role, true
	case authorization + " ClusterRole", authorization + " ClusterRoleBinding":
		return ClusterRole, true
	case " Namespace":
		return Namespace, true
	}
	return "", false
}

// GVK is a kind of the family in a version of its API, of which a canary is made.
func (f Family) GVK(version string) schema.GroupVersionKind {
	gvk := schema.GroupVersionKind{Group: admission, Version: version, Kind: string(f)}
	switch {
	case f == Namespace:
		gvk.Group = ""
	case f.Authorizes():
		gvk.Group = authorization
	}
	return gvk
}

// Authorizes says whether the family is about who may do something.
func (f Family) Authorizes() bool { return f == Role || f == ClusterRole }

// Admits says whether the family configures admission.
func (f Family) Admits() bool { return f != "" && f != Namespace && !f.Authorizes() }

// Canary is what is written to see when it has an effect.
type Canary struct {
	// Client writes it, with a configuration from writes.Configure.
	Client dynamic.Interface
	// Family that it is of, in this version of its API.
	Family  Family
	Version string
	// Namespace in which a Lease is created as a dry run; of the family Namespace it is the one that was written.
	Namespace string
	// Name of its objects, of which there is no other in the cluster.
	Name string
}

// Await returns when the canary has been seen to have its effect, so that all of its family that was written or deleted
// before is known to the API server that answers. It tries until the context ends, and leaves nothing behind.
func (c Canary) Await(ctx context.Context) error {
	pieces := c.pieces()
	defer c.remove(context.WithoutCancel(ctx), pieces)
	again := pauses.Growing(10*time.Millisecond, 200*time.Millisecond)
	written := 0
	for {
		err := c.write(ctx, pieces, &written)
		if apierrors.IsForbidden(err) {
			return fmt.Errorf("see whether the API server knows each %s: %w", c.Family, err)
		}
		if err == nil {
			var seen bool
			if seen, err = c.look(ctx); seen {
				return nil
			}
		}
		if !pauses.Wait(ctx, again) {
			return fmt.Errorf("wait until the API server knows each %s: %w", c.Family, errors.Join(context.Cause(ctx), err))
		}
	}
}

// write creates what is not written yet.
func (c Canary) write(ctx context.Context, pieces []piece, written *int) error {
	for ; *written < len(pieces); *written++ {
		p := pieces[*written]
		_, err := c.Client.Resource(p.resource).Namespace(p.object.GetNamespace()).Create(ctx, p.object.DeepCopy(),
			metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("create %s %s: %w", p.object.GetKind(), c.Name, err)
		}
	}
	return nil
}

// look says whether the canary is seen.
func (c Canary) look(ctx context.Context) (bool, error) {
	if c.Family.Authorizes() {
		return c.review(ctx)
	}
	sign := c.Name
	if c.Family == Namespace {
		namespace, err := c.Client.Resource(namespaces).Get(ctx, c.Namespace, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err) || err == nil && namespace.GetDeletionTimestamp() != nil:
			return true, nil // nothing is created in it
		case err != nil:
			return false, fmt.Errorf("read namespace %s: %w", c.Namespace, err)
		}
		sign = sightOf(namespace.GetResourceVersion())
	}
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
		"metadata": map[string]any{"name": c.Name, "labels": map[string]any{label: c.Name}},
	}}
	ctx, warnings := writes.WithWarnings(ctx)
	made, err := c.Client.Resource(leases).Namespace(c.Namespace).Create(ctx, object,
		metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if c.seen(sign, made, warnings(), err) {
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
		// it is about nothing that anybody else writes
		_ = c.Client.Resource(p.resource).Namespace(p.object.GetNamespace()).Delete(ctx, c.Name, metav1.DeleteOptions{})
	}
}
