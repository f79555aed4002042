package manifests

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Placement is what nodes need so that the pods of given objects find a place: extended resources such as
// nvidia.com/gpu, huge pages, and labels.
type Placement struct {
	// Capacity of each node by resource name.
	Capacity map[string]string
	// Labels of each node: those in nodeSelectors and required node affinities, and the domains over which pods must be
	// spread, but for labels that need several values.
	Labels map[string]string
	// Classes are the StorageClasses of claims that are not among the objects.
	Classes []string
}

// finder finds what pods need.
type finder struct {
	Placement
	// several are labels that need several values. domains are labels that need any value. classes are those of claims.
	several, domains, classes map[string]bool
}

// PlacementOf returns what the pods of the objects ask for, in Pods, in templates, and in custom resources with the
// same fields.
func PlacementOf(objects []*Object) Placement {
	p := finder{
		Placement: Placement{Capacity: map[string]string{}, Labels: map[string]string{}},
		several:   map[string]bool{}, domains: map[string]bool{}, classes: map[string]bool{},
	}
	for _, o := range objects {
		if o.GVK().Kind == "CustomResourceDefinition" {
			continue // its schema has fields of these names
		}
		spec, _, _ := unstructured.NestedFieldNoCopy(o.Content.Object, "spec")
		p.find(spec)
	}
	for label := range p.several {
		delete(p.Labels, label)
	}
	for key := range p.domains {
		if _, there := p.Labels[key]; !there && !p.several[key] {
			p.label(key, "rehearse")
		}
	}
	for _, o := range objects { // those that are given, and those that only name the volumes of a claim
		class, _, _ := unstructured.NestedString(o.Content.Object, "spec", "storageClassName")
		switch o.GVK().GroupKind().String() {
		case "StorageClass.storage.k8s.io":
			delete(p.classes, o.Content.GetName())
		case "PersistentVolume":
			// A provisioner that made one volume makes others.
			if o.Content.GetAnnotations()["pv.kubernetes.io/provisioned-by"] == "" {
				delete(p.classes, class)
			}
		}
	}
	p.Classes = slices.Sorted(maps.Keys(p.classes))
	return p.Placement
}

func (p finder) find(value any) {
	if list, ok := value.([]any); ok {
		for _, item := range list {
			p.find(item)
		}
	}
	fields, _ := value.(map[string]any)
	for name, field := range fields {
		inner, _ := field.(map[string]any)
		switch name {
		case "limits", "requests":
			for resource := range inner {
				p.offer(resource)
			}
		case "nodeSelector":
			for label, value := range inner {
				p.label(label, value)
			}
		case "nodeAffinity":
			p.affinity(inner)
		case "topologySpreadConstraints":
			p.spread(field)
		case "storageClassName":
			if class, _ := field.(string); class != "" && len(validation.IsDNS1123Subdomain(class)) == 0 {
				p.classes[class] = true
			}
		default:
			p.find(field)
		}
	}
}

// affinity gives nodes the labels of the first term of a required node affinity: one term is enough.
func (p finder) affinity(fields map[string]any) {
	terms, _, _ := unstructured.NestedSlice(fields, "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
	if len(terms) == 0 {
		return
	}
	term, _ := terms[0].(map[string]any)
	expressions, _ := term["matchExpressions"].([]any)
	for _, expression := range expressions {
		fields, _ := expression.(map[string]any)
		key, _ := fields["key"].(string)
		values, _ := fields["values"].([]any)
		switch {
		case fields["operator"] == "Exists":
			p.domains[key] = true // any value will do
		case fields["operator"] == "In" && len(values) > 0:
			p.label(key, values[0])
		}
	}
}

// spread gives nodes the labels without which pods that must be spread find no node.
func (p finder) spread(value any) {
	constraints, _ := value.([]any)
	for _, constraint := range constraints {
		fields, _ := constraint.(map[string]any)
		if key, _ := fields["topologyKey"].(string); fields["whenUnsatisfiable"] == "DoNotSchedule" {
			p.domains[key] = true
		}
	}
}

// offer gives nodes a resource that they do not have by default. What is no name of a resource is left for the API
// server to reject.
func (p finder) offer(resource string) {
	switch {
	case len(validation.IsQualifiedName(resource)) > 0:
	case strings.HasPrefix(resource, "hugepages-"):
		p.Capacity[resource] = "64Gi"
	case strings.Contains(resource, "/") && !strings.HasPrefix(resource, "kubernetes.io/"):
		p.Capacity[resource] = "1000"
	}
}

// label gives nodes a label. Nodes have their own values of those that say where they are and what they run.
func (p finder) label(name string, value any) {
	text, ok := value.(string)
	if !ok || strings.HasPrefix(name, "kubernetes.io/") || len(validation.IsQualifiedName(name)) > 0 ||
		len(validation.IsValidLabelValue(text)) > 0 {
		return
	}
	if before, there := p.Labels[name]; there && before != text {
		p.several[name] = true
	}
	p.Labels[name] = text
}
