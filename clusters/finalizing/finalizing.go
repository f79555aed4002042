// Package finalizing makes kube-apiserver try the deletion of a CustomResourceDefinition again without its long delay.
package finalizing

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

// retried is the annotation with the time of the last Retry.
const retried = "rehearse.dev/deletion-retried"

// Period is the time between two retries: a failure takes milliseconds, but a kind's watch cache may need a second.
const Period = time.Second

// Retry changes a CustomResourceDefinition whose deletion has failed, so that kube-apiserver tries it again at once.
// Its controller first deletes the objects of the kind. Since 1.34 that fails while the kind's watch cache is not
// ready ("could not list instances: storage is (re)initializing"). The delay before the next attempt doubles each
// time: we saw two API servers fail for two minutes. A change by another client ends the delay
// (updateCustomResourceDefinition in crd_finalizer.go of apiextensions-apiserver). All other objects stay as they are.
func Retry(ctx context.Context, crds dynamic.ResourceInterface, name string, now time.Time) error {
	crd, err := crds.Get(ctx, name, metav1.GetOptions{})
	if err != nil || !failed(crd) {
		return ignoreGone(err)
	}
	if last, err := time.Parse(time.RFC3339Nano, crd.GetAnnotations()[retried]); err == nil && now.Sub(last) < Period {
		return nil
	}
	patch := fmt.Appendf(nil, `{"metadata":{"uid":%q,"annotations":{%q:%q}}}`, crd.GetUID(), retried,
		now.Format(time.RFC3339Nano))
	_, err = crds.Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{})
	return ignoreGone(err)
}

// ignoreGone ignores that the object does not exist, or that another one has its name.
func ignoreGone(err error) error {
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// failed reports whether kube-apiserver could not delete the objects of a CustomResourceDefinition's kind.
func failed(crd *unstructured.Unstructured) bool {
	if crd.GetDeletionTimestamp() == nil {
		return false
	}
	conditions, _, _ := unstructured.NestedSlice(crd.Object, "status", "conditions")
	for _, item := range conditions {
		condition, _ := item.(map[string]any)
		if condition["type"] == "Terminating" && condition["reason"] == "InstanceDeletionFailed" {
			return true
		}
	}
	return false
}
