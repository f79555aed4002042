// Package alike compares what several API servers showed of the same objects.
package alike

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/harness/assertions"
	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/scenarios/fieldpath"
)

// View is what one API server showed in a time in which its objects did not change.
type View struct {
	// Name of the server in messages.
	Name   string
	Stream *history.Stream
	Scope  history.Scope
	// Since is the number of the last change before the time. Objects that are created later do not count. Until is the
	// number of the last change in the time.
	Since, Until int64
}

var errDropped = errors.New("what was there is no longer kept in memory")

// Compare reports where, at these paths, objects differ between the views, and which objects are not in all views: one
// line each. It compares what was there at the end of the time: within it, each view showed the same. The error says
// why the comparison was impossible.
func Compare(views []View, paths []string) (differences []string, err error) {
	var parsed []fieldpath.Path
	for _, text := range paths {
		path, err := fieldpath.Parse(text)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, path)
	}
	ids := map[id]bool{}
	shown := make([]map[id]*unstructured.Unstructured, len(views))
	for _, view := range views {
		before, err := view.at(view.Since, view.Scope)
		if err != nil {
			return nil, err
		}
		for key := range before {
			ids[key] = true
		}
	}
	for i, view := range views {
		var err error
		if shown[i], err = view.later(ids); err != nil {
			return nil, err
		}
	}
	for i, view := range views[1:] {
		for key := range ids {
			one, other := shown[0][key], shown[i+1][key]
			switch {
			case one == nil && other == nil:
				return nil, fmt.Errorf("%s was not there at the end of the time", key[1])
			case one == nil:
				differences = append(differences, fmt.Sprintf("%s is not there through %s", key[1], views[0].Name))
			case other == nil:
				differences = append(differences, fmt.Sprintf("%s is not there through %s", key[1], view.Name))
			default:
				if lines := differ(one, other, parsed); len(lines) > 0 {
					differences = append(differences,
						fmt.Sprintf("%s, %s -> %s: %s", key[1], views[0].Name, view.Name, strings.Join(lines, "; ")))
				}
			}
		}
	}
	slices.Sort(differences)
	return slices.Compact(differences), nil
}

// id is the namespace and the name of an object.
type id [2]string

// at returns the objects that were there after a change, by namespace and name.
func (v View) at(seq int64, scope history.Scope) (map[id]*unstructured.Unstructured, error) {
	objects, dropped := v.Stream.At(seq, scope)
	if dropped > 0 {
		return nil, fmt.Errorf("through %s: %w", v.Name, errDropped)
	}
	all := map[id]*unstructured.Unstructured{}
	for _, object := range objects {
		all[id{object.GetNamespace(), object.GetName()}] = object
	}
	return all, nil
}

// later returns the objects as they were at the end of the time. They stay the same objects, even if their labels
// change.
func (v View) later(ids map[id]bool) (map[id]*unstructured.Unstructured, error) {
	all := map[id]*unstructured.Unstructured{}
	for key := range ids {
		one, err := v.at(v.Until, history.Scope{Namespace: key[0], Name: key[1]})
		if err != nil {
			return nil, err
		}
		maps.Copy(all, one)
	}
	return all, nil
}

func differ(one, other *unstructured.Unstructured, paths []fieldpath.Path) (lines []string) {
	for _, path := range paths {
		lines = append(lines, assertions.DifferenceAt(path, one, other)...)
	}
	return lines
}
