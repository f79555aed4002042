package apitest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

func (c *call) key() key { return key{c.resource, c.Namespace, c.Name} }

func (c *call) notFound() *metav1.Status {
	return Status(http.StatusNotFound, metav1.StatusReasonNotFound, fmt.Sprintf("%s %q not found", c.resource, c.Name))
}

// keep stores an object and tells the watches. What is terminating and has no finalizers is removed instead.
func (s *Server) keep(k key, object, before *unstructured.Unstructured, manager string,
	operation metav1.ManagedFieldsOperationType,
) {
	if before == nil {
		s.version++
		object.SetUID(types.UID(fmt.Sprintf("uid-%d", s.version)))
		object.SetCreationTimestamp(metav1.Now())
	} else {
		object.SetUID(before.GetUID())
		object.SetManagedFields(before.GetManagedFields())
		object.SetDeletionTimestamp(before.GetDeletionTimestamp())
	}
	s.version++
	object.SetResourceVersion(strconv.FormatInt(s.version, 10))
	now := metav1.Now()
	entries := []metav1.ManagedFieldsEntry{{
		Manager: manager, Operation: operation, Time: &now, FieldsType: "FieldsV1",
		FieldsV1: metav1.NewFieldsV1(`{}`),
	}}
	for _, entry := range object.GetManagedFields() {
		if entry.Manager != manager || entry.Operation != operation {
			entries = append(entries, entry)
		}
	}
	if object.SetManagedFields(entries); s.unmanaged {
		object.SetManagedFields(nil)
	}
	kind := "ADDED"
	if before != nil {
		kind = "MODIFIED"
	}
	if object.GetDeletionTimestamp() != nil && len(object.GetFinalizers()) == 0 {
		s.drop(k, object)
		return
	}
	s.objects[k] = object
	s.tell(change{k, kind, object.DeepCopy().Object})
}

func (s *Server) drop(k key, object *unstructured.Unstructured) {
	delete(s.objects, k)
	s.version++
	object.SetResourceVersion(strconv.FormatInt(s.version, 10))
	s.tell(change{k, "DELETED", object.DeepCopy().Object})
	if k.resource == "namespaces" {
		for other, content := range s.objects {
			if other.namespace == k.name {
				s.drop(other, content)
			}
		}
	}
}

func (s *Server) tell(c change) {
	s.log = append(s.log, c)
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *Server) get(c *call) (any, *metav1.Status) {
	if object := s.objects[c.key()]; object != nil {
		return object.Object, nil
	}
	return nil, c.notFound()
}

// list gives pages of what there is now, whatever there was when the first was given.
func (s *Server) list(c *call) any {
	selector, _ := labels.Parse(c.get("labelSelector"))
	items, metadata := []any{}, map[string]any{"resourceVersion": strconv.FormatInt(s.version, 10)}
	last := ""
	limit, _ := strconv.Atoi(c.get("limit"))
	for _, k := range slices.SortedFunc(maps.Keys(s.objects), key.compare) {
		object := s.objects[k]
		if k.resource != c.resource || (c.Namespace != "" && k.namespace != c.Namespace) ||
			!selector.Matches(labels.Set(object.GetLabels())) ||
			k.String() <= c.get("continue") {
			continue
		}
		if limit > 0 && len(items) == limit {
			metadata["continue"] = last
			break
		}
		items, last = append(items, object.Object), k.String()
	}
	apiVersion, kind := c.gv.String(), c.Kind+"List"
	if c.partial {
		apiVersion, kind = "meta.k8s.io/v1", "PartialObjectMetadataList"
	}
	return map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": metadata, "items": items}
}

func (s *Server) create(c *call) (any, *metav1.Status) {
	object := &unstructured.Unstructured{}
	if err := json.Unmarshal(c.body, &object.Object); err != nil {
		return nil, Status(http.StatusBadRequest, metav1.StatusReasonBadRequest, err.Error())
	}
	if object.GetName() == "" && object.GetGenerateName() != "" {
		object.SetName(fmt.Sprintf("%s%d", object.GetGenerateName(), s.version))
	}
	c.Name = object.GetName()
	if c.kind.Namespaced {
		object.SetNamespace(c.Namespace)
	}
	if s.objects[c.key()] != nil {
		return nil, Status(http.StatusConflict, metav1.StatusReasonAlreadyExists, fmt.Sprintf("%s %q already exists",
			c.resource, c.Name))
	}
	if !c.dryRun || c.wet {
		s.keep(c.key(), object, nil, c.Manager, metav1.ManagedFieldsOperationUpdate)
	}
	if c.Kind == "Namespace" {
		account := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ServiceAccount"}}
		account.SetName("default")
		account.SetNamespace(c.Name)
		s.keep(key{"serviceaccounts", c.Name, "default"}, account, nil, "controller", metav1.ManagedFieldsOperationUpdate)
	}
	return object.Object, nil
}

func (s *Server) update(c *call) (any, *metav1.Status) {
	before := s.objects[c.key()]
	if before == nil {
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
		return before.Object, nil // what changes nothing is not stored
	}
	if !c.dryRun || c.wet {
		s.keep(c.key(), object, before, c.Manager, metav1.ManagedFieldsOperationUpdate)
	}
	return object.Object, nil
}

// patch merges; it takes an apply for a merge.
func (s *Server) patch(c *call) (any, *metav1.Status) {
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
	if !c.dryRun || c.wet {
		s.keep(c.key(), object, before, c.Manager, operation)
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

func (s *Server) remove(c *call) (any, *metav1.Status) {
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
		if len(object.GetFinalizers()) > 0 {
			now := metav1.Now()
			next := object.DeepCopy()
			object.SetDeletionTimestamp(&now)
			s.keep(c.key(), next, object, "deletion", metav1.ManagedFieldsOperationUpdate)
		} else {
			s.drop(c.key(), object)
		}
	}
	return metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess}, nil
}

// watch tells of what is there when no version is given, and then of every change, until the client or the server ends
// it.
func (s *Server) watch(w http.ResponseWriter, r *http.Request, c *call) {
	name := strings.TrimPrefix(c.get("fieldSelector"), "metadata.name=")
	wanted := func(k key) bool {
		return k.resource == c.resource && (c.Namespace == "" || k.namespace == c.Namespace) && (name == "" || k.name == name)
	}
	since, _ := strconv.ParseInt(c.get("resourceVersion"), 10, 64)
	encoder := json.NewEncoder(w)
	send := func(kind string, object map[string]any) {
		_ = encoder.Encode(map[string]any{"type": kind, "object": object}) // the client's end is noticed below
	}
	w.Header().Set("Content-Type", "application/json")
	s.mu.Lock()
	next := len(s.log)
	if since == 0 {
		for k, object := range s.objects {
			if wanted(k) {
				send("ADDED", object.Object)
			}
		}
	} else {
		next = 0
	}
	for {
		for ; next < len(s.log); next++ {
			event := s.log[next]
			version, _ := strconv.ParseInt((&unstructured.Unstructured{Object: event.object}).GetResourceVersion(), 10, 64)
			if wanted(event.key) && version > since {
				send(event.kind, event.object)
			}
		}
		changed := s.changed
		s.mu.Unlock()
		w.(http.Flusher).Flush()
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		case <-time.After(time.Minute):
			return
		}
		s.mu.Lock()
	}
}
