package apitest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// keep stores an object that a client wrote.
func (s *storage) keep(at key, object *unstructured.Unstructured, manager string,
	as metav1.ManagedFieldsOperationType,
) {
	s.manage(object, manager, as)
	s.write(at, object)
}

func (s *storage) create(c *call) (any, *metav1.Status) {
	object := &unstructured.Unstructured{}
	if err := json.Unmarshal(c.body, &object.Object); err != nil {
		return nil, Status(http.StatusBadRequest, metav1.StatusReasonBadRequest, err.Error())
	}
	if object.GetName() == "" && object.GetGenerateName() != "" {
		object.SetName(fmt.Sprintf("%s%d", object.GetGenerateName(), s.revision))
	}
	c.Name = object.GetName()
	if c.kind.Namespaced {
		object.SetNamespace(c.Namespace)
	}
	if s.objects[c.key()] != nil {
		return nil, Status(http.StatusConflict, metav1.StatusReasonAlreadyExists, fmt.Sprintf("%s %q already exists",
			c.resource, c.Name))
	}
	if !c.DryRun || c.wet {
		object.SetCreationTimestamp(metav1.Now())
		s.keep(c.key(), object, c.Manager, metav1.ManagedFieldsOperationUpdate)
	}
	if c.Kind == "Namespace" {
		account := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ServiceAccount"}}
		account.SetName("default")
		account.SetNamespace(c.Name)
		s.keep(key{"serviceaccounts", c.Name, "default"}, account, "controller", metav1.ManagedFieldsOperationUpdate)
	}
	return object.Object, nil
}

func (s *storage) update(c *call) (any, *metav1.Status) {
	before := s.objects[c.key()]
	switch {
	case before == nil && c.kind.Upserts:
		return s.create(c)
	case before == nil:
		return nil, c.notFound()
	}
	object := &unstructured.Unstructured{}
	if err := json.Unmarshal(c.body, &object.Object); err != nil {
		return nil, Status(http.StatusBadRequest, metav1.StatusReasonBadRequest, err.Error())
	}
	if v := object.GetResourceVersion(); v != "" && v != before.GetResourceVersion() {
		return nil, Status(http.StatusConflict, metav1.StatusReasonConflict, "the object has been modified")
	}
	object.SetManagedFields(before.GetManagedFields())
	if reflect.DeepEqual(object.Object, before.Object) {
		return before.Object, nil // an unchanged object is not stored
	}
	if !c.DryRun || c.wet {
		s.keep(c.key(), object, c.Manager, metav1.ManagedFieldsOperationUpdate)
	}
	return object.Object, nil
}

// patch merges a patch into the object. It handles an apply like a merge.
func (s *storage) patch(c *call) (any, *metav1.Status) {
	before := s.objects[c.key()]
	operation := metav1.ManagedFieldsOperationUpdate
	object := &unstructured.Unstructured{Object: map[string]any{}}
	switch {
	case c.Verb == "apply":
		operation = metav1.ManagedFieldsOperationApply
	case before == nil:
		return nil, c.notFound()
	}
	if before != nil {
		object = before.DeepCopy()
	}
	var patch map[string]any
	if err := json.Unmarshal(c.body, &patch); err != nil {
		return nil, Status(http.StatusBadRequest, metav1.StatusReasonBadRequest, err.Error())
	}
	merge(object.Object, patch)
	if !c.DryRun || c.wet {
		s.keep(c.key(), object, c.Manager, operation)
	}
	return object.Object, nil
}

func merge(into, from map[string]any) {
	for name, value := range from {
		inner, isMap := value.(map[string]any)
		old, wasMap := into[name].(map[string]any)
		switch {
		case value == nil:
			delete(into, name)
		case isMap && wasMap:
			merge(old, inner)
		default:
			into[name] = value
		}
	}
}

func (s *storage) remove(c *call) (any, *metav1.Status) {
	object := s.objects[c.key()]
	if object == nil {
		return nil, c.notFound()
	}
	var options metav1.DeleteOptions
	_ = json.Unmarshal(c.body, &options) // an empty body has no preconditions
	if p := options.Preconditions; p != nil && p.UID != nil && *p.UID != object.GetUID() {
		return nil, Status(http.StatusConflict, metav1.StatusReasonConflict, "Precondition failed: UID in precondition")
	}
	if len(options.DryRun) == 0 || c.wet {
		next := object.DeepCopy()
		if len(object.GetFinalizers()) > 0 {
			now := metav1.Now()
			next.SetDeletionTimestamp(&now)
			s.keep(c.key(), next, "deletion", metav1.ManagedFieldsOperationUpdate)
		} else {
			s.drop(c.key(), next)
		}
	}
	return metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess}, nil
}
