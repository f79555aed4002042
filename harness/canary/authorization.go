package canary

import (
	"context"
	"errors"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// group and resource are what a canary allows a user with its name to read. No such objects exist.
const group, resource = "rehearse.dev", "canaries"

var reviews = schema.GroupVersionResource{
	Group: "authorization.k8s.io", Version: "v1",
	Resource: "subjectaccessreviews",
}

// place is the namespace of a Role's canary: one that no scenario deletes.
func (c Canary) place() string {
	if c.Family == Role {
		return metav1.NamespaceDefault
	}
	return ""
}

// grant returns a role that allows nothing that exists, and its binding.
func (c Canary) grant() []piece {
	role, kind := map[string]any{"rules": []any{
		map[string]any{
			"apiGroups": []any{group}, "resources": []any{resource}, "resourceNames": []any{c.Name},
			"verbs": []any{"get"},
		},
	}}, string(c.Family)
	binding := map[string]any{
		"roleRef":  map[string]any{"apiGroup": authorization, "kind": kind, "name": c.Name},
		"subjects": []any{map[string]any{"apiGroup": authorization, "kind": "User", "name": c.Name}},
	}
	var pieces []piece
	for _, one := range []struct {
		kind    string
		content map[string]any
	}{{kind, role}, {kind + "Binding", binding}} {
		object := &unstructured.Unstructured{Object: one.content}
		object.SetAPIVersion(authorization + "/" + c.Version)
		object.SetKind(one.kind)
		object.SetName(c.Name)
		object.SetLabels(map[string]string{label: c.Name})
		object.SetNamespace(c.place())
		gvr := schema.GroupVersionResource{Group: authorization, Version: c.Version, Resource: strings.ToLower(one.kind) +
			"s"}
		pieces = append(pieces, piece{gvr, object})
	}
	return pieces
}

// review reports whether the API server already allows what the canary's role allows.
func (c Canary) review(ctx context.Context) (bool, error) {
	review, err := c.Client.Resource(reviews).Create(ctx, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
		"spec": map[string]any{"user": c.Name, "resourceAttributes": map[string]any{
			"group": group, "resource": resource, "name": c.Name, "verb": "get", "namespace": c.place(),
		}},
	}}, metav1.CreateOptions{})
	if err != nil {
		return false, fmt.Errorf("ask who may do what: %w", err)
	}
	if allowed, _, _ := unstructured.NestedBool(review.Object, "status", "allowed"); !allowed {
		return false, errors.New("what it allows is not allowed yet")
	}
	return true, nil
}
