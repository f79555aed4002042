package upgrade

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness/capture"
	"github.com/rehearse-dev/rehearse/harness/manifests"
	"github.com/rehearse-dev/rehearse/harness/storage"
	"github.com/rehearse-dev/rehearse/harness/survey"
	"github.com/rehearse-dev/rehearse/harness/transplant"
	"github.com/rehearse-dev/rehearse/reports/upgrades"
)

// Origin is a copy of another cluster. Its objects are rehearsed as they are stored there.
type Origin struct {
	*transplant.Copy
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
	found := population{there: map[string]bool{}, selecting: map[string]bool{}}
	unread, err := source.Each(ctx, found.take)
	if err != nil {
		return err
	}
	for _, o := range found.objects {
		r.hidden.of(o)
	}
	objects := found.given(r.Origin.Name)
	if objects, err = r.Origin.Selection.Of(objects); err != nil {
		return err
	}
	for _, o := range objects {
		r.survey.Add(survey.Created{
			Object: manifestOf(o), Namespace: o.Content.GetNamespace(),
			UID: string(o.Content.GetUID()),
		})
	}
	r.report.Objects = len(objects)
	for _, one := range unread {
		if !r.Origin.Selection.Wants(one.What) {
			continue
		}
		r.unjudged(one.What, nil, "its objects cannot be read at the first state", one.Why, "")
	}
	for _, key := range r.Origin.Lost(found.there) {
		kind, name, _ := strings.Cut(strings.TrimPrefix(key, storage.Prefix), "/")
		r.unjudged(kind, []upgrades.Object{{Name: kind + " " + name, Place: r.Origin.Name}},
			"it was put into the copy, but no longer exists",
			"controllers or the API server removed it before the first check", "")
	}
	return nil
}

// lacking reports what the copy lacks, and how it differs from the origin.
func (r *rehearsal) lacking() {
	if r.Origin == nil {
		return
	}
	for _, lack := range r.Origin.Lacks() {
		kind, _, _ := strings.Cut(lack.Kind, ".")
		if lack.Name == "" && !r.Origin.Selection.Wants(lack.Kind) {
			r.report.Notes = append(r.report.Notes,
				fmt.Sprintf("not in the copy, and not selected: %s (%s)", lack.Kind, lack.Why))
			continue
		}
		if lack.Name == "" {
			r.unjudged(lack.Kind, nil, "none of its objects were rehearsed", lack.Why,
				"capture the cluster with the ClusterRole of docs/upgrade.md")
			continue
		}
		object := upgrades.Object{Name: kind + " " + lack.Name, Place: r.Origin.Name}
		r.unjudged(lack.Kind, []upgrades.Object{object}, "the copy lacks what it needs", lack.Why,
			"rehearse it in a cluster that has it")
	}
	r.report.Notes = append(r.report.Notes, r.Origin.Notes()...)
	if r.Origin.Called != nil {
		r.report.Notes = append(r.report.Notes, r.Origin.Called()...)
	}
}

func (r *rehearsal) unjudged(kind string, objects []upgrades.Object, what, words, advice string) {
	r.report.Findings = append(r.report.Findings, &upgrades.Finding{
		Severity: upgrades.Unjudged, Check: "copy", Kind: kind, Objects: objects, States: []int{0},
		Hop: r.report.Path[0].Name, What: what, Words: words, Advice: advice,
	})
}

// population is all objects of a copy.
type population struct {
	objects []*unstructured.Unstructured
	// there are the etcd keys of the objects.
	there map[string]bool
	// selecting are the Services for which controllers maintain Endpoints.
	selecting map[string]bool
}

func (p *population) take(r storage.Resource, items []unstructured.Unstructured) {
	for i := range items {
		o := &items[i]
		p.there[r.Key(o.GetNamespace(), o.GetName())] = true
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
