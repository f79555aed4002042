// Package readback compares the writes that an API server acknowledged with the objects that it has.
package readback

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// Acknowledged are the objects of one kind that the API server returned for accepted writes, the newest version of
// each.
type Acknowledged map[name]state

type name struct{ namespace, name string }

type state struct {
	uid     types.UID
	version string
}

// Add records the object that a write returned.
func (a Acknowledged) Add(object *unstructured.Unstructured) {
	at := name{object.GetNamespace(), object.GetName()}
	now := state{object.GetUID(), object.GetResourceVersion()}
	if before, ok := a[at]; !ok || before.uid != now.uid || older(before.version, now.version) {
		a[at] = now
	}
}

// older reports whether a resourceVersion is known to be older than another one.
func older(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order < 0
}

// Found is the result of reading the acknowledged objects.
type Found struct {
	// Later says that the objects cannot be read yet.
	Later bool
	// Objects is the number of acknowledged objects.
	Objects int
	// Lost are the acknowledged writes that are missing, one sentence each.
	Lost []string
	// Deleted is the number of the objects that were deleted since.
	Deleted int
}

// Find reads the objects with a consistent list, and compares them with the acknowledged ones. It retries the list
// until it succeeds or the context ends. After an error it is unknown of some objects whether they are lost; what it
// found is nevertheless right.
func (a Acknowledged) Find(ctx context.Context, source Source) (Found, error) {
	found := Found{Objects: len(a)}
	there := map[name]state{}
	for _, namespace := range a.namespaces() {
		listed, err := list(ctx, source.Client.Namespace(namespace))
		if err != nil {
			return found, err
		}
		maps.Copy(there, listed)
	}
	var gone []name
	for _, at := range slices.SortedFunc(maps.Keys(a), func(a, b name) int {
		return cmp.Or(cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.name, b.name))
	}) {
		now, is := there[at]
		switch wrote := a[at]; {
		case !is || now.uid != wrote.uid:
			gone = append(gone, at)
		case older(now.version, wrote.version):
			found.Lost = append(found.Lost, fmt.Sprintf("%s has resourceVersion %s, but a write was acknowledged with %s",
				at.name, now.version, wrote.version))
		}
	}
	switch {
	case len(gone) == 0:
		return found, nil
	case source.Stream == nil:
		return found, unwatched(gone, "there was no watch, since a component was down when the load began")
	}
	deletions, err := a.deletions(ctx, source, gone)
	if err != nil {
		return found, err
	}
	found.Deleted = len(gone)
	gone = slices.DeleteFunc(gone, func(at name) bool { return deletions[a[at].uid] })
	found.Deleted -= len(gone)
	if why := source.unseen(); why != "" && len(gone) > 0 {
		return found, unwatched(gone, why)
	}
	for _, at := range gone {
		found.Lost = append(found.Lost, at.name+" is not there, and the watch showed no deletion")
	}
	return found, nil
}

// unwatched is the error about objects that are not there, and may have been deleted while nobody watched.
func unwatched(gone []name, why string) error {
	named := make([]string, 0, mostLost)
	for _, at := range gone[:min(mostLost, len(gone))] {
		named = append(named, at.name)
	}
	text := strings.Join(named, ", ")
	if more := len(gone) - len(named); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Errorf("%s: not there, and it is unknown whether the writes are lost or somebody deleted the objects: %s",
		text, why)
}

// namespaces are the namespaces of the objects; only "" for a cluster-scoped kind.
func (a Acknowledged) namespaces() []string {
	all := map[string]bool{}
	for at := range a {
		all[at.namespace] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// String returns the text after the summary of a load.
func (f Found) String() string {
	text := ""
	switch {
	case f.Objects == 0:
	case f.Later:
		text = fmt.Sprintf("; %d written objects are read back after the next restart or transition", f.Objects)
	default:
		text = fmt.Sprintf("; %d written objects read back, acknowledged writes lost: %d", f.Objects, len(f.Lost))
	}
	if f.Deleted > 0 {
		text += fmt.Sprintf(", deleted by somebody: %d", f.Deleted)
	}
	return text
}

// mostLost is the maximum number of lost writes that Problems lists.
const mostLost = 5

// Problems lists the lost writes.
func (f Found) Problems() []string {
	var problems []string
	for i, one := range f.Lost {
		if i == mostLost {
			problems = append(problems, fmt.Sprintf("and %d more", len(f.Lost)-i))
			break
		}
		problems = append(problems, "an acknowledged write is lost: "+one)
	}
	return problems
}
