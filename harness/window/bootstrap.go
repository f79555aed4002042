package window

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/clusters/pauses"
	"github.com/rehearse-dev/rehearse/harness/inventory"
	"github.com/rehearse-dev/rehearse/harness/writes"
)

// bootstrap: API servers do not overwrite each other's versions of the objects that Kubernetes maintains itself. An
// object that is written, deleted or recreated in both halves of Settle counts as overwritten.
func (j *judge) bootstrap(ctx context.Context) {
	type identity struct {
		kind            schema.GroupKind
		namespace, name string
	}
	versions := []map[identity]string{}
	last, unlisted := map[identity]*unstructured.Unstructured{}, map[schema.GroupKind]bool{}
	for i := range 3 {
		if i > 0 && !pauses.For(ctx, j.Settle/2) {
			return
		}
		now := map[identity]string{}
		for _, s := range j.seen {
			if !s.first || s.throughNew == nil {
				continue
			}
			objects, err := inventory.List(ctx, j.new.client, s.resource)
			if err != nil {
				j.unjudged("bootstrap: list objects of %s: %s", s.kind.GroupKind(), writes.Words(err))
				unlisted[s.kind.GroupKind()] = true
				continue
			}
			for uid, o := range objects {
				if bootstrapped(o) {
					id := identity{s.kind.GroupKind(), o.GetNamespace(), o.GetName()}
					now[id], last[id] = uid+" "+o.GetResourceVersion(), o
				}
			}
		}
		versions = append(versions, now)
	}
	var problems []string
	for id, a := range versions[0] {
		if b, c := versions[1][id], versions[2][id]; a != b && b != c && !unlisted[id.kind] {
			problems = append(problems, fmt.Sprintf("%s was written in both halves of %s, as if servers overwrite each other; "+
				"last by %s", named(last[id]), j.Settle, lastWriter(last[id])))
		}
	}
	slices.Sort(problems)
	for _, text := range problems {
		j.problem("bootstrap: %s", text)
	}
	j.evidence("%d objects that Kubernetes maintains itself were watched for %s", len(versions[0]), j.Settle)
}

// bootstrapped reports whether Kubernetes itself creates and maintains an object.
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
		o.GetKind() == "ConfigMap" && o.GetNamespace() == metav1.NamespaceSystem &&
			slices.Contains(serverConfigMaps, o.GetName())
}

// serverConfigMaps are the ConfigMaps that API servers write.
var serverConfigMaps = []string{
	"extension-apiserver-authentication", "kube-apiserver-legacy-service-account-token-tracking",
}

// lastWriter is the manager that wrote an object last, according to its managed fields.
func lastWriter(o *unstructured.Unstructured) string {
	var last metav1.ManagedFieldsEntry
	for _, entry := range o.GetManagedFields() {
		if last.Time == nil || entry.Time != nil && last.Time.Before(entry.Time) {
			last = entry
		}
	}
	if last.Manager == "" {
		return "an unknown manager"
	}
	return fmt.Sprintf("%s (%s)", last.Manager, last.APIVersion)
}
