package installing

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/clusters/systems/internal/objects"
	"github.com/rehearse-dev/rehearse/clusters/systems/internal/waiting"
	"github.com/rehearse-dev/rehearse/clusters/systems/internal/webhooks"
)

// Deploy applies the manifests of a system that the cluster runs, and deletes the objects that it no longer has, except
// CRDs.
func (i *Installer) Deploy(ctx context.Context, in *Installation, manifests []*unstructured.Unstructured) error {
	for _, part := range [][]*unstructured.Unstructured{foundations(manifests), others(manifests)} {
		if err := i.applyAll(ctx, in, part); err != nil {
			return err
		}
	}
	in.wanted = nil
	for _, object := range manifests {
		r, err := i.Objects.Find(object)
		if err != nil {
			return err
		}
		in.wanted = append(in.wanted, r)
	}
	return i.prune(ctx, in)
}

// ProveManifests returns when the workloads of a system that the cluster runs are rolled out, its CRDs are served and
// its webhooks answer.
func (i *Installer) ProveManifests(ctx context.Context, in *Installation,
	manifests, probes []*unstructured.Unstructured,
) error {
	var configurations []objects.Reference
	for _, object := range manifests {
		r, err := i.Objects.Find(object)
		if err != nil {
			return err
		}
		if webhooks.IsConfiguration(object) {
			configurations = append(configurations, r)
		}
		if !isWorkload(object) {
			continue
		}
		err = waiting.Until(ctx, nil, func(ctx context.Context) error {
			there, err := i.Objects.Read(ctx, r)
			if err != nil {
				return err
			}
			return rolledOut(there)
		})
		if err != nil {
			return fmt.Errorf("wait until %s is rolled out: %w", r, err)
		}
	}
	if err := i.Served(ctx, in, nil, true); err != nil {
		return err
	}
	hooks, err := i.Webhooks.All(ctx)
	if err != nil {
		return err
	}
	own := slices.DeleteFunc(hooks,
		func(h webhooks.Hook) bool { return !slices.Contains(configurations, h.Configuration) })
	return i.Prove(ctx, nil, probes, own, i.Webhooks.Answers)
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
	// The available pods of a Deployment may be those of before.
	if all := number(0, "status", "replicas"); o.GetKind() == "Deployment" && all > updated {
		return fmt.Errorf("%d of its %d pods are not updated", all-updated, all)
	}
	return nil
}
