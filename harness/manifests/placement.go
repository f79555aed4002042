package manifests

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Placement is what nodes need so that the pods of given objects find a place: extended resources such as
// nvidia.com/gpu, huge pages, and labels.
type Placement struct {
	// Capacity of each node by resource name.
	Capacity map[string]string
	// Labels of each node: those in nodeSelectors, but for labels that need several values.
	Labels map[string]string
}

// PlacementOf returns what the pods of the objects ask for, in Pods, in templates, and in custom resources with the
// same fields.
func PlacementOf(objects []*Object) Placement {
	p := Placement{Capacity: map[string]string{}, Labels: map[string]string{}}
	several := map[string]bool{}
	for _, o := range objects {
		if o.GVK().Kind == "CustomResourceDefinition" {
			continue // its schema has fields of these names
		}
		spec, _, _ := unstructured.NestedFieldNoCopy(o.Content.Object, "spec")
		p.find(spec, several)
	}
	for label := range several {
		delete(p.Labels, label)
	}
	return p
}

func (p Placement) find(value any, several map[string]bool) {
	if list, ok := value.([]any); ok {
		for _, item := range list {
			p.find(item, several)
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
				p.label(label, value, several)
			}
		default:
			p.find(field, several)
		}
	}
}

// offer gives nodes a resource that they do not have by default. What is no name of a resource is left for the API
// server to reject.
func (p Placement) offer(resource string) {
	switch {
	case len(validation.IsQualifiedName(resource)) > 0:
	case strings.HasPrefix(resource, "hugepages-"):
		p.Capacity[resource] = "64Gi"
	case strings.Contains(resource, "/") && !strings.HasPrefix(resource, "kubernetes.io/"):
		p.Capacity[resource] = "1000"
	}
}

// label gives nodes a label. Nodes have their own values of those that say where they are and what they run.
func (p Placement) label(name string, value any, several map[string]bool) {
	text, ok := value.(string)
	if !ok || strings.HasPrefix(name, "kubernetes.io/") || len(validation.IsQualifiedName(name)) > 0 ||
		len(validation.IsValidLabelValue(text)) > 0 {
		return
	}
	if before, there := p.Labels[name]; there && before != text {
		several[name] = true
	}
	p.Labels[name] = text
}
