// Package apitest serves a part of the Kubernetes API over HTTP from memory, for tests: discovery, writes, lists and
// watches. It can return faults on request.
package apitest

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// Kind that a server serves.
type Kind struct {
	GVK        schema.GroupVersionKind
	Resource   string
	Namespaced bool
	// Upserts: an update creates what does not exist, as of a Lease.
	Upserts bool
}

// core are kinds that every server serves.
func core() []Kind {
	v1 := func(kind, resource string, namespaced bool) Kind {
		return Kind{
			GVK: schema.GroupVersionKind{Version: "v1", Kind: kind}, Resource: resource, Namespaced: namespaced,
		}
	}
	return []Kind{
		v1("Namespace", "namespaces", false), v1("Node", "nodes", false), v1("ServiceAccount", "serviceaccounts", true),
		v1("ConfigMap", "configmaps", true), v1("Service", "services", true), v1("Pod", "pods", true), v1("Event", "events",
			true),
	}
}

// Server is an API server in memory.
type Server struct {
	watches

	config  *rest.Config
	network network
	kinds   []Kind
	fault   func(Request) *Fault
	// numbers counts requests by verb and kind, and by verb alone.
	numbers map[string]int
	// agents are the user agents of the requests.
	agents map[string]bool
	pages  []page
}

// New starts a server and ends it with the test.
func New(t testing.TB, kinds ...Kind) *Server {
	t.Helper()
	s := &Server{
		watches: watches{storage: newStorage(t)}, kinds: append(core(), kinds...), numbers: map[string]int{},
		agents: map[string]bool{},
	}
	served := httptest.NewServer(http.HandlerFunc(s.handle))
	s.config = &rest.Config{Host: served.URL, QPS: -1, Dial: s.network.dial}
	t.Cleanup(func() {
		s.Down()
		served.CloseClientConnections()
		served.Close()
	})
	return s
}

// Config connects to the server.
func (s *Server) Config() *rest.Config { return rest.CopyConfig(s.config) }

// Down breaks all connections, and refuses new ones until Up.
func (s *Server) Down() {
	s.network.close()
	s.BreakWatches()
}

// Up accepts connections again. The storage is unchanged.
func (s *Server) Up() { s.network.open() }

// Misbehave calls the function for each request. If it returns nil, the request is handled as usual.
func (s *Server) Misbehave(fault func(Request) *Fault) { s.do(func() { s.fault = fault }) }

// Reject makes the server answer with the status that the function returns, unless it is nil.
func (s *Server) Reject(reject func(Request) *metav1.Status) {
	if reject == nil {
		s.Misbehave(nil)
		return
	}
	s.Misbehave(func(r Request) *Fault {
		if status := reject(r); status != nil {
			return &Fault{Status: status}
		}
		return nil
	})
}

// Serve serves another kind from now on.
func (s *Server) Serve(kind Kind) { s.do(func() { s.kinds = append(s.kinds, kind) }) }

// Withdraw stops serving a kind.
func (s *Server) Withdraw(gvk schema.GroupVersionKind) {
	s.do(func() {
		s.kinds = slices.DeleteFunc(slices.Clone(s.kinds), func(kind Kind) bool { return kind.GVK == gvk })
	})
}

// Requests returns how many requests with the verb there were for the kind; "" for all kinds.
func (s *Server) Requests(verb, kind string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.numbers[numbered(verb, kind)]
}

// AwaitRequests returns when there were at least n requests of a verb.
func (s *Server) AwaitRequests(verb string, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.numbers[numbered(verb, "")] < n {
		s.changed.Wait()
	}
}

func numbered(verb, kind string) string { return verb + " of " + kind }

// Agent reports whether a client with that user agent sent a request.
func (s *Server) Agent(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.agents[name]
}
