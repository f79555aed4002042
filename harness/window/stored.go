package window

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness/inventory"
	"github.com/rehearse-dev/rehearse/harness/writes"
)

// namespaces: nothing is left of a namespace that is gone. A controller manager that asks an old API server takes a
// namespace for empty when only the new one serves what is in it (KEP-4020).
func (j *judge) namespaces(ctx context.Context) {
	left := map[string][]string{}
	for _, server := range []*asked{j.old, j.new} {
		for group, kind := range server.Kinds {
			if !kind.Namespaced || volatile(group) {
				continue
			}
			objects, err := inventory.List(ctx, server.client, kind.In(group.Group, kind.Versions[0]))
			if err != nil {
				j.unjudged("namespaces: objects of %s through %s: %s", group, server.Name, writes.Words(err))
				continue
			}
			for _, o := range objects {
				if text := named(o); !slices.Contains(left[o.GetNamespace()], text) {
					left[o.GetNamespace()] = append(left[o.GetNamespace()], text)
				}
			}
		}
	}
	// The namespaces are listed last: one that was made meanwhile is among them.
	there, err := inventory.List(ctx, j.new.client, schema.GroupVersionResource{Version: "v1", Resource: "namespaces"})
	if err != nil {
		j.unjudged("namespaces: they cannot be listed: %s", writes.Words(err))
		return
	}
	names := map[string]bool{}
	for _, o := range there {
		names[o.GetName()] = true
	}
	gone := 0
	for _, namespace := range clusters.SortedKeys(left) {
		if !names[namespace] {
			gone++
			slices.Sort(left[namespace])
			j.problem("namespaces: namespace %s is gone, and these objects in it are not: %s", namespace,
				strings.Join(left[namespace], ", "))
		}
	}
	j.evidence("namespaces that hold objects: %d, of which %d exist", len(left), len(left)-gone)
}

// addresses: no two Services have one cluster IP.
func (j *judge) addresses(context.Context) {
	owners := map[string][]string{}
	for _, s := range j.seen {
		if s.kind != (schema.GroupVersionKind{Version: "v1", Kind: "Service"}) {
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
	j.evidence("%d cluster IPs, each of one Service", len(owners))
}

// leader: the controller manager that leads is not newer than the oldest API server. The version skew policy demands
// that; a lease alone does not care (KEP-4355).
func (j *judge) leader(ctx context.Context) {
	leads, err := j.Leader(ctx)
	if err != nil {
		j.unjudged("leader: %v", err)
		return
	}
	version, err1 := clusters.ParseVersion(leads.Version)
	oldest, err2 := clusters.ParseVersion(j.old.Version)
	switch {
	case err1 != nil || err2 != nil:
		j.unjudged("leader: %q and %q cannot be compared", leads.Version, j.old.Version)
	case version.Compare(oldest) > 0:
		j.problem("leader: the controller manager beside %s leads, and is newer than %s", leads.Name, j.old.Name)
	default:
		j.evidence("the controller manager beside %s leads", leads.Name)
	}
}

// ruling are the kinds whose objects hold rules that an API server must compile.
func ruling(kind schema.GroupKind) bool {
	return kind.Group == "admissionregistration.k8s.io" ||
		kind == schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}
}

// rules: policies, webhooks and the schemas of custom resources that the new server stores are served and compiled by
// the old one. An update may keep what a creation is refused for, so that a creation is asked for.
func (j *judge) rules(ctx context.Context) {
	compiled := 0
	for group, kind := range j.new.Kinds {
		if !ruling(group) || j.old.Kinds[group] != nil {
			continue
		}
		objects, err := inventory.List(ctx, j.new.client, kind.In(group.Group, kind.Versions[0]))
		if err != nil {
			j.unjudged("rules: objects of %s: %s", group, writes.Words(err))
		}
		for _, o := range objects {
			j.problem("rules: %s does not hold where %s answers: it does not serve the kind", named(o), j.old.Name)
		}
	}
	for _, s := range j.seen {
		if !ruling(s.kind.GroupKind()) || s.kind.Version != s.how.Versions[0] {
			continue
		}
		for _, o := range s.throughNew {
			_, err := in(j.old.client, s, o).Create(ctx, anew(o), metav1.CreateOptions{
				DryRun: []string{metav1.DryRunAll}, FieldManager: manager,
			})
			switch outcome := writes.Judge(err); {
			case outcome == writes.Accepted, apierrors.IsAlreadyExists(err):
				compiled++
			case outcome == writes.Refused:
				j.problem("rules: %s would be rejected by %s: %s", named(o), j.old.Name, writes.Words(err))
			default:
				j.unjudged("rules: %s: %s", named(o), writes.Words(err))
			}
		}
	}
	j.evidence("%d policies, webhooks and custom resource definitions would be accepted by %s", compiled, j.old.Name)
}

// anew is an object for a cluster that has nothing of it.
func anew(o *unstructured.Unstructured) *unstructured.Unstructured {
	fresh := o.DeepCopy()
	for _, field := range []string{"uid", "resourceVersion", "managedFields", "creationTimestamp", "generation"} {
		unstructured.RemoveNestedField(fresh.Object, "metadata", field)
	}
	unstructured.RemoveNestedField(fresh.Object, "status")
	return fresh
}

// bootstrap: no two API servers write the objects that Kubernetes keeps for itself in turns. What is written in each
// half of the time is written again and again.
func (j *judge) bootstrap(ctx context.Context) {
	versions := []map[string]string{}
	owners := map[string]*unstructured.Unstructured{}
	for i := range 3 {
		if i > 0 {
			select {
			case <-time.After(j.Settle / 2):
			case <-ctx.Done():
				return
			}
		}
		now := map[string]string{}
		for _, s := range j.seen {
			if s.kind.Version != s.how.Versions[0] || s.throughNew == nil {
				continue
			}
			objects, err := inventory.List(ctx, j.new.client, s.resource)
			if err != nil {
				j.unjudged("bootstrap: objects of %s: %s", s.kind.GroupKind(), writes.Words(err))
				continue
			}
			for uid, o := range objects {
				if bootstrapped(o) {
					now[uid], owners[uid] = o.GetResourceVersion(), o
				}
			}
		}
		versions = append(versions, now)
	}
	for _, uid := range clusters.SortedKeys(versions[0]) {
		if a, b, c := versions[0][uid], versions[1][uid], versions[2][uid]; b != "" && c != "" && a != b && b != c {
			j.problem("bootstrap: %s is written again and again: in both halves of %s; last by %s", named(owners[uid]),
				j.Settle, lastWriter(owners[uid]))
		}
	}
	j.evidence("%d objects that Kubernetes keeps for itself, watched for %s", len(versions[0]), j.Settle)
}

// bootstrapped says whether Kubernetes makes an object for itself, and keeps it as it should be.
func bootstrapped(o *unstructured.Unstructured) bool {
	labels, annotations := o.GetLabels(), o.GetAnnotations()
	switch {
	case labels["kubernetes.io/bootstrapping"] != "", labels["kube-aggregator.kubernetes.io/automanaged"] != "":
		return true
	case annotations["apf.kubernetes.io/autoupdate-spec"] != "":
		return true
	case strings.HasPrefix(o.GetName(), "system-") && o.GetKind() == "PriorityClass":
		return true
	}
	return o.GetName() == "kubernetes" && o.GetNamespace() == metav1.NamespaceDefault ||
		o.GetName() == "kubernetes" && o.GetKind() == "ServiceCIDR" ||
		o.GetKind() == "Namespace" && (o.GetName() == metav1.NamespaceDefault || strings.HasPrefix(o.GetName(), "kube-")) ||
		o.GetKind() == "ConfigMap" && o.GetNamespace() == metav1.NamespaceSystem
}

// lastWriter is who wrote an object last, as its managed fields tell.
func lastWriter(o *unstructured.Unstructured) string {
	var last metav1.ManagedFieldsEntry
	for _, entry := range o.GetManagedFields() {
		if last.Time == nil || entry.Time != nil && last.Time.Before(entry.Time) {
			last = entry
		}
	}
	if last.Manager == "" {
		return "a manager that is not known"
	}
	return fmt.Sprintf("%s (%s)", last.Manager, last.APIVersion)
}
