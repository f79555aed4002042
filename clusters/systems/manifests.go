package systems

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/clusters/systems/documents"
	"github.com/rehearse-dev/rehearse/clusters/systems/internal/waiting"
)

// deploy applies the manifests of a system that the cluster runs, deletes the objects that it no longer has, except
// CRDs, and returns when the system serves.
func (s *installer) deploy(ctx context.Context, sys *system) error {
	objects, err := s.manifests(ctx, sys)
	if err != nil {
		return err
	}
	var wanted []reference
	for _, part := range [][]*unstructured.Unstructured{foundations(objects), others(objects)} {
		if err := s.applyAll(ctx, sys, part); err != nil {
			return err
		}
	}
	for _, object := range objects {
		_, _, r, err := s.api.resource(object)
		if err != nil {
			return err
		}
		wanted = append(wanted, r)
	}
	if err := s.prune(ctx, sys, wanted); err != nil {
		return err
	}
	sys.program.probes = objectsOf(sys.definition.Probes)
	return s.proveManifests(ctx, sys)
}

func (s *installer) manifests(ctx context.Context, sys *system) ([]*unstructured.Unstructured, error) {
	e := expander{values: map[string]string{}}
	if sys.definition.Version != "" {
		e.values["VERSION"] = sys.definition.Version
	}
	names := e.list(sys.definition.Manifests)
	if e.err != nil {
		return nil, e.err
	}
	var all []*unstructured.Unstructured
	for _, name := range names {
		objects, err := documents.Fetch(ctx, name)
		if err != nil {
			return nil, err
		}
		all = append(all, objects...)
	}
	return all, nil
}

// foundations are the objects that others need: namespaces and CRDs.
func foundations(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	return slices.DeleteFunc(slices.Clone(objects), func(o *unstructured.Unstructured) bool { return !goesFirst(o) })
}

// others are all other objects, webhook configurations last: a webhook that is not served yet could block the system's
// own pods.
func others(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	all := slices.DeleteFunc(slices.Clone(objects), goesFirst)
	slices.SortStableFunc(all, func(a, b *unstructured.Unstructured) int {
		switch {
		case isWebhook(a) == isWebhook(b):
			return 0
		case isWebhook(a):
			return 1
		}
		return -1
	})
	return all
}

func goesFirst(o *unstructured.Unstructured) bool {
	kind := o.GroupVersionKind().GroupKind()
	return kind == crdKind || kind.Group == "" && kind.Kind == "Namespace"
}

// proveManifests returns when the workloads of a system that the cluster runs are rolled out, its CRDs are served and
// its webhooks answer.
func (s *installer) proveManifests(ctx context.Context, sys *system) error {
	objects, err := s.manifests(ctx, sys)
	if err != nil {
		return err
	}
	var configurations []reference
	for _, object := range objects {
		client, _, r, err := s.api.resource(object)
		if err != nil {
			return err
		}
		if isWebhook(object) {
			configurations = append(configurations, r)
		}
		err = waiting.Until(ctx, nil, func(ctx context.Context) error {
			if !isWorkload(object) {
				return nil
			}
			there, err := client.Get(ctx, r.name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			return rolledOut(there)
		})
		if err != nil {
			return fmt.Errorf("wait until %s is rolled out: %w", r, err)
		}
	}
	if err := s.serves(ctx, sys); err != nil {
		return err
	}
	hooks, err := s.api.hooks(ctx)
	if err != nil {
		return err
	}
	own := slices.DeleteFunc(hooks, func(h hook) bool { return !slices.Contains(configurations, h.configuration) })
	return s.prove(ctx, nil, sys.program.probes, own, s.api.answers)
}

func isWorkload(o *unstructured.Unstructured) bool {
	kind := o.GroupVersionKind().GroupKind()
	return kind.Group == "apps" && slices.Contains([]string{"Deployment", "StatefulSet", "DaemonSet"}, kind.Kind)
}

// rolledOut reports what a workload still lacks.
func rolledOut(o *unstructured.Unstructured) error {
	number := func(fallback int64, path ...string) int64 {
		value, found, err := unstructured.NestedInt64(o.Object, path...)
		if !found || err != nil {
			return fallback
		}
		return value
	}
	if seen := number(0, "status", "observedGeneration"); seen < o.GetGeneration() {
		return fmt.Errorf("its controller has not seen generation %d yet", o.GetGeneration())
	}
	wanted, updated, available := number(1, "spec", "replicas"), number(0, "status", "updatedReplicas"), number(0,
		"status", "availableReplicas")
	if o.GetKind() == "DaemonSet" {
		wanted = number(0, "status", "desiredNumberScheduled")
		updated, available = number(0, "status", "updatedNumberScheduled"), number(0, "status", "numberAvailable")
	}
	if updated < wanted || available < wanted {
		return fmt.Errorf("it has %d pods, of which %d are updated and %d available", wanted, updated, available)
	}
	return nil
}
