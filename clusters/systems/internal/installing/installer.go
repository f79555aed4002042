// Package installing installs the objects of systems in a cluster, and proves that they have taken effect.
package installing

import (
	"context"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/systems/documents"
	"github.com/rehearse-dev/rehearse/clusters/systems/internal/objects"
	"github.com/rehearse-dev/rehearse/clusters/systems/internal/waiting"
	"github.com/rehearse-dev/rehearse/clusters/systems/internal/webhooks"
)

// Installer installs the objects of systems in one cluster.
type Installer struct {
	Objects  *objects.Client
	Webhooks *webhooks.Client
	// Controllers makes the controllers discover new kinds at once; nil if the cluster does not support it.
	Controllers clusters.Rediscoverer
	// Borrowed: objects of another installation are not overwritten.
	Borrowed bool
	// Beside returns the installations of the other replicas of a system's service, which share their objects.
	Beside func(system string) []*Installation
}

// Installation is what the cluster has of one system.
type Installation struct {
	// System is its name.
	System string
	// Objects that were created for it, in their order; objects that existed before are not included.
	Objects []objects.Reference

	// applied are the objects of a process, as they were last applied.
	applied map[objects.Reference]*unstructured.Unstructured
	// kept are those of its CRDs that its definition no longer has, and where their conversion webhooks are called.
	kept map[objects.Reference]string
	// calledAt is where the webhooks are called that were installed last.
	calledAt string
	// wanted are the objects of the definition that was installed last.
	wanted []objects.Reference
	// pruned are the objects of earlier definitions, which were deleted.
	pruned []objects.Reference
	// predecessors are the removed replicas whose objects it has taken over.
	predecessors []string
}

// ApplyAgain makes the next Install apply all objects, even unchanged ones, and delete those of earlier definitions
// again: a restore may have brought them back.
func (in *Installation) ApplyAgain() {
	in.applied = nil
	for _, r := range in.pruned {
		in.Objects = objects.Add(in.Objects, r)
	}
	in.pruned = nil
}

// Content is what a system that runs as a process has in the cluster.
type Content struct {
	// CRDs and Webhooks are files and folders.
	CRDs, Webhooks []string
	Objects        []*unstructured.Unstructured
}

// Install applies the objects of a system that runs as a process. Its conversion webhooks and webhook configurations
// then point to the process, at a URL with an authority. Install deletes objects that the system no longer has, except
// CRDs.
func (i *Installer) Install(ctx context.Context, in *Installation, content Content, url string, ca []byte) error {
	crds, err := documents.OfKinds(content.CRDs,
		func(o *unstructured.Unstructured) bool { return o.GroupVersionKind().GroupKind() == objects.CRDKind })
	if err != nil {
		return err
	}
	configurations, err := documents.OfKinds(content.Webhooks, webhooks.IsConfiguration)
	if err != nil {
		return err
	}
	var wanted []objects.Reference
	for _, crd := range crds {
		webhooks.PointTo(crd, url, ca)
		wanted = append(wanted, referenceOf(crd))
	}
	applied, err := i.applyObjects(ctx, in, foundations(content.Objects), nil)
	if err != nil {
		return err
	}
	for _, configuration := range configurations {
		webhooks.PointTo(configuration, url, ca)
		wanted = append(wanted, referenceOf(configuration))
		if err := i.notTaken(ctx, in, configuration); err != nil {
			return err
		}
	}
	if err := i.applyAll(ctx, in, crds); err != nil {
		return err
	}
	if applied, err = i.applyObjects(ctx, in, others(content.Objects), applied); err != nil {
		return err
	}
	if err := i.applyAll(ctx, in, configurations); err != nil {
		return err
	}
	in.wanted = append(wanted, applied...)
	if err := i.prune(ctx, in); err != nil {
		return err
	}
	in.calledAt = url
	return i.trustKept(ctx, in, ca)
}

// referenceOf is the reference of a cluster-scoped object, whose kind the cluster may not know yet.
func referenceOf(object *unstructured.Unstructured) objects.Reference {
	gvk := object.GroupVersionKind()
	return objects.Reference{Kind: gvk.GroupKind(), Version: gvk.Version, Name: object.GetName()}
}

// applyAll applies objects, and records those to delete at the end: they did not exist before, or a killed run has left
// them. After each CRD it waits until the CRD is
// served, because later objects may need it.
func (i *Installer) applyAll(ctx context.Context, in *Installation, all []*unstructured.Unstructured) error {
	for _, object := range all {
		users, left, err := i.found(ctx, in, object)
		if err != nil {
			return err
		}
		if users {
			continue
		}
		made, r, err := i.Objects.Apply(ctx, in.System, object)
		if made || left {
			in.Objects = objects.Add(in.Objects, r) // also if the answer was lost, so that it is deleted at the end
		}
		if err != nil {
			return err
		}
		if r.Kind != objects.CRDKind {
			continue
		}
		if err := waiting.Until(ctx, nil, func(ctx context.Context) error { return i.Objects.Served(ctx, r) }); err != nil {
			return fmt.Errorf("wait until %s is served: %w", r, err)
		}
	}
	return nil
}

// found looks for an object that a borrowed cluster has already. users reports a Namespace of another owner: its labels
// are not ours to change. left reports what a killed run has left of the system. Anything else of another owner is an
// error.
func (i *Installer) found(ctx context.Context, in *Installation, object *unstructured.Unstructured) (users, left bool,
	err error,
) {
	if !i.Borrowed {
		return false, false, nil
	}
	r, owner, err := i.owner(ctx, object)
	switch {
	case err != nil || owner == nil:
		return false, false, err
	case i.owns(in, owner.System):
		return false, owner.System == in.System && !owner.Kept, nil
	case object.GetAPIVersion() == "v1" && object.GetKind() == "Namespace":
		return true, false, nil
	}
	return false, false, taken(in, r)
}

// notTaken returns an error if the cluster already has the object, but from another installation.
func (i *Installer) notTaken(ctx context.Context, in *Installation, object *unstructured.Unstructured) error {
	r, owner, err := i.owner(ctx, object)
	if err != nil || owner == nil || i.owns(in, owner.System) {
		return err
	}
	return taken(in, r)
}

// owner returns who owns the cluster's object; nil if there is no such object.
func (i *Installer) owner(ctx context.Context, object *unstructured.Unstructured) (objects.Reference, *objects.Owner,
	error,
) {
	r, err := i.Objects.Find(object)
	if err != nil {
		return r, nil, err
	}
	owner, err := i.Objects.Owner(ctx, r)
	return r, owner, err
}

func taken(in *Installation, r objects.Reference) error {
	return fmt.Errorf("the cluster has a %s already, which was not installed by rehearse for system %s; remove the "+
		"other installation first", r, in.System)
}

// applyObjects applies objects that a process needs, and adds their references to the wanted ones. An object that is
// unchanged since the last apply is skipped: applying it would call the system's own webhooks, which do not answer now.
func (i *Installer) applyObjects(ctx context.Context, in *Installation, all []*unstructured.Unstructured,
	wanted []objects.Reference,
) ([]objects.Reference, error) {
	for _, object := range all {
		r, err := i.Objects.Find(object)
		if err != nil {
			return nil, err
		}
		wanted = append(wanted, r)
		if last := in.applied[r]; last != nil && reflect.DeepEqual(last.Object, object.Object) {
			there, err := i.Objects.Exists(ctx, r)
			if err != nil {
				return nil, err
			}
			if there {
				continue
			}
		}
		if err := i.applyAll(ctx, in, []*unstructured.Unstructured{object}); err != nil {
			return nil, err
		}
		if in.applied == nil {
			in.applied = map[objects.Reference]*unstructured.Unstructured{}
		}
		in.applied[r] = object
	}
	return wanted, nil
}
