package window

import (
	"context"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness/inventory"
	"github.com/rehearse-dev/rehearse/harness/writes"
)

// namespaces: a deleted namespace contains no objects. A controller manager that asks an old API server deletes a
// namespace as empty if only the new server serves the kinds of its objects (KEP-4020).
func (j *judge) namespaces(ctx context.Context) {
	held := map[string][]dweller{}
	for _, server := range []*asked{j.old, j.new} {
		for group, kind := range server.Kinds {
			if !kind.Namespaced || volatile(group) {
				continue
			}
			api := server.client.Resource(kind.In(group.Group, kind.Versions[0]))
			objects, err := inventory.List(ctx, server.client, kind.In(group.Group, kind.Versions[0]))
			if err != nil {
				j.unjudged("namespaces: list objects of %s through %s: %s", group, server.Name, writes.Words(err))
				continue
			}
			for _, o := range objects {
				held[o.GetNamespace()] = append(held[o.GetNamespace()], dweller{o, api.Namespace(o.GetNamespace())})
			}
		}
	}
	// The namespaces are listed last, so that the list contains those that were created meanwhile.
	there, err := inventory.List(ctx, j.new.client, schema.GroupVersionResource{Version: "v1", Resource: "namespaces"})
	if err != nil {
		j.unjudged("namespaces: list the namespaces: %s", writes.Words(err))
		return
	}
	names := map[string]bool{}
	for _, o := range there {
		names[o.GetName()] = true
	}
	for _, namespace := range clusters.SortedKeys(held) {
		if names[namespace] {
			continue
		}
		if left := j.left(ctx, held[namespace]); len(left) > 0 {
			j.problem("namespaces: namespace %s was deleted, but these objects in it still exist: %s", namespace,
				strings.Join(left, ", "))
		}
	}
	j.evidence("%d namespaces exist; objects are in %d namespaces", len(names), len(held))
}

// dweller is an object in a namespace, with a client that reads it.
type dweller struct {
	object *unstructured.Unstructured
	api    dynamic.ResourceInterface
}

// left names the objects that still exist. Others were deleted with their namespace between the two lists.
func (j *judge) left(ctx context.Context, objects []dweller) []string {
	var names []string
	for _, o := range objects {
		now, err := o.api.Get(ctx, o.object.GetName(), metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err) || err == nil && now.GetUID() != o.object.GetUID():
		case err != nil:
			j.unjudged("namespaces: read %s: %s", named(o.object), writes.Words(err))
		case !slices.Contains(names, named(o.object)):
			names = append(names, named(o.object))
		}
	}
	slices.Sort(names)
	return names
}

// addressed reports whether objects of a kind have cluster IPs.
func addressed(kind schema.GroupVersionKind) bool {
	return kind == schema.GroupVersionKind{Version: "v1", Kind: "Service"}
}

// addresses: no two Services have the same cluster IP.
func (j *judge) addresses(context.Context) {
	owners := map[string][]string{}
	for _, s := range j.seen {
		if !addressed(s.kind) {
			continue
		}
		for _, o := range s.throughNew {
			ips, _, _ := unstructured.NestedStringSlice(o.Object, "spec", "clusterIPs")
			for _, ip := range ips {
				if ip != "None" && ip != "" {
					owners[ip] = append(owners[ip], named(o))
				}
			}
		}
	}
	for _, ip := range clusters.SortedKeys(owners) {
		if len(owners[ip]) > 1 {
			slices.Sort(owners[ip])
			j.problem("addresses: %s all have the cluster IP %s", strings.Join(owners[ip], ", "), ip)
		}
	}
	j.evidence("%d cluster IPs, each used by one Service", len(owners))
}

// leader: the leading controller manager is not newer than the oldest API server. The version skew policy requires
// that, but a plain Lease does not ensure it (KEP-4355).
func (j *judge) leader(ctx context.Context) {
	leads, err := j.Leader(ctx)
	if err != nil {
		j.unjudged("leader: %v", err)
		return
	}
	version, err1 := clusters.ParseRelease(leads.Version)
	oldest, err2 := clusters.ParseRelease(j.old.Version)
	switch {
	case err1 != nil || err2 != nil:
		j.unjudged("leader: versions %q and %q cannot be compared", leads.Version, j.old.Version)
	case version.Major == oldest.Major && version.Minor > oldest.Minor: // the policy is about minor versions
		j.problem("leader: the controller manager beside %s leads, but is newer than %s", leads.Name, j.old.Name)
	default:
		j.evidence("the controller manager beside %s leads", leads.Name)
	}
}

// ruling reports whether objects of a kind contain rules that an API server compiles.
func ruling(kind schema.GroupKind) bool {
	return kind.Group == "admissionregistration.k8s.io" ||
		kind == schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}
}

// rules: the old server serves and compiles the policies, webhooks and schemas of custom resources that the new one
// stores. The check creates them in dry runs, because an update may keep what a creation must not contain.
func (j *judge) rules(ctx context.Context) {
	compiled := 0
	for group, kind := range j.new.Kinds {
		also := j.old.Kinds[group]
		if !ruling(group) || also != nil && common(kind, also) != "" {
			continue
		}
		objects, err := inventory.List(ctx, j.new.client, kind.In(group.Group, kind.Versions[0]))
		if err != nil {
			j.unjudged("rules: list objects of %s: %s", group, writes.Words(err))
		}
		for _, o := range objects {
			if also == nil {
				j.problem("rules: %s does not enforce %s: it does not serve the kind", j.old.Name, named(o))
				continue
			}
			j.unjudged("rules: %s: %s and %s serve the kind in different versions", named(o), j.old.Name, j.new.Name)
		}
	}
	for _, s := range j.seen {
		if !ruling(s.kind.GroupKind()) || !s.first {
			continue
		}
		for _, o := range s.throughNew {
			if j.creatable(ctx, s, o) {
				compiled++
			}
		}
	}
	j.evidence("%d policies, webhooks and custom resource definitions would be accepted by %s", compiled, j.old.Name)
}

// creatable creates an object in a dry run, and returns whether the old server accepts it. A rejection counts if the
// new server accepts the object.
func (j *judge) creatable(ctx context.Context, s *seen, o *unstructured.Unstructured) bool {
	accepts := func(server *asked) (writes.Outcome, error) {
		_, err := in(server.client, s, o).Create(ctx, anew(o), metav1.CreateOptions{
			DryRun: []string{metav1.DryRunAll}, FieldManager: manager,
		})
		if apierrors.IsAlreadyExists(err) {
			return writes.Accepted, err
		}
		return writes.Judge(err), err
	}
	outcome, err := accepts(j.old)
	if outcome != writes.Rejected {
		if outcome == writes.Unknown {
			j.unjudged("rules: %s: %s", named(o), writes.Words(err))
		}
		return outcome == writes.Accepted
	}
	switch outcome, other := accepts(j.new); outcome {
	case writes.Accepted:
		j.problem("rules: %s would be rejected by %s: %s", named(o), j.old.Name, writes.Words(err))
	case writes.Rejected:
		j.evidence("both servers would reject %s: %s", named(o), writes.Words(other))
	case writes.Unknown:
		j.unjudged("rules: %s would be rejected by %s; it is unknown whether also by %s: %s", named(o), j.old.Name,
			j.new.Name, writes.Words(other))
	}
	return false
}

// anew returns the object as one would create it in a new cluster.
func anew(o *unstructured.Unstructured) *unstructured.Unstructured {
	fresh := o.DeepCopy()
	for _, field := range []string{"uid", "resourceVersion", "managedFields", "creationTimestamp", "generation"} {
		unstructured.RemoveNestedField(fresh.Object, "metadata", field)
	}
	unstructured.RemoveNestedField(fresh.Object, "status")
	return fresh
}
