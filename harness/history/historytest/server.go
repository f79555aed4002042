// Package historytest serves the list and watch protocol of the Kubernetes API over HTTP from memory, and misbehaves
// when a test wants it to.
package historytest

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// Server is an API server with a storage of objects.
type Server struct {
	t       testing.TB
	config  *rest.Config
	network network

	mu      sync.Mutex
	changed *sync.Cond
	storage
	// epoch ends the watches that began before it; abrupt says that they break instead of ending.
	epoch  int
	abrupt bool
	// held watches tell nothing for now.
	held bool
	// marks counts the bookmarks that were asked for.
	marks int
	// told is an ERROR event that every watch gets once.
	told  *metav1.Status
	tells int
	// refuse decides about a request before it is served; nil or a nil answer serves it.
	refuse func(Request) *metav1.Status
	// requests that came, by verb.
	requests map[string]int
	watching int
}

// Request is what a test may decide about.
type Request struct {
	// Verb is list or watch.
	Verb string
	// Resource by its plural name.
	Resource string
	// ResourceVersion and Continue of the request.
	ResourceVersion, Continue string
}

// New starts a server with an empty storage, and ends it with the test.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{t: t, storage: newStorage(), requests: map[string]int{}}
	s.changed = sync.NewCond(&s.mu)
	served := httptest.NewServer(http.HandlerFunc(s.handle))
	s.config = &rest.Config{Host: served.URL, QPS: -1, Dial: s.network.dial}
	t.Cleanup(func() {
		s.Down()
		served.Close()
	})
	return s
}

// Config reaches the server.
func (s *Server) Config() *rest.Config { return rest.CopyConfig(s.config) }

// Down breaks all connections, and refuses new ones until Up.
func (s *Server) Down() {
	s.network.close()
	s.endWatches(true)
}

// Up accepts connections again. The storage is as it was left.
func (s *Server) Up() { s.network.open() }

// EndWatches ends all watches as the API server does when their time is up.
func (s *Server) EndWatches() { s.endWatches(false) }

// BreakWatches breaks the connections of all watches.
func (s *Server) BreakWatches() { s.endWatches(true) }

func (s *Server) endWatches(abrupt bool) {
	s.do(func() {
		s.epoch++
		s.abrupt = abrupt
	})
}

// Hold keeps all watches from telling anything until Release.
func (s *Server) Hold() { s.do(func() { s.held = true }) }

// Release lets the watches tell what they kept to themselves.
func (s *Server) Release() { s.do(func() { s.held = false }) }

// Bookmark makes every watch send a bookmark.
func (s *Server) Bookmark() { s.do(func() { s.marks++ }) }

// Tell sends an ERROR event to every watch, and ends it.
func (s *Server) Tell(status metav1.Status) {
	s.do(func() {
		s.told = &status
		s.tells++
	})
}

// Refuse lets the function answer requests in the server's place where it returns a status; nil refuses nothing.
func (s *Server) Refuse(refuse func(Request) *metav1.Status) { s.do(func() { s.refuse = refuse }) }

// Requests returns how many requests of a verb (list, watch) came.
func (s *Server) Requests(verb string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests[verb]
}

// AwaitRequests returns when at least n requests of a verb came.
func (s *Server) AwaitRequests(verb string, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.requests[verb] < n {
		s.changed.Wait()
	}
}

// AwaitWatches returns when just n watches are under way.
func (s *Server) AwaitWatches(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.watching != n {
		s.changed.Wait()
	}
}

func (s *Server) do(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	s.changed.Broadcast()
}
