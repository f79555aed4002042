package upgrade

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness/capture"
	"github.com/rehearse-dev/rehearse/harness/manifests"
	"github.com/rehearse-dev/rehearse/harness/storage"
	"github.com/rehearse-dev/rehearse/harness/survey"
	"github.com/rehearse-dev/rehearse/harness/transplant"
)

// Origin is a copy of another cluster. Its objects are rehearsed as they are stored there.
type Origin struct {
	*transplant.Copy
	// Digest of the file that was copied. Shards must have the same.
	Digest string
	// Selection of the objects to survey. The copy contains all objects.
	Selection manifests.Selection
	// Created is called when the copy runs, before the first survey. May be nil.
	Created func(context.Context, clusters.Cluster) error
	// Surveyed is called after the survey of the first state. May be nil.
	Surveyed func()
	// Death returns an error if a program that answers webhooks has exited. May be nil.
	Death func() error
	// Called returns notes about calls of webhooks, at the end of the rehearsal. May be nil.
	Called func() []string
}

// create creates the cluster of the first state, with the data of the origin if there is one.
func (r *rehearsal) create(ctx context.Context, name string) (err error) {
	if r.Origin == nil {
		r.cluster, err = r.Provider.Create(ctx, name, r.Path.States[0])
		return err
	}
	seeder, ok := r.Provider.(clusters.Seeder)
	if !ok {
		return fmt.Errorf("provider %s cannot start with the objects of another cluster; use local clusters",
			r.Provider.Name())
	}
	r.cluster, err = seeder.CreateSeeded(ctx, name, r.Path.States[0], r.Origin)
	return err
}

// adopt adds the objects of the copy to the survey. Before that, it waits until controllers have caught up, so that
// their changes are not blamed on the upgrade.
func (r *rehearsal) adopt(ctx context.Context) error {
	if r.Origin.Created != nil {
		if err := r.Origin.Created(ctx, r.cluster); err != nil {
			return err
		}
	}
	r.Progress("reading the copy of %s", r.Origin.Name)
	if err := r.survey.Still(ctx); err != nil {
		return err
	}
	source, err := capture.NewSource(r.cluster.Name(), r.cluster.RESTConfig())
	if err != nil {
		return err
	}
	found := population{there: map[string]types.UID{}, served: map[string]bool{}, selecting: map[string]bool{}}
	unread, err := source.Each(ctx, found.take)
	if err != nil {
		return err
	}
	for _, o := range found.objects {
		r.hidden.of(o)
	}
	objects := found.given(r.Origin.Name)
	if objects, err = r.selectable(objects, r.Origin.Lost(found.there)).Of(objects); err != nil {
		return err
	}
	*r.share = *shareOf(r.Shard, manifests.Selection{}, objects)
	r.report.Idle = r.share.idle()
	var created []survey.Created
	for _, o := range objects {
		created = append(created, survey.Created{
			Object: manifestOf(o), Namespace: o.Content.GetNamespace(),
			UID: string(o.Content.GetUID()),
		})
	}
	r.survey.Add(r.share.take(created)...)
	r.report.Objects = len(objects)
	r.lost(found, unread)
	return nil
}

// population is all objects of a copy.
type population struct {
	objects []*unstructured.Unstructured
	// there are the UIDs of the objects, by etcd key.
	there map[string]types.UID
	// served are the kinds that could be read, by resource and group.
	served map[string]bool
	// selecting are the Services for which controllers maintain Endpoints.
	selecting map[string]bool
}

func (p *population) take(r storage.Resource, items []unstructured.Unstructured) {
	p.served[r.GroupResource().String()] = true
	for i := range items {
		o := &items[i]
		p.there[r.Key(o.GetNamespace(), o.GetName())] = o.GetUID()
		if r.Name == "services" && r.Group == "" {
			if selector, _, _ := unstructured.NestedMap(o.Object, "spec", "selector"); len(selector) > 0 {
				p.selecting[o.GetNamespace()+"/"+o.GetName()] = true
			}
		}
		p.objects = append(p.objects, o)
	}
}

// given returns the users' objects. It leaves out objects that controllers create for other objects, and objects that
// every cluster creates itself.
func (p *population) given(name string) []*manifests.Object {
	uids := map[string]bool{}
	for _, o := range p.objects {
		uids[string(o.GetUID())] = true
	}
	var given []*manifests.Object
	for _, o := range p.objects {
		if transplant.ClustersOwn(o) || o.GetKind() == "Endpoints" && p.selecting[o.GetNamespace()+"/"+o.GetName()] {
			continue
		}
		owner := metav1.GetControllerOf(o)
		if owner != nil && uids[string(owner.UID)] && survey.IsDependent(o.GroupVersionKind().GroupKind()) {
			continue
		}
		given = append(given, &manifests.Object{Content: o, File: name})
	}
	return given
}

// manifestOf returns the object as a user would write it: as it was last applied, if that is known.
func manifestOf(o *manifests.Object) *manifests.Object {
	return &manifests.Object{Content: transplant.Manifest(o.Content), File: o.File}
}
