package survey

import (
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// family is how objects belong to the given ones. Its maps have uids as keys.
type family struct {
	given   map[string]*Target
	objects map[string]*unstructured.Unstructured
	// hidden are dependents that were there before, and that cannot be listed now. What belongs to them still does.
	hidden map[string]*Target
	owners map[string]string
	// elsewhere reports whether another shard surveys the object with a uid. May be nil.
	elsewhere func(uid string) bool
}

func (f family) add(objects map[string]*unstructured.Unstructured) {
	maps.Copy(f.objects, objects)
	for uid, o := range objects {
		if owner := metav1.GetControllerOf(o); owner != nil {
			f.owners[uid] = string(owner.UID)
		}
	}
}

// dependents are the objects that belong to a given one.
func (f family) dependents() []*Target {
	var made []*Target
	for uid, o := range f.objects {
		if f.given[uid] != nil || f.foreign(uid) {
			continue
		}
		if root, timed := f.root(uid); root != nil {
			made = append(made, &Target{
				GVK: o.GroupVersionKind(), Namespace: o.GetNamespace(), Name: o.GetName(), UID: uid, Root: root,
				owner: f.owners[uid], timed: timed, template: templateOf(o, f.owners[uid]),
			})
		}
	}
	return made
}

// root follows the owners to a given object; nil if they lead to none. timed says that the object, or an owner on the
// way, comes and goes with time.
func (f family) root(uid string) (root *Target, timed bool) {
	for range 16 { // owners may form a cycle
		timed = timed || f.timed(uid)
		owner, ok := f.owners[uid]
		if !ok {
			return nil, false
		}
		if root := f.given[owner]; root != nil {
			return root, timed
		}
		if f.foreign(owner) {
			return nil, false
		}
		uid = owner
	}
	return nil, false
}

func (f family) foreign(uid string) bool { return f.elsewhere != nil && f.elsewhere(uid) }

func (f family) timed(uid string) bool {
	if t := f.hidden[uid]; t != nil {
		return t.timed
	}
	o := f.objects[uid]
	return o != nil && (scheduled(o.GetKind()) || expiring(o))
}

// scheduled reports whether objects of a kind create others on a schedule.
func scheduled(kind string) bool { return kind == "CronJob" }

// expiring reports whether an object is deleted some time after it has finished.
func expiring(o *unstructured.Unstructured) bool {
	_, has, _ := unstructured.NestedFieldNoCopy(o.Object, "spec", "ttlSecondsAfterFinished")
	return has && o.GetKind() == "Job"
}
