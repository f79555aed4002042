package upgrade

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/clusters"
)

// makeClasses creates StorageClasses that claims name and that are in no manifest, like the one that a local cluster
// begins with. Without them, pods would never run. It returns the names of those that did not exist.
func (c *creator) makeClasses(ctx context.Context, names []string) (made []string, err error) {
	api := c.client.Resource(schema.GroupVersionResource{
		Group: "storage.k8s.io", Version: "v1", Resource: "storageclasses",
	})
	for _, name := range names {
		class := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": map[string]any{"name": name},
			"provisioner": clusters.SimulatedProvisioner, "volumeBindingMode": "WaitForFirstConsumer",
			"allowVolumeExpansion": true,
		}}
		switch _, err := api.Create(ctx, class, metav1.CreateOptions{FieldManager: "rehearse-upgrade"}); {
		case apierrors.IsAlreadyExists(err):
		case err != nil:
			return made, fmt.Errorf("create StorageClass %s, which claims name: %w", name, err)
		default:
			made = append(made, name)
		}
	}
	return made, nil
}

// defaultGoneWithin is how long the API server may still give the default class to claims after it was deleted.
const defaultGoneWithin = 10 * time.Second

// clearDefaultClass deletes the StorageClass that a local cluster begins with, before a given one that takes its place:
// most fields of a class cannot be changed, and only one can be the default. It returns when new claims no longer get
// the deleted class.
func (c *creator) clearDefaultClass(ctx context.Context, classes dynamic.ResourceInterface,
	given *unstructured.Unstructured,
) error {
	if given.GroupVersionKind().GroupKind() != (schema.GroupKind{Group: "storage.k8s.io", Kind: "StorageClass"}) ||
		(given.GetName() != clusters.DefaultClass && !isDefaultClass(given)) {
		return nil
	}
	ours, err := classes.Get(ctx, clusters.DefaultClass, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err == nil && ours.Object["provisioner"] != clusters.SimulatedProvisioner:
		return nil
	case err == nil:
		uid := ours.GetUID()
		err = classes.Delete(ctx, ours.GetName(), metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("make room for StorageClass %s: %w", given.GetName(), err)
	}
	return c.defaultGone(ctx)
}

func isDefaultClass(class *unstructured.Unstructured) bool {
	return class.GetAnnotations()["storageclass.kubernetes.io/is-default-class"] == "true" ||
		class.GetAnnotations()["storageclass.beta.kubernetes.io/is-default-class"] == "true"
}

// defaultGone asks with dry runs which class a claim gets. The API server knows of a deletion a moment later.
func (c *creator) defaultGone(ctx context.Context) error {
	claim := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": map[string]any{"generateName": "rehearse-"},
		"spec": map[string]any{
			"accessModes": []any{"ReadWriteOnce"},
			"resources":   map[string]any{"requests": map[string]any{"storage": "1Gi"}},
		},
	}}
	claims := c.client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "persistentvolumeclaims"}).
		Namespace(metav1.NamespaceDefault)
	err := wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, defaultGoneWithin, true,
		func(ctx context.Context) (bool, error) {
			made, err := claims.Create(ctx, claim, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			if err != nil {
				return true, nil //nolint:nilerr // a policy of the user may reject any claim
			}
			class, _, _ := unstructured.NestedString(made.Object, "spec", "storageClassName")
			return class != clusters.DefaultClass, nil
		})
	if err != nil {
		return fmt.Errorf("wait until claims do not get the deleted StorageClass %s: %w", clusters.DefaultClass, err)
	}
	return nil
}
