package systems

import (
	"context"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// applyObjects applies objects that a process needs, and adds their references to the wanted ones. An object that is
// unchanged since the last apply is skipped: applying it would call the system's own webhooks, which do not answer now.
func (s *installer) applyObjects(ctx context.Context, sys *system, objects []*unstructured.Unstructured,
	wanted []reference,
) ([]reference, error) {
	for _, object := range objects {
		client, _, r, err := s.api.resource(object)
		if err != nil {
			return nil, err
		}
		wanted = append(wanted, r)
		if last := sys.applied[r]; last != nil && reflect.DeepEqual(last.Object, object.Object) {
			_, err := client.Get(ctx, r.name, metav1.GetOptions{})
			if err == nil {
				continue
			}
			if !apierrors.IsNotFound(err) {
				return nil, err
			}
		}
		if err := s.applyAll(ctx, sys, []*unstructured.Unstructured{object}); err != nil {
			return nil, err
		}
		if sys.applied == nil {
			sys.applied = map[reference]*unstructured.Unstructured{}
		}
		sys.applied[r] = object
	}
	return wanted, nil
}
