// Package canary finds out when an API server knows new policies, webhook configurations, roles, and labels of
// namespaces, which affect writes. It creates a test object with a visible effect. An API server receives all objects
// of a kind in order, so it then also knows the earlier ones. In the same way it finds out when controllers work.
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

	"github.com/rehearse-dev/rehearse/clusters/pauses"
	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/harness/writes"
)

// label marks the canary, which scenarios must not count, and the Lease that it applies to. Other policies and
// webhooks seldom apply to Leases, and a dry run of one is harmless.
const label = history.AsideLabel

// removal is the timeout for the removal of a canary. Leftover objects of a canary have no effect.
const removal = 5 * time.Second

var (
	leases     = schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}
	namespaces = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
)

// Family are kinds that belong together: a policy and its binding, a role and its bindings.
type Family string

// Families that do not configure admission.
const (
	Role        Family = "Role"
	ClusterRole Family = "ClusterRole"
	Namespace   Family = "Namespace"
)

const (
	admission     = "admissionregistration.k8s.io"
	authorization = "rbac.authorization.k8s.io"
)

// FamilyOf returns a kind's family, or false if it has none.
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

// GVK returns the kind of the family's canary, in a version of its API.
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

// Authorizes reports whether the family grants permissions.
func (f Family) Authorizes() bool { return f == Role || f == ClusterRole }

// Admits reports whether the family configures admission.
func (f Family) Admits() bool { return f != "" && f != Namespace && !f.Authorizes() }

// Canary is a test object that is created to see when it has an effect.
type Canary struct {
	// Client writes it, with a configuration from writes.Configure.
	Client dynamic.Interface
	// Family of the canary, and the version of its API.
	Family  Family
	Version string
	// Namespace in which a Lease is created as a dry run. For the family Namespace, it is the one that was written.
	Namespace string
	// Name of its objects, unique in the cluster.
	Name string
}

// Await waits until the canary has an effect. Then the API server that answers also knows everything of its family
// that was written or deleted before. It tries until the context ends, and removes the canary.
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

// write creates the pieces that do not exist yet.
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

// look reports whether the canary has an effect.
func (c Canary) look(ctx context.Context) (bool, error) {
	if c.Family.Authorizes() {
		return c.review(ctx)
	}
	sign := c.Name
	if c.Family == Namespace {
		namespace, err := c.Client.Resource(namespaces).Get(ctx, c.Namespace, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err) || err == nil && namespace.GetDeletionTimestamp() != nil:
			return true, nil // no object can be created in it
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
		// A leftover has no effect on objects of others.
		_ = c.Client.Resource(p.resource).Namespace(p.object.GetNamespace()).Delete(ctx, c.Name, metav1.DeleteOptions{})
	}
}
