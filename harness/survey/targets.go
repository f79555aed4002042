package survey

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// dependentKinds are the kinds of objects that Kubernetes' own controllers create for other objects.
func dependentKinds() []schema.GroupKind {
	return []schema.GroupKind{
		{Kind: "Pod"},
		{Group: "apps", Kind: "ReplicaSet"},
		{Group: "apps", Kind: "ControllerRevision"},
		{Group: "batch", Kind: "Job"},
		{Group: "discovery.k8s.io", Kind: "EndpointSlice"},
	}
}

// operatorKinds are the kinds of objects that operators create for custom resources, besides further custom resources.
// Their dependents belong to the custom resource.
func operatorKinds() []schema.GroupKind {
	return []schema.GroupKind{
		{Group: "apps", Kind: "Deployment"},
		{Group: "apps", Kind: "StatefulSet"},
		{Group: "apps", Kind: "DaemonSet"},
		{Group: "batch", Kind: "CronJob"},
	}
}

// customKinds are the kinds of CustomResourceDefinitions. An operator may create such objects for others: a JobSet for
// a TrainJob.
func customKinds(definitions map[string]*unstructured.Unstructured) []schema.GroupKind {
	var kinds []schema.GroupKind
	for _, o := range definitions {
		group, _, _ := unstructured.NestedString(o.Object, "spec", "group")
		kind, _, _ := unstructured.NestedString(o.Object, "spec", "names", "kind")
		kinds = append(kinds, schema.GroupKind{Group: group, Kind: kind})
	}
	return kinds
}

// kindsAround lists the kinds of given objects and of their possible dependents.
func kindsAround(targets []*Target, custom []schema.GroupKind) map[schema.GroupKind]bool {
	kinds := map[schema.GroupKind]bool{}
	for _, kind := range slices.Concat(dependentKinds(), operatorKinds(), custom) {
		kinds[kind] = true
	}
	for _, t := range targets {
		kinds[t.GVK.GroupKind()] = true
	}
	return kinds
}

// IsDependent reports whether Kubernetes' own controllers create objects of a kind for other objects.
func IsDependent(kind schema.GroupKind) bool { return slices.Contains(dependentKinds(), kind) }

// findTargets lists the given objects that exist, and their dependents.
func (s *Survey) findTargets(found *observation) {
	f := family{
		given: map[string]*Target{}, owners: map[string]string{}, hidden: map[string]*Target{},
		objects: map[string]*unstructured.Unstructured{}, elsewhere: s.options.Elsewhere,
	}
	for _, t := range s.targets {
		f.given[t.UID] = t
		if found.object(t, "") != nil {
			found.targets = append(found.targets, t)
		}
	}
	for gvk, l := range found.lists {
		if found.readable(gvk.GroupKind()) == gvk.Version {
			f.add(l.objects)
		}
	}
	for _, t := range s.made {
		if found.hides(t) {
			found.hidden = append(found.hidden, t)
			f.hidden[t.UID], f.owners[t.UID] = t, t.owner
		}
	}
	made := f.dependents()
	slices.SortFunc(made, byName)
	slices.SortFunc(found.hidden, byName)
	found.targets = append(found.targets, made...)
	s.made = slices.Concat(made, found.hidden)
}

func byName(a, b *Target) int {
	return cmp.Or(cmp.Compare(a.GVK.Kind, b.GVK.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// object is the target in a version; if version is "", in the first version whose list contains it. It is nil if no
// list contains it.
func (f *observation) object(t *Target, version string) *unstructured.Unstructured {
	how := f.Kinds[t.GVK.GroupKind()]
	if how == nil {
		return nil
	}
	for _, v := range how.Versions {
		if version != "" && v != version {
			continue
		}
		if o := f.lists[t.GVK.GroupKind().WithVersion(v)].objects[t.UID]; o != nil {
			return o
		}
	}
	return nil
}

// version returns the version to write the target in: its own if that is served, otherwise the preferred one. It also
// returns whether its own is served.
func (f *observation) version(t *Target) (string, bool) {
	how := f.Kinds[t.GVK.GroupKind()]
	if slices.Contains(how.Versions, t.GVK.Version) {
		return t.GVK.Version, true
	}
	return how.Versions[0], false
}
