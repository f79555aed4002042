package systems

import (
	"encoding/base64"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/systems/internal/objects"
	"github.com/rehearse-dev/rehearse/internal/apitest"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

const widgetCRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.test.rehearse.dev}
spec:
  group: test.rehearse.dev
  names: {plural: widgets, kind: Widget}
  versions: [{name: v1, served: true}, {name: v0, served: false}]
  conversion: {strategy: Webhook, webhook: {clientConfig: {service: {name: x, namespace: ns, path: /convert}}}}
`

const widgetWebhook = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: widgets}
webhooks:
- {name: w, clientConfig: {service: {name: x, namespace: ns, path: /validate, port: 9443}}, rules: [{operations: [UPDATE]}]}
- {name: elsewhere, clientConfig: {url: "https://example.org/"}, rules: [{operations: [UPDATE]}]}
---
apiVersion: v1
kind: Namespace
metadata: {name: ns}
`

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file.yaml")
	golden.Write(t, path, text)
	return path
}

const crdResource = "customresourcedefinitions"

// The objects above: what the API server has of them, nil if nothing, and how their deletions are recorded.
const (
	crdName     = "CustomResourceDefinition widgets.test.rehearse.dev"
	webhookName = "ValidatingWebhookConfiguration widgets"
)

func (c *fakeCluster) crd() *unstructured.Unstructured {
	return c.Object(crdResource, "", "widgets.test.rehearse.dev")
}

func (c *fakeCluster) webhooks() *unstructured.Unstructured {
	return c.Object("validatingwebhookconfigurations", "", "widgets")
}

// putCRD creates a CRD of that name, as another installation would.
func (c *fakeCluster) putCRD(metadata map[string]any) {
	metadata["name"] = "widgets.test.rehearse.dev"
	c.Put(crdResource, map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": metadata,
	})
}

func installed(t *testing.T) clusters.System {
	t.Helper()
	return clusters.System{Name: "widgets", Process: &clusters.SystemProcess{
		Command: []string{"sleep", "1000"}, CRDs: []string{write(t, widgetCRD)}, Webhooks: []string{write(t, widgetWebhook)},
	}}
}

// TestInstall: references to a Service lead to the process, and a change deletes what the system no longer has.
func TestInstall(t *testing.T) {
	c := newFakeCluster(t)
	s := newSet(t, c, Options{})
	system := installed(t)
	converge(t, s, system)
	url := s.system("widgets").place.URL()
	ca, err := s.system("widgets").place.Authority()
	golden.Must(t, err)
	want := map[string]any{"url": url + "/validate", "caBundle": base64.StdEncoding.EncodeToString(ca)}
	webhooks := c.webhooks().Object["webhooks"].([]any)
	if got := webhooks[0].(map[string]any)["clientConfig"]; !reflect.DeepEqual(got, want) {
		t.Errorf("the webhook leads to %v, want %v", got, want)
	}
	if got := webhooks[1].(map[string]any)["clientConfig"]; !reflect.DeepEqual(got,
		map[string]any{"url": "https://example.org/"}) {
		t.Errorf("a webhook elsewhere was redirected: %v", got)
	}
	want["url"] = url + "/convert"
	if got, _, _ := unstructured.NestedMap(c.crd().Object, "spec", "conversion", "webhook",
		"clientConfig"); !reflect.DeepEqual(got, want) {
		t.Errorf("the conversion leads to %v, want %v", got, want)
	}
	if labels := c.crd().GetLabels(); labels[objects.Label] != "widgets" {
		t.Errorf("labels %v", labels)
	}
	without := *system.Process
	without.Webhooks = nil
	system.Process = &without
	converge(t, s, system)
	if !reflect.DeepEqual(c.deleted, []string{webhookName}) {
		t.Errorf("deleted %v, want the webhooks that it has no more", c.deleted)
	}
	converge(t, s)
	if !reflect.DeepEqual(c.deleted, []string{webhookName, crdName}) {
		t.Errorf("deleted %v, want all that was made", c.deleted)
	}
	if c.rediscovered != 1 {
		t.Errorf("the controllers were told %d times of the one new kind", c.rediscovered)
	}
}

// The controllers discover the last system's kinds before its process serves. If they cannot, the installation fails.
func TestControllersHearWhileItStarts(t *testing.T) {
	c := newFakeCluster(t)
	serves := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.rediscovered == 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer serves.Close()
	waits := installed(t)
	waits.Process.Ready = &clusters.SystemReadiness{HTTPGet: serves.URL}
	s := newSet(t, c, Options{})
	converge(t, s, sleeper("other"), waits)
	if c.rediscovered != 1 {
		t.Errorf("the controllers were told %d times of the one new kind", c.rediscovered)
	}
	converge(t, s)
	c.deaf = errors.New("kube-controller-manager does not start")
	if err := s.Converge(t.Context(), []clusters.System{installed(t)}); err == nil ||
		!strings.Contains(err.Error(), "tell the controllers about new kinds: kube-controller-manager does not start") {
		t.Errorf("controllers that cannot be told: %v", err)
	}
}

// TestOthersStay: objects that existed before are not deleted, and the webhooks of another installation are not taken
// over.
func TestOthersStay(t *testing.T) {
	c := newFakeCluster(t)
	c.putCRD(map[string]any{})
	s := newSet(t, c, Options{})
	system := installed(t)
	converge(t, s, system)
	converge(t, s)
	if !reflect.DeepEqual(c.deleted, []string{webhookName}) {
		t.Errorf("deleted %v, want what was not there before", c.deleted)
	}
	c.PutWebhook("ValidatingWebhookConfiguration", "widgets", "w", "https://example.org", "UPDATE", "")
	if err := s.Converge(t.Context(), []clusters.System{system}); err == nil ||
		!strings.Contains(err.Error(), "remove the other installation first") {
		t.Errorf("got %v", err)
	}
}

// TestManifests: a system that runs in the cluster is applied unchanged, updated with its version, and removed.
func TestManifests(t *testing.T) {
	c := newFakeCluster(t)
	s, err := New(c, Options{})
	golden.Must(t, err)
	dir := filepath.Dir(write(t, widgetCRD+"---\n"+widgetWebhook[:strings.Index(widgetWebhook, "---")]))
	golden.Must(t, os.Rename(filepath.Join(dir, "file.yaml"), filepath.Join(dir, "v1.yaml")))
	golden.Write(t, filepath.Join(dir, "v2.yaml"), widgetCRD)
	system := clusters.System{Name: "widgets", Version: "1", Manifests: []string{filepath.Join(dir, "v$(VERSION).yaml")}}
	converge(t, s, system)
	webhooks := c.webhooks().Object["webhooks"].([]any)
	if client := webhooks[0].(map[string]any)["clientConfig"].(map[string]any); client["service"] == nil ||
		client["url"] != nil {
		t.Errorf("a webhook in the cluster was redirected: %v", client)
	}
	if err := s.Kill(t.Context(), "widgets"); err == nil || !strings.Contains(err.Error(), "delete its pods instead") {
		t.Errorf("killed what is no process: %v", err)
	}
	system.Version = "2"
	converge(t, s, system)
	if !reflect.DeepEqual(c.deleted, []string{webhookName}) {
		t.Errorf("deleted %v, want what version 2 has no more", c.deleted)
	}
	golden.Must(t, s.Close(t.Context(), true))
	if !reflect.DeepEqual(c.deleted, []string{webhookName, crdName}) {
		t.Errorf("deleted %v, want all: the cluster stays", c.deleted)
	}
}

// On a borrowed cluster, nothing of another installation is overwritten. In a copy or a cluster of ours, it is.
func TestInstallOnABorrowedCluster(t *testing.T) {
	for _, borrowed := range []bool{false, true} {
		c := newFakeCluster(t)
		c.putCRD(map[string]any{})
		err := newSet(t, c, Options{Borrowed: borrowed}).Converge(t.Context(), []clusters.System{installed(t)})
		refused := err != nil && strings.Contains(err.Error(), "CustomResourceDefinition widgets.test.rehearse.dev already")
		if refused != borrowed || !borrowed && err != nil {
			t.Errorf("borrowed: %t: %v", borrowed, err)
		}
		if written := c.Requests("apply", "CustomResourceDefinition") > 0; written == borrowed {
			t.Errorf("borrowed: %t; the CRD was written: %t", borrowed, written)
		}
	}
}

// What a killed run has left of a system in a borrowed cluster is removed at the end of the next run. What a run has
// kept stays, however often it is updated.
func TestLeftoversOfABorrowedCluster(t *testing.T) {
	for name, kept := range map[string]bool{"left": false, "kept": true} {
		t.Run(name, func(t *testing.T) {
			c := newFakeCluster(t)
			labels := map[string]any{objects.Label: "widgets"}
			if kept {
				labels[objects.KeptLabel] = "true"
			}
			c.putCRD(map[string]any{"labels": labels})
			for range 2 {
				s, err := New(c, Options{Borrowed: true, Progress: t.Logf})
				golden.Must(t, err)
				converge(t, s, installed(t))
				golden.Must(t, s.Close(t.Context(), true))
			}
			if there := c.Count(crdResource) > 0; slices.Contains(c.deleted, crdName) == kept || there != kept {
				t.Errorf("deleted %v; the CRD is there: %t, want %t", c.deleted, there, kept)
			}
		})
	}
}

// A Namespace that a borrowed cluster has already keeps its labels. A new one is created.
func TestNamespacesOfABorrowedCluster(t *testing.T) {
	for name, test := range map[string]struct{ there, borrowed, applied bool }{
		"there, borrowed": {true, true, false}, "there, ours": {true, false, true}, "new, borrowed": {false, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			c := newFakeCluster(t)
			namespace := map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "ns"}}
			if test.there {
				c.Put("namespaces", namespace)
			}
			system := installed(t)
			system.Process.Objects = []map[string]any{namespace}
			converge(t, newSet(t, c, Options{Borrowed: test.borrowed}), system)
			if applied := c.Requests("apply", "Namespace") > 0; applied != test.applied {
				t.Errorf("applied: %t, want %t", applied, test.applied)
			}
		})
	}
}

// What may have been created although its answer was lost is deleted at the end. What was rejected is not.
func TestInstallWithoutAnAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		fault apitest.Fault
		want  []string
	}{
		"lost":     {apitest.Fault{Stored: true, Code: http.StatusBadGateway, Text: "bad gateway"}, []string{crdName}},
		"rejected": {apitest.Fault{Status: apitest.Failure(http.StatusForbidden, metav1.StatusReasonForbidden)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := newFakeCluster(t)
			cluster.Misbehave(func(r apitest.Request) *apitest.Fault {
				if r.Verb == "apply" && r.Kind == "CustomResourceDefinition" {
					return &c.fault
				}
				return cluster.answer(r)
			})
			s, err := New(cluster, Options{})
			golden.Must(t, err)
			if err := s.Converge(t.Context(), []clusters.System{installed(t)}); err == nil {
				t.Fatal("it is installed")
			}
			golden.Must(t, s.Close(t.Context(), true))
			if !slices.Equal(cluster.deleted, c.want) || cluster.Count(crdResource) != 0 {
				t.Errorf("deleted %v, want %v; %d are left", cluster.deleted, c.want, cluster.Count(crdResource))
			}
		})
	}
}

// After a restore, which may bring back an earlier installation, a system is installed again.
func TestReinstall(t *testing.T) {
	c := newFakeCluster(t)
	s := newSet(t, c, Options{})
	system := installed(t)
	converge(t, s, system)
	applies := func() int { return c.Requests("apply", "ValidatingWebhookConfiguration") }
	before := applies()
	converge(t, s, system)
	if applies() != before {
		t.Error("an unchanged system was installed again")
	}
	s.Reinstall()
	converge(t, s, system)
	if applies() == before {
		t.Error("the webhooks were not installed again")
	}
}
