package systems

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/rehearse-dev/rehearse/clusters"
)

// fakeCluster is an API server with only what a Set needs.
type fakeCluster struct {
	clusters.Cluster
	folder string
	server *httptest.Server

	mu sync.Mutex
	// objects are lists by path; written are the bodies of applies and updates by path; deleted are paths.
	objects map[string][]map[string]any
	written map[string]map[string]any
	deleted []string
	// probe decides the result of a dry run, and updates the API server's counters.
	probe   func(n int) (code int, message string)
	probes  int
	metrics string
	// rediscovered counts the calls of Rediscover. If deaf is set, they return it.
	rediscovered int
	deaf         error
	state        clusters.State
	// stuck are paths of objects that a deletion does not remove.
	stuck []string
	// down: the API server is not ready.
	down bool
}

func newFakeCluster(t *testing.T) *fakeCluster {
	t.Helper()
	c := &fakeCluster{folder: t.TempDir(), objects: map[string][]map[string]any{}, written: map[string]map[string]any{}}
	c.server = httptest.NewServer(http.HandlerFunc(c.handle))
	t.Cleanup(c.server.Close)
	return c
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
func (c *fakeCluster) RESTConfig() *rest.Config { return &rest.Config{Host: c.server.URL, QPS: -1} }

// hook adds a webhook at an address to the API server.
func (c *fakeCluster) hook(kind, configuration, name, url, operation, ca string) {
	path := "/apis/admissionregistration.k8s.io/v1/" + strings.ToLower(kind) + "s"
	c.objects[path] = append(c.objects[path], map[string]any{
		"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind,
		"metadata": map[string]any{"name": configuration},
		"webhooks": []any{map[string]any{
			"name": name, "clientConfig": map[string]any{
				"url":      url,
				"caBundle": []byte(ca),
			}, "rules": []any{map[string]any{"operations": []any{operation}}},
		}},
	})
}

var listKinds = map[string]string{
	"mutatingwebhookconfigurations":   "MutatingWebhookConfigurationList",
	"validatingwebhookconfigurations": "ValidatingWebhookConfigurationList",
	"customresourcedefinitions":       "CustomResourceDefinitionList",
}

var resources = map[string]string{
	"/api/v1": `{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"pods","namespaced":true,"kind":"Pod","verbs":["create"]}]}`,
	"/apis/admissionregistration.k8s.io/v1": `{"kind":"APIResourceList","groupVersion":"admissionregistration.k8s.io/v1","resources":[
		{"name":"mutatingwebhookconfigurations","kind":"MutatingWebhookConfiguration","verbs":["list"]},
		{"name":"validatingwebhookconfigurations","kind":"ValidatingWebhookConfiguration","verbs":["list"]}]}`,
	"/apis/apiextensions.k8s.io/v1": `{"kind":"APIResourceList","groupVersion":"apiextensions.k8s.io/v1","resources":[
		{"name":"customresourcedefinitions","kind":"CustomResourceDefinition","verbs":["list"]}]}`,
	"/api": `{"kind":"APIVersions","versions":["v1"]}`,
	"/apis": `{"kind":"APIGroupList","groups":[
		{"name":"admissionregistration.k8s.io","versions":[{"groupVersion":"admissionregistration.k8s.io/v1","version":"v1"}]},
		{"name":"apiextensions.k8s.io","versions":[{"groupVersion":"apiextensions.k8s.io/v1","version":"v1"}]}]}`,
	"/apis/test.rehearse.dev/v1": `{"kind":"APIResourceList","groupVersion":"test.rehearse.dev/v1","resources":[{"name":"widgets","kind":"Widget"}]}`,
}

func (c *fakeCluster) handle(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	path := strings.TrimSuffix(r.URL.Path, "/")
	text, known := resources[path]
	switch {
	case path == "/readyz" && c.down:
		w.WriteHeader(http.StatusInternalServerError)
	case path == "/readyz":
		fmt.Fprint(w, "ok")
	case path == "/metrics":
		fmt.Fprint(w, c.metrics)
	case known:
		fmt.Fprint(w, text)
	case r.Method == http.MethodPost:
		c.probes++
		code, message := c.probe(c.probes)
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(map[string]any{
			"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code,
			"message": message,
		})
	case r.Method == http.MethodPatch, r.Method == http.MethodPut:
		body := map[string]any{}
		_ = json.NewDecoder(r.Body).Decode(&body)
		c.written[path] = body
		c.keep(path, body)
		_ = json.NewEncoder(w).Encode(body)
	case r.Method == http.MethodDelete:
		c.deleted = append(c.deleted, path)
		if !slices.Contains(c.stuck, path) {
			c.keep(path, nil)
		}
		fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Success"}`)
	default:
		c.read(w, r, path)
	}
}

// keep adds an object to its list, or removes it.
func (c *fakeCluster) keep(path string, object map[string]any) {
	i := strings.LastIndex(path, "/")
	list, name := path[:i], path[i+1:]
	var kept []map[string]any
	for _, known := range c.objects[list] {
		if known["metadata"].(map[string]any)["name"] != name {
			kept = append(kept, known)
		}
	}
	if object != nil {
		object["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Established", "status": "True"}}}
		kept = append(kept, object)
	}
	c.objects[list] = kept
}

func (c *fakeCluster) read(w http.ResponseWriter, r *http.Request, path string) {
	partial := strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadata")
	kind := func(object map[string]any, kind string) map[string]any {
		if partial {
			return map[string]any{
				"kind": kind, "apiVersion": "meta.k8s.io/v1", "metadata": object["metadata"],
				"items": object["items"],
			}
		}
		return object
	}
	i := strings.LastIndex(path, "/")
	for _, object := range c.objects[path[:i]] {
		if object["metadata"].(map[string]any)["name"] == path[i+1:] {
			_ = json.NewEncoder(w).Encode(kind(object, "PartialObjectMetadata"))
			return
		}
	}
	if strings.HasSuffix(path, "s") && !strings.HasSuffix(path[:i], "s") {
		var items []any
		for _, object := range c.objects[path] {
			items = append(items, kind(object, "PartialObjectMetadata"))
		}
		_ = json.NewEncoder(w).Encode(kind(map[string]any{
			"kind": listKinds[path[i+1:]],
			"apiVersion": strings.TrimPrefix(path[:i],
				"/apis/"), "metadata": map[string]any{}, "items": items,
		}, "PartialObjectMetadataList"))
		return
	}
	w.WriteHeader(http.StatusNotFound)
	fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`)
}

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
