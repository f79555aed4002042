package upgrade

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness/manifests"
	"github.com/rehearse-dev/rehearse/harness/transplant"
)

// Fit makes objects fit for a new cluster: they may be an export of another one, such as the output of kubectl get. It
// returns notes about what it left out or changed.
func Fit(objects []*manifests.Object, nodes []clusters.NodeGroup) (kept []*manifests.Object, notes []string) {
	f := fitting{given: map[owner]bool{}}
	for _, group := range nodes {
		f.nodes = append(f.nodes, group.Names()...)
	}
	for _, o := range objects {
		f.given[owner{o.GVK().GroupKind(), o.Content.GetNamespace(), o.Content.GetName()}] = true
	}
	for _, o := range objects {
		if fit := f.fit(o); fit != nil {
			kept = append(kept, fit)
		}
	}
	return kept, f.notes()
}

// owner identifies a given object, which may own others.
type owner struct {
	kind            schema.GroupKind
	namespace, name string
}

type fitting struct {
	given map[owner]bool
	// nodes are the names of the nodes that the new cluster has.
	nodes []string
	// exported, own, owned and moved count the objects that Fit changed or left out.
	exported, own, owned, moved int
}

// fit returns an object, or a copy that is fit; nil if it is left out.
func (f *fitting) fit(o *manifests.Object) *manifests.Object {
	fit := *o
	if o.Content.GetUID() != "" {
		switch {
		case transplant.ClustersOwn(o.Content):
			f.own++
			return nil
		case f.ownerGiven(o.Content):
			f.owned++
			return nil
		}
		f.exported++
		fit.Content = transplant.Manifest(o.Content)
		withoutAddresses(fit.Content)
	}
	node, _, _ := unstructured.NestedString(fit.Content.Object, "spec", "nodeName")
	if fit.GVK().GroupKind() == (schema.GroupKind{Kind: "Pod"}) && node != "" && !slices.Contains(f.nodes, node) {
		f.moved++
		fit.Content = fit.Content.DeepCopy()
		unstructured.RemoveNestedField(fit.Content.Object, "spec", "nodeName")
	}
	return &fit
}

// ownerGiven reports whether the controller that manages an object is given, too: it creates the object again.
func (f *fitting) ownerGiven(o *unstructured.Unstructured) bool {
	by := metav1.GetControllerOf(o)
	if by == nil {
		return false
	}
	group := schema.FromAPIVersionAndKind(by.APIVersion, by.Kind).GroupKind()
	return f.given[owner{group, o.GetNamespace(), by.Name}] || f.given[owner{group, "", by.Name}]
}

// withoutAddresses removes the addresses that another cluster gave a Service: a new cluster has its own range.
func withoutAddresses(o *unstructured.Unstructured) {
	if o.GroupVersionKind().GroupKind() != (schema.GroupKind{Kind: "Service"}) {
		return
	}
	if ip, _, _ := unstructured.NestedString(o.Object, "spec", "clusterIP"); ip != "None" {
		unstructured.RemoveNestedField(o.Object, "spec", "clusterIP")
		unstructured.RemoveNestedField(o.Object, "spec", "clusterIPs")
	}
}

func (f *fitting) notes() (notes []string) {
	add := func(n int, text string) {
		if n > 0 {
			notes = append(notes, fmt.Sprintf(text, n))
		}
	}
	add(f.exported, "exported objects: %d; status, UIDs, addresses and other fields of their cluster were removed "+
		"(rehearse capture keeps objects as they are stored)")
	add(f.own, "objects left out: %d, because every cluster creates them itself")
	add(f.owned, "objects left out: %d, because the controllers of other given objects create them")
	add(f.moved, "Pods on another node than in the manifest: %d, because the node in spec.nodeName does not exist here")
	return notes
}
