package upgrade

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness/manifests"
	"github.com/rehearse-dev/rehearse/harness/survey"
	"github.com/rehearse-dev/rehearse/harness/transplant"
)

// Fit makes objects fit for a new cluster: they may be an export of another one, such as the output of kubectl get. It
// returns notes about what it left out or changed. With operators, the objects that belong to given custom resources
// are left out, too: the operators create them.
func Fit(objects []*manifests.Object, nodes []clusters.NodeGroup, operators bool,
) (kept []*manifests.Object, notes []string) {
	f := fitting{given: map[owner]bool{}, selectorless: map[string]bool{}, operators: operators}
	for _, group := range nodes {
		f.nodes = append(f.nodes, group.Names()...)
	}
	for _, o := range objects {
		f.given[owner{o.GVK().GroupKind(), o.Content.GetNamespace(), o.Content.GetName()}] = true
		selector, _, _ := unstructured.NestedMap(o.Content.Object, "spec", "selector")
		if o.GVK().GroupKind() == (schema.GroupKind{Kind: "Service"}) && len(selector) == 0 {
			f.selectorless[o.Content.GetNamespace()+"/"+o.Content.GetName()] = true
		}
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
	// selectorless are the Services whose Endpoints no controller maintains.
	selectorless map[string]bool
	// nodes are the names of the nodes that the new cluster has.
	nodes []string
	// operators: operators create the objects that belong to custom resources.
	operators bool
	// exported, own, owned, orphaned, moved and generated count the objects that Fit changed or left out.
	exported, own, owned, orphaned, moved, generated int
}

// fit returns an object, or a copy that is fit; nil if it is left out.
func (f *fitting) fit(o *manifests.Object) *manifests.Object {
	fit := *o
	if o.Content.GetUID() != "" {
		switch {
		case transplant.ClustersOwn(o.Content):
			f.own++
			return nil
		case f.recreated(o.Content):
			f.owned++
			return nil
		}
		f.exported++
		if metav1.GetControllerOf(o.Content) != nil {
			f.orphaned++
		}
		fit.Content = transplant.Exported(o.Content)
	}
	if o.Generated {
		f.generated++
	}
	node, _, _ := unstructured.NestedString(fit.Content.Object, "spec", "nodeName")
	if fit.GVK().GroupKind() == (schema.GroupKind{Kind: "Pod"}) && node != "" && !slices.Contains(f.nodes, node) {
		f.moved++
		fit.Content = fit.Content.DeepCopy()
		unstructured.RemoveNestedField(fit.Content.Object, "spec", "nodeName")
	}
	return &fit
}

// recreated reports whether a controller creates an object for others: for its owner, if that is given, or for a
// Service with a selector. Controllers delete the Endpoints of a Service that does not exist.
func (f *fitting) recreated(o *unstructured.Unstructured) bool {
	kind := o.GroupVersionKind().GroupKind()
	if kind == (schema.GroupKind{Kind: "Endpoints"}) {
		return !f.selectorless[o.GetNamespace()+"/"+o.GetName()]
	}
	by := metav1.GetControllerOf(o)
	if by == nil {
		return false
	}
	group := schema.FromAPIVersionAndKind(by.APIVersion, by.Kind).GroupKind()
	if !f.given[owner{group, o.GetNamespace(), by.Name}] && !f.given[owner{group, "", by.Name}] {
		return false
	}
	ofKubernetes := slices.Contains([]string{"", "apps", "batch"}, group.Group)
	return f.operators || ofKubernetes && (survey.IsDependent(kind) || kind.Kind == "PersistentVolumeClaim")
}

func (f *fitting) notes() (notes []string) {
	add := func(n int, text string) {
		if n > 0 {
			notes = append(notes, fmt.Sprintf(text, n))
		}
	}
	add(f.exported, "exported objects: %d; status, UIDs, owners, addresses, bound volumes and other fields of their "+
		"cluster were removed (rehearse capture keeps objects as they are stored)")
	add(f.orphaned, "exported objects that belong to another object which does not create them here: %d; they were "+
		"created without it")
	add(f.own, "objects left out: %d, because every cluster creates them itself")
	add(f.owned, "objects left out: %d, because the controllers of other objects create them")
	add(f.generated, "objects with generateName instead of a name: %d; each was created once, with a fixed name")
	add(f.moved, "Pods on another node than in the manifest: %d, because the node in spec.nodeName does not exist here")
	return notes
}
