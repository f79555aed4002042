// Package apitest serves as much of the Kubernetes API over HTTP from memory as tests of writes need, and misbehaves
// when a test wants it to.
package apitest

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// Kind that a server serves.
type Kind struct {
	GVK        schema.GroupVersionKind
	Resource   string
	Namespaced bool
}

// Core are kinds that every server serves.
func Core() []Kind {
	v1 := func(kind, resource string, namespaced bool) Kind {
		return Kind{schema.GroupVersionKind{Version: "v1", Kind: kind}, resource, namespaced}
	}
	return []Kind{
		v1("Namespace", "namespaces", false), v1("Node", "nodes", false), v1("ServiceAccount", "serviceaccounts", true),
		v1("ConfigMap", "configmaps", true), v1("Service", "services", true), v1("Pod", "pods", true), v1("Event", "events",
			true),
	}
}

// Request is what a test may decide about.
type Request struct {
	// Verb: create, update, patch, apply, delete, get, list, watch, discover (the kinds of a version) or group (the
	// versions of a group).
	Verb string
	Kind, Namespace, Name, Subresource,
	// Manager is the field manager.
	Manager,
	// FieldValidation that was asked for.
	FieldValidation string
	// Number of the request among those with the same verb and kind, from 1.
	Number int
}

// Fault is how a server misbehaves. The zero Fault is a connection that breaks before anything was stored.
type Fault struct {
	// Status is the answer, instead of what was asked for.
	Status *metav1.Status
	// Text is an answer that no API server gives, with this code.
	Text string
	Code int
	// Stored does what was asked for all the same.
	Stored bool
	// Wet does what was asked for, also when it is a dry run, and answers as usual.
	Wet bool
	// Without is a field of the object that is taken as if it was not sent.
	Without string
	// Warnings come with the usual answer.
	Warnings []string
}

// Server is an API server in memory.
type Server struct {
	http *httptest.Server

	mu      sync.Mutex
	kinds   []Kind
	fault   func(Request) *Fault
	objects map[key]*unstructured.Unstructured
	// unmanaged: no managed fields are kept.
	unmanaged bool
	version   int64
	log       []change
	changed   chan struct{}
	numbers   map[string]int
	// Agents are the user agents that asked.
	agents map[string]bool
}

type key struct{ resource, namespace, name string }

// String orders keys.
func (k key) String() string { return k.resource + "/" + k.namespace + "/" + k.name }

func (k key) compare(other key) int { return strings.Compare(k.String(), other.String()) }

type change struct {
	key
	kind   string
	object map[string]any
}

// New starts a server and ends it with the test.
func New(t testing.TB, kinds ...Kind) *Server {
	t.Helper()
	s := &Server{
		kinds: append(Core(), kinds...), objects: map[key]*unstructured.Unstructured{}, changed: make(chan struct{}),
		numbers: map[string]int{}, agents: map[string]bool{},
	}
	s.http = httptest.NewServer(http.HandlerFunc(s.handle))
	t.Cleanup(func() {
		s.http.CloseClientConnections()
		s.http.Close()
	})
	return s
}

// Config reaches the server.
func (s *Server) Config() *rest.Config { return &rest.Config{Host: s.http.URL, QPS: -1} }

// Misbehave asks the function about each request; nil is as usual.
func (s *Server) Misbehave(fault func(Request) *Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fault
}

// Unmanaged keeps no managed fields from now on, as some aggregated API servers.
func (s *Server) Unmanaged() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unmanaged = true
}

// Serve serves another kind from now on.
func (s *Server) Serve(kind Kind) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kinds = append(s.kinds, kind)
}

// Withdraw serves a kind no more.
func (s *Server) Withdraw(gvk schema.GroupVersionKind) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kinds = slices.DeleteFunc(s.kinds, func(kind Kind) bool { return kind.GVK == gvk })
}

// Object returns what is stored, or nil.
func (s *Server) Object(resource, namespace, name string) *unstructured.Unstructured {
	s.mu.Lock()
	defer s.mu.Unlock()
	if object := s.objects[key{resource, namespace, name}]; object != nil {
		return object.DeepCopy()
	}
	return nil
}

// Put stores an object as somebody else would, without a field manager of a step.
func (s *Server) Put(resource string, object map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := (&unstructured.Unstructured{Object: object}).DeepCopy()
	k := key{resource, u.GetNamespace(), u.GetName()}
	s.keep(k, u, s.objects[k], "somebody", metav1.ManagedFieldsOperationUpdate)
}

// Count is how many objects of a resource there are.
func (s *Server) Count(resource string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for k := range s.objects {
		if k.resource == resource {
			n++
		}
	}
	return n
}

// Requests is how many requests with the verb came for the kind.
func (s *Server) Requests(verb, kind string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.numbers[verb+" "+kind]
}

// Agents says whether somebody with that user agent asked.
func (s *Server) Agent(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.agents[name]
}

// Snapshot returns a function that puts everything back to what it is now, also the versions. Watches are to begin with
// a list then.
func (s *Server) Snapshot() (restore func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	version, objects := s.version, maps.Clone(s.objects)
	return func() {
		s.http.CloseClientConnections()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.version, s.objects, s.log = version, maps.Clone(objects), nil
	}
}
