package history

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// AsideLabel marks objects that the harness itself writes into a cluster for a moment, to observe something. They are
// in no scope: no scenario counts them.
const AsideLabel = "rehearse.dev/canary"

// Scope selects objects of a stream. The zero Scope is all of them, except those with the AsideLabel.
type Scope struct {
	// Namespace of the objects; "" is every namespace, and what cluster-scoped objects need.
	Namespace string
	// Name of the one object; "" is all.
	Name string
	// Selector by labels; nil is all.
	Selector labels.Selector
}

// Contains reports whether the object is in the scope.
func (s Scope) Contains(object *unstructured.Unstructured) bool {
	return s.has(object.GetNamespace(), object.GetName(), object.GetLabels())
}

func (s Scope) has(namespace, name string, set map[string]string) bool {
	_, aside := set[AsideLabel]
	return !aside && (s.Namespace == "" || s.Namespace == namespace) &&
		(s.Name == "" || s.Name == name) &&
		(s.Selector == nil || s.Selector.Matches(labels.Set(set)))
}

func (s Scope) listOptions() metav1.ListOptions {
	var options metav1.ListOptions
	if s.Selector != nil {
		options.LabelSelector = s.Selector.String()
	}
	if s.Name != "" {
		options.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, s.Name).String()
	}
	return options
}

// String describes the objects: "all in namespace x with labels app=web".
func (s Scope) String() string {
	text := "all"
	if s.Name != "" {
		text = s.Name
	}
	if s.Namespace != "" {
		text += fmt.Sprintf(" in namespace %s", s.Namespace)
	}
	if s.Selector != nil && !s.Selector.Empty() {
		text += fmt.Sprintf(" with labels %s", s.Selector)
	}
	return text
}
