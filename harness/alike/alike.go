// Package alike compares what several API servers return for the same objects.
package alike

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/clusters/pauses"
	"github.com/rehearse-dev/rehearse/harness/assertions"
	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/scenarios/fieldpath"
)

// View is what one API server returns.
type View struct {
	// Name of the server in messages.
	Name   string
	Stream *history.Stream
	Scope  history.Scope
}

// looks is how often views are compared before a difference counts.
const looks = 4

var errRestless = errors.New("it changed between all looks")

// Compare reports where, at these paths, objects differ between the views, and which objects are not in all views: one
// line each. The error says why the comparison was impossible.
func Compare(ctx context.Context, views []View, paths []string) (differences []string, err error) {
	var parsed []fieldpath.Path
	for _, text := range paths {
		path, err := fieldpath.Parse(text)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, path)
	}
	again := pauses.Growing(50*time.Millisecond, time.Second)
	for n := 1; ; n++ {
		differences, err = look(ctx, views, parsed)
		decided := err == nil && len(differences) == 0 || err != nil && !errors.Is(err, errRestless)
		if decided || n == looks || !pauses.Wait(ctx, again) {
			return differences, err
		}
	}
}

// look compares every view with the first one.
func look(ctx context.Context, views []View, paths []fieldpath.Path) (differences []string, err error) {
	first, err := views[0].objects(ctx)
	if err != nil {
		return nil, err
	}
	for _, view := range views[1:] {
		other, err := view.objects(ctx)
		if err != nil {
			return nil, err
		}
		for key, one := range first {
			if other[key] == nil {
				differences = append(differences, fmt.Sprintf("%s is not there through %s", one.GetName(), view.Name))
				continue
			}
			lines := differ(one, other[key], paths)
			if len(lines) > 0 && one.GetResourceVersion() != other[key].GetResourceVersion() {
				return nil, fmt.Errorf("%s: %w", one.GetName(), errRestless)
			}
			if len(lines) > 0 {
				differences = append(differences,
					fmt.Sprintf("%s, %s -> %s: %s", one.GetName(), views[0].Name, view.Name, strings.Join(lines, "; ")))
			}
		}
		for key, one := range other {
			if first[key] == nil {
				differences = append(differences, fmt.Sprintf("%s is not there through %s", one.GetName(), views[0].Name))
			}
		}
	}
	slices.Sort(differences)
	return differences, nil
}

// objects returns the view's current objects, by namespace and name.
func (v View) objects(ctx context.Context) (map[[2]string]*unstructured.Unstructured, error) {
	if err := v.Stream.CatchUp(ctx, v.Scope); err != nil {
		return nil, fmt.Errorf("through %s: %w", v.Name, err)
	}
	all := map[[2]string]*unstructured.Unstructured{}
	for _, object := range v.Stream.View(v.Scope).Objects {
		all[[2]string{object.GetNamespace(), object.GetName()}] = object
	}
	return all, nil
}

func differ(one, other *unstructured.Unstructured, paths []fieldpath.Path) (lines []string) {
	for _, path := range paths {
		lines = append(lines, assertions.DifferenceAt(path, one, other)...)
	}
	return lines
}
