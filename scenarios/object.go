package scenarios

import (
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/scenarios/internal/words"
	"github.com/rehearse-dev/rehearse/scenarios/internal/yamltree"
)

// Object is a Kubernetes object as YAML; strings in it may hold ${...} expressions.
type Object map[string]any

// ObjectReference names one object.
type ObjectReference struct {
	// APIVersion of the object.
	APIVersion string `json:"apiVersion" fixed:"true"`
	// Kind of the object.
	Kind string `json:"kind" fixed:"true"`
	// Name of the object.
	Name string `json:"name,omitempty" filled:"true"`
	// Namespace of the object. Default: the scenario's.
	Namespace string `json:"namespace,omitempty" filled:"true"`
}

// User is the user that a write impersonates.
type User struct {
	// User is the name: jane, or system:serviceaccount:NAMESPACE:NAME of a ServiceAccount.
	User string `json:"user" filled:"true"`
	// Groups of the user. The API server adds system:authenticated and, for a ServiceAccount without groups, the groups
	// of ServiceAccounts.
	Groups []string `json:"groups,omitempty"`
}

// Selection selects the objects of an assertion: by name, by labels, or all of the kind.
type Selection struct {
	ObjectReference `json:",inline"`
	// Selector selects the objects with these labels.
	Selector map[string]string `json:"selector,omitempty"`
	// AllNamespaces selects from all namespaces instead of the scenario's.
	AllNamespaces bool `json:"allNamespaces,omitempty"`
}

func (o Object) subject() string {
	kind, _ := o["kind"].(string)
	metadata, _ := o["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	if generated, ok := metadata["generateName"].(string); ok && name == "" {
		name = generated + "..."
	}
	return ObjectReference{Kind: kind, Name: name}.subject()
}

func (r ObjectReference) subject() string { return strings.TrimSuffix(r.Kind+"/"+r.Name, "/") }

// Reference returns a reference to the object. Fields that are missing or not strings stay empty.
func (o Object) Reference() ObjectReference {
	metadata, _ := o["metadata"].(map[string]any)
	text := func(values map[string]any, key string) string {
		value, _ := values[key].(string)
		return value
	}
	return ObjectReference{
		APIVersion: text(o, "apiVersion"), Kind: text(o, "kind"), Name: text(metadata, "name"), Namespace: text(metadata,
			"namespace"),
	}
}

// object checks only what is needed to send an object. The names may be invalid, because the test may be that the API
// server rejects them.
func (v *validator) object(o Object, n *yamltree.Node, create, accepted bool) {
	for _, name := range []string{"apiVersion", "kind"} {
		if text, _ := o[name].(string); text == "" {
			v.At(n.At(name), "", "the object needs %s, a string", name)
		} else if name == "apiVersion" {
			v.groupVersion(text, n.At(name))
		}
	}
	metadata, ok := o["metadata"].(map[string]any)
	if !ok && o["metadata"] != nil {
		v.At(n.At("metadata"), "", "want a mapping, not %s", n.At("metadata").What())
		return
	}
	name, named := metadata["name"].(string)
	_, generated := metadata["generateName"].(string)
	switch {
	case metadata["name"] != nil && !named:
		v.At(n.At("metadata", "name"), "put it in quotes", "metadata.name must be a string, not %s",
			n.At("metadata", "name").What())
	case create && (generated || !accepted):
	case create && isReview(o): // it may have no name
	case name == "":
		v.At(n.At("metadata"), "", "the object needs metadata.name")
	}
}

// isReview reports whether an object is a question to Kubernetes, such as a SubjectAccessReview.
func isReview(o Object) bool {
	r := o.Reference()
	group, _, _ := strings.Cut(r.APIVersion, "/")
	return strings.HasSuffix(r.Kind, "Review") && (group == "authentication.k8s.io" || group == "authorization.k8s.io")
}

func (v *validator) groupVersion(text string, n *yamltree.Node) {
	if strings.Contains(text, "${") {
		return
	}
	if _, err := schema.ParseGroupVersion(text); err != nil || text == "" {
		v.At(n, "such as v1 or apps/v1", "apiVersion %q is no group and version", words.Short(text))
	}
}

// notEmpty reports optional fields that are set to nothing.
func (v *validator) notEmpty(n *yamltree.Node, names ...string) {
	for _, name := range names {
		if at := n.Get(name); at != nil && at.Text == "" && len(at.Items) == 0 {
			v.At(at, "leave it out", "%s is empty", name)
		}
	}
}

func (v *validator) objectReference(r ObjectReference, n *yamltree.Node) {
	v.present(r.Kind, n, "kind")
	v.groupVersion(r.APIVersion, n.At("apiVersion"))
	v.notEmpty(n, "name", "namespace")
}

func (v *validator) selection(s Selection, n *yamltree.Node) {
	v.objectReference(s.ObjectReference, n)
	if s.Name != "" && s.Selector != nil {
		v.At(n.Key("selector"), "", "give either name or selector")
	}
	if s.Namespace != "" && s.AllNamespaces {
		v.At(n.Key("allNamespaces"), "", "give either namespace or allNamespaces")
	}
}

// user checks that the names of the user and its groups are not empty and have no control characters, because they are
// sent in HTTP headers.
func (v *validator) user(u *User, n *yamltree.Node) {
	if u == nil {
		return
	}
	v.userName(u.User, n.At("user"), "user")
	for i, group := range u.Groups {
		v.userName(group, n.At("groups", i), "group")
	}
}

func (v *validator) userName(name string, n *yamltree.Node, what string) {
	if strings.TrimSpace(name) == "" || strings.ContainsFunc(name, unicode.IsControl) {
		v.At(n, "", "want the name of a %s, in one line", what)
	}
}
