package window

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/clusters/pauses"
	"github.com/rehearse-dev/rehearse/harness/inventory"
	"github.com/rehearse-dev/rehearse/harness/matching"
	"github.com/rehearse-dev/rehearse/harness/writes"
)

// seen compares the objects of one kind and version as both servers show them.
type seen struct {
	kind     schema.GroupVersionKind
	resource schema.GroupVersionResource
	how      *inventory.Kind
	// first: it is the version that the new server prefers among those that both serve.
	first bool
	// throughOld and throughNew are the objects by uid. alike are the uids of those that are equal through both.
	throughOld, throughNew map[string]*unstructured.Unstructured
	alike                  []string
	// different are the differences that stayed, one text each, by uid.
	different map[string]string
	// restless are objects that changed between the two lists in each try, by uid.
	restless map[string]string
	// problem says that a server rejects the list. unjudged says that the list failed for another reason.
	problem  string
	unjudged string
}

// looks is the number of tries before a difference counts.
const looks = 4

// look lists every kind through both servers, except kinds that change all the time.
func (j *judge) look(ctx context.Context) {
	var kinds []schema.GroupVersionKind
	for group, kind := range j.new.Kinds {
		also := j.old.Kinds[group]
		if also == nil || volatile(group) {
			continue
		}
		for _, version := range kind.Versions {
			if slices.Contains(also.Versions, version) {
				kinds = append(kinds, group.WithVersion(version))
			}
		}
	}
	slices.SortFunc(kinds, func(a, b schema.GroupVersionKind) int { return strings.Compare(a.String(), b.String()) })
	for _, gvk := range kinds {
		kind := j.new.Kinds[gvk.GroupKind()]
		s := &seen{
			kind: gvk, how: kind, resource: kind.In(gvk.Group, gvk.Version),
			first: gvk.Version == common(kind, j.old.Kinds[gvk.GroupKind()]),
		}
		j.compare(ctx, s)
		j.seen = append(j.seen, s)
	}
}

// common is the first version of a kind that another server serves, too; "" if there is none.
func common(kind, other *inventory.Kind) string {
	for _, version := range kind.Versions {
		if slices.Contains(other.Versions, version) {
			return version
		}
	}
	return ""
}

// volatile reports whether objects of a kind change every few seconds, or are not stored.
func volatile(kind schema.GroupKind) bool {
	return slices.Contains([]string{
		"Event", "Event.events.k8s.io", "Lease.coordination.k8s.io", "LeaseCandidate.coordination.k8s.io",
		"ComponentStatus", "NodeMetrics.metrics.k8s.io", "PodMetrics.metrics.k8s.io",
	}, kind.String())
}

// compare lists a kind through both servers until both lists are equal, or a difference has stayed.
func (j *judge) compare(ctx context.Context, s *seen) {
	again := pauses.Growing(50*time.Millisecond, time.Second)
	different, restless := map[string]int{}, map[string]int{}
	defer func() {
		if s.problem != "" || s.unjudged != "" {
			s.different, s.restless = nil, nil // no later look confirmed them
		}
	}()
	for n := range looks {
		if n > 0 && !pauses.Wait(ctx, again) {
			s.unjudged = "the run was interrupted"
			return
		}
		for _, way := range []struct {
			server *asked
			into   *map[string]*unstructured.Unstructured
		}{{j.old, &s.throughOld}, {j.new, &s.throughNew}} {
			objects, err := inventory.List(ctx, way.server.client, s.resource)
			switch {
			case err == nil:
				*way.into = objects
			case writes.Judge(err) == writes.Rejected, writes.Undecodable(err):
				s.problem = "cannot be listed through " + way.server.Name + ": " + writes.Words(err)
				return
			default:
				s.unjudged = "list through " + way.server.Name + ": " + writes.Words(err)
				return
			}
		}
		if s.judge(j.old.Name, j.new.Name); len(s.different) == 0 && len(s.restless) == 0 {
			return
		}
		for uid := range s.different {
			different[uid]++
		}
		for uid := range s.restless {
			restless[uid]++
		}
	}
	for _, uid := range append(notEachTime(s.different, different), notEachTime(s.restless, restless)...) {
		j.reread(ctx, s, uid)
	}
}

// notEachTime returns the uids that were not counted in each look.
func notEachTime(last map[string]string, times map[string]int) []string {
	var uids []string
	for uid := range last {
		if times[uid] < looks {
			uids = append(uids, uid)
		}
	}
	return uids
}

// reread reads an object again that was not different, or did not change, each time. It may have been created, deleted
// or written between the two lists.
func (j *judge) reread(ctx context.Context, s *seen, uid string) {
	o := s.throughNew[uid]
	if o == nil {
		o = s.throughOld[uid]
	}
	delete(s.different, uid)
	delete(s.restless, uid)
	one, err1 := in(j.old.client, s, o).Get(ctx, o.GetName(), metav1.GetOptions{})
	other, err2 := in(j.new.client, s, o).Get(ctx, o.GetName(), metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err1) && apierrors.IsNotFound(err2):
	case err1 == nil && err2 == nil && one.GetUID() == other.GetUID() && string(one.GetUID()) != uid:
		// It was deleted, and another one has its name.
	case err1 == nil && err2 == nil && len(matching.Changes(content(one), content(other))) == 0:
		s.alike = append(s.alike, uid)
	default:
		s.restless[uid] = named(o)
	}
}

// String names the kind and its version.
func (s *seen) String() string { return s.kind.GroupVersion().String() + " " + s.kind.Kind }

// judge compares the two lists.
func (s *seen) judge(older, newer string) {
	s.alike, s.different, s.restless = nil, map[string]string{}, map[string]string{}
	for _, uid := range slices.Sorted(maps.Keys(s.throughNew)) {
		one, other := s.throughOld[uid], s.throughNew[uid]
		switch {
		case one == nil:
			s.different[uid] = named(other) + " is missing through " + older
		case one.GetResourceVersion() != other.GetResourceVersion():
			s.restless[uid] = named(other)
		default:
			if changes := matching.Changes(content(one), content(other)); len(changes) > 0 {
				s.different[uid] = named(other) + " differs, " + older + " -> " + newer + ": " + written(other.GetKind(), changes)
				continue
			}
			s.alike = append(s.alike, uid)
		}
	}
	for _, uid := range slices.Sorted(maps.Keys(s.throughOld)) {
		if s.throughNew[uid] == nil {
			s.different[uid] = named(s.throughOld[uid]) + " is missing through " + newer
		}
	}
}

// reads: every object is equal through both servers.
func (j *judge) reads(context.Context) {
	objects := map[string]bool{}
	kinds := map[schema.GroupKind]bool{}
	for _, s := range j.seen {
		switch {
		case s.problem != "":
			j.problem("reads: objects of %s %s", s, s.problem)
		case s.unjudged != "":
			j.unjudged("reads: objects of %s: %s", s, s.unjudged)
		}
		for _, uid := range slices.Sorted(maps.Keys(s.different)) {
			j.problem("reads: as %s, %s", s.kind.GroupVersion(), s.different[uid])
		}
		j.restless("reads", s)
		for _, uid := range s.alike {
			objects[uid], kinds[s.kind.GroupKind()] = true, true
		}
	}
	j.evidence("%d objects of %d kinds are equal through %s and %s", len(objects), len(kinds), j.old.Name, j.new.Name)
}

// restless reports the objects that changed too often for a check.
func (j *judge) restless(check string, s *seen) {
	if len(s.restless) > 0 {
		j.unjudged("%s: as %s, %s changed during each of %d comparisons", check, s.kind.GroupVersion(),
			strings.Join(slices.Sorted(maps.Values(s.restless)), ", "), looks)
	}
}

// content is an object without managed fields and resource version.
func content(o *unstructured.Unstructured) map[string]any {
	copied := o.DeepCopy().Object
	unstructured.RemoveNestedField(copied, "metadata", "managedFields")
	unstructured.RemoveNestedField(copied, "metadata", "resourceVersion")
	return copied
}

// written formats changes in one line. It hides confidential values.
func written(kind string, changes []matching.Change) string {
	var texts []string
	for _, change := range changes {
		if change.Confidential(kind) {
			texts = append(texts, change.Path)
			continue
		}
		texts = append(texts, change.Redacted().String())
	}
	return strings.Join(texts, "; ")
}

// named is "Kind namespace/name".
func named(o *unstructured.Unstructured) string {
	if o.GetNamespace() == "" {
		return o.GetKind() + " " + o.GetName()
	}
	return o.GetKind() + " " + o.GetNamespace() + "/" + o.GetName()
}
