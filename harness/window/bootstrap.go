package window

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/pauses"
	"github.com/rehearse-dev/rehearse/harness/inventory"
	"github.com/rehearse-dev/rehearse/harness/writes"
)

// bootstrap: API servers do not overwrite each other's versions of the objects that Kubernetes maintains itself. An
// object that is written in both halves of Settle counts as overwritten.
func (j *judge) bootstrap(ctx context.Context) {
	versions := []map[string]string{}
	owners := map[string]*unstructured.Unstructured{}
	for i := range 3 {
		if i > 0 && !pauses.For(ctx, j.Settle/2) {
			return
		}
		now := map[string]string{}
		for _, s := range j.seen {
			if !s.first || s.throughNew == nil {
				continue
			}
			objects, err := inventory.List(ctx, j.new.client, s.resource)
			if err != nil {
				j.unjudged("bootstrap: list objects of %s: %s", s.kind.GroupKind(), writes.Words(err))
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
			j.problem("bootstrap: %s was written in both halves of %s, as if servers overwrite each other; last by %s",
				named(owners[uid]), j.Settle, lastWriter(owners[uid]))
		}
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
