package simulator_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/suites/internal/simulatortest"
	"github.com/rehearse-dev/rehearse/suites/porch/api/v1alpha1"
	"github.com/rehearse-dev/rehearse/suites/porch/simulator"
)

const namespace = "default"

var (
	configMaps   = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	repositories = schema.GroupVersionResource{
		Group: "config.porch.kpt.dev", Version: "v1alpha1",
		Resource: "repositories",
	}
)

func (b *bench) revisions() dynamic.ResourceInterface {
	return b.client.Resource(v1alpha1.GroupVersion.WithResource("packagerevisions")).Namespace(namespace)
}

func (b *bench) contents() dynamic.ResourceInterface {
	return b.client.Resource(v1alpha1.GroupVersion.WithResource("packagerevisionresources")).Namespace(namespace)
}

func (b *bench) repository(t *testing.T, namespace, name string) {
	t.Helper()
	git, err := b.client.Resource(configMaps).Namespace("porch-system").Get(t.Context(), "git", metav1.GetOptions{})
	golden.Must(t, err)
	url, _, _ := unstructured.NestedString(git.Object, "data", "url")
	_, err = b.client.Resource(repositories).Namespace(namespace).Create(t.Context(),
		&unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "config.porch.kpt.dev/v1alpha1", "kind": "Repository", "metadata": map[string]any{"name": name},
			"spec": map[string]any{"type": "git", "git": map[string]any{"repo": url + "/" + namespace + "/" + name + ".git"}},
		}}, metav1.CreateOptions{})
	golden.Must(t, err)
}

func revision(workspace string, labels map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "porch.kpt.dev/v1alpha1", "kind": "PackageRevision",
		"metadata": map[string]any{"name": "blueprints-web-" + workspace, "labels": labels},
		"spec":     map[string]any{"repositoryName": "blueprints", "packageName": "web", "workspaceName": workspace},
	}}
}

// TestOnARealCluster tests what a scenario cannot: simultaneous requests, and the state after a restart.
func TestOnARealCluster(t *testing.T) {
	b := newBench(t)
	stop := simulatortest.Start(t, b.options, simulator.Run)
	b.repository(t, namespace, "blueprints")

	t.Run("of creations at once one wins", func(t *testing.T) {
		accepted := b.atOnce(t, 5, func(i int) error {
			_, err := b.revisions().Create(t.Context(), revision("v1", map[string]any{"winner": fmt.Sprint(i)}),
				metav1.CreateOptions{})
			return err
		})
		stored, err := b.revisions().Get(t.Context(), "blueprints-web-v1", metav1.GetOptions{})
		if err != nil || len(accepted) != 1 || stored.GetLabels()["winner"] != fmt.Sprint(accepted[0]) {
			t.Errorf("accepted %v; stored %v, %v", accepted, stored.GetLabels(), err)
		}
	})
	t.Run("of updates of one version at once one wins", func(t *testing.T) {
		stored, err := b.revisions().Get(t.Context(), "blueprints-web-v1", metav1.GetOptions{})
		golden.Must(t, err)
		accepted := b.atOnce(t, 5, func(i int) error {
			mine := stored.DeepCopy()
			mine.SetLabels(map[string]string{"winner": fmt.Sprintf("again-%d", i)})
			_, err := b.revisions().Update(t.Context(), mine, metav1.UpdateOptions{})
			return err
		})
		if len(accepted) != 1 {
			t.Errorf("accepted %v", accepted)
		}
	})
	t.Run("a deletion ignores versions", func(t *testing.T) {
		stale := "1"
		if _, err := b.revisions().Create(t.Context(), ofPackage(revision("v1", nil), "other"),
			metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := b.revisions().Delete(t.Context(), "blueprints-other-v1",
			metav1.DeleteOptions{Preconditions: &metav1.Preconditions{ResourceVersion: &stale}}); err != nil {
			t.Error(err)
		}
	})
	t.Run("server-side apply makes and changes a draft", b.apply)
	t.Run("a watch of contents sees them change", b.watchContents)
	t.Run("a namespace is emptied", b.emptyNamespace)

	before, err := b.contents().Get(t.Context(), "blueprints-web-v1", metav1.GetOptions{})
	golden.Must(t, err)
	stop()
	stop = simulatortest.Start(t, b.options, simulator.Run)
	t.Run("all is there after a restart", func(t *testing.T) {
		after, err := b.contents().Get(t.Context(), "blueprints-web-v1", metav1.GetOptions{})
		if err != nil || after.GetResourceVersion() != before.GetResourceVersion() ||
			fmt.Sprint(after.Object["spec"]) != fmt.Sprint(before.Object["spec"]) {
			t.Errorf("before %v, after %v, %v", before, after, err)
		}
	})
	t.Run("it serves after a restart of the API server", func(t *testing.T) {
		golden.Must(t, b.cluster.(clusters.ComponentController).Restart(t.Context(), clusters.APIServer))
		for {
			_, err := b.revisions().Get(t.Context(), "blueprints-web-v1", metav1.GetOptions{})
			switch {
			case apierrors.IsServiceUnavailable(err), apierrors.IsNotFound(err) && !strings.Contains(err.Error(),
				"blueprints-web-v1"):
				continue // the API server has not checked its aggregated API servers yet
			case err != nil:
				t.Error(err)
			}
			return
		}
	})
	stop()
}

// atOnce calls a function several times at the same moment, and returns the numbers of the accepted calls. Every other
// call must end with a conflict.
func (b *bench) atOnce(t *testing.T, times int, do func(i int) error) (accepted []int) {
	t.Helper()
	results := make([]error, times)
	start := make(chan struct{})
	var all sync.WaitGroup
	for i := range times {
		all.Go(func() {
			<-start
			results[i] = do(i)
		})
	}
	close(start)
	all.Wait()
	for i, err := range results {
		switch {
		case err == nil:
			accepted = append(accepted, i)
		case !apierrors.IsConflict(err):
			t.Errorf("neither accepted nor a conflict: %v", err)
		}
	}
	return accepted
}

func ofPackage(object *unstructured.Unstructured, name string) *unstructured.Unstructured {
	object.SetName("blueprints-" + name + "-v1")
	object.Object["spec"].(map[string]any)["packageName"] = name
	return object
}

func (b *bench) apply(t *testing.T) {
	applied := ofPackage(revision("v1", map[string]any{"by": "apply"}), "applied")
	options := metav1.ApplyOptions{FieldManager: "test"}
	if _, err := b.revisions().Apply(t.Context(), applied.GetName(), applied, options); err != nil {
		t.Fatal(err)
	}
	applied.SetLabels(map[string]string{"by": "again"})
	changed, err := b.revisions().Apply(t.Context(), applied.GetName(), applied, options)
	if err != nil || len(changed.GetManagedFields()) == 0 {
		t.Errorf("%v, %v", changed, err)
	}
	misnamed := ofPackage(revision("v1", nil), "applied")
	misnamed.SetName("another")
	if _, err := b.revisions().Apply(t.Context(), "another", misnamed, options); !apierrors.IsBadRequest(err) {
		t.Errorf("an object of another name: %v", err)
	}
}

func (b *bench) watchContents(t *testing.T) {
	list, err := b.contents().List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) == 0 {
		t.Fatal(list, err)
	}
	watcher, err := b.contents().Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.GetResourceVersion()})
	golden.Must(t, err)
	defer watcher.Stop()
	if _, err := b.contents().Patch(t.Context(), "blueprints-web-v1", types.MergePatchType,
		[]byte(`{"spec":{"resources":{"a.yaml":"a: 1\n"}}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	event := <-watcher.ResultChan()
	seen, _ := event.Object.(*unstructured.Unstructured)
	if content, _, _ := unstructured.NestedString(seen.Object, "spec", "resources", "a.yaml"); content != "a: 1\n" ||
		event.Type != "MODIFIED" {
		t.Errorf("saw %s %v", event.Type, event.Object)
	}
}

// emptyNamespace deletes a namespace with a published revision, which works only if the namespace controller
// understands the simulator.
func (b *bench) emptyNamespace(t *testing.T) {
	namespaces := b.client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"})
	_, err := namespaces.Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "emptied"},
	}}, metav1.CreateOptions{})
	golden.Must(t, err)
	b.repository(t, "emptied", "blueprints")
	revisions := b.client.Resource(v1alpha1.GroupVersion.WithResource("packagerevisions")).Namespace("emptied")
	if _, err := revisions.Create(t.Context(), revision("v1", nil), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	watcher, err := namespaces.Watch(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=emptied"})
	golden.Must(t, err)
	defer watcher.Stop()
	golden.Must(t, namespaces.Delete(t.Context(), "emptied", metav1.DeleteOptions{}))
	for event := range watcher.ResultChan() {
		if event.Type == watch.Deleted {
			return
		}
		if text := fmt.Sprint(event.Object); strings.Contains(text, "ContentDeletionFailed") {
			t.Fatal(text)
		}
	}
	t.Error("the watch ended before the namespace was gone")
}
