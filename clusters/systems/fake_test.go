package systems

import (
	"context"
	"net/http"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/internal/apitest"
)

// fakeCluster is a cluster whose API server is in memory.
type fakeCluster struct {
	clusters.Cluster
	*apitest.Server
	folder string

	mu sync.Mutex
	// deleted are the kinds and names of requests to delete an object, in order.
	deleted []string
	// probe decides the result of a dry run, and updates the API server's counters.
	probe   func(n int) *metav1.Status
	probes  int
	metrics string
	// rediscovered counts the calls of Rediscover. If deaf is set, they return it.
	rediscovered int
	deaf         error
	state        clusters.State
	// down: the API server is not ready.
	down bool
}

func newFakeCluster(t *testing.T) *fakeCluster {
	t.Helper()
	widget := schema.GroupVersionKind{Group: "test.rehearse.dev", Version: "v1", Kind: "Widget"}
	kinds := append(apitest.Extensions(), apitest.Kind{GVK: widget, Resource: "widgets"})
	c := &fakeCluster{folder: t.TempDir(), Server: apitest.New(t, kinds...)}
	c.Misbehave(c.answer)
	return c
}

// answer answers what an API server in memory does not know of, and records deletions.
func (c *fakeCluster) answer(r apitest.Request) *apitest.Fault {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case r.Path == "/readyz" && c.down:
		return &apitest.Fault{Code: http.StatusInternalServerError, Text: "not ready"}
	case r.Path == "/readyz":
		return &apitest.Fault{Code: http.StatusOK, Text: "ok"}
	case r.Path == "/metrics":
		return &apitest.Fault{Code: http.StatusOK, Text: c.metrics}
	case r.Verb == "delete":
		c.deleted = append(c.deleted, r.Kind+" "+r.Name)
	case r.DryRun:
		c.probes++
		if status := c.probe(c.probes); status != nil {
			return &apitest.Fault{Status: status}
		}
	}
	return nil
}

func (c *fakeCluster) Rediscover(context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rediscovered++
	return c.deaf
}

func (c *fakeCluster) Name() string             { return "fake" }
func (c *fakeCluster) State() clusters.State    { return c.state }
func (c *fakeCluster) Folder() string           { return c.folder }
func (c *fakeCluster) RESTConfig() *rest.Config { return c.Config() }

// newSet returns a set of the cluster. The test's cleanup closes it.
func newSet(t *testing.T, c *fakeCluster, o Options) *Set {
	t.Helper()
	o.Progress = t.Logf
	s, err := New(c, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.WithoutCancel(t.Context()), false); err != nil {
			t.Error(err)
		}
	})
	return s
}
