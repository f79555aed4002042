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
	// Since is the number of the last change before the time that is judged. Objects that are created later do not count.
	Since int64
}

// looks is how often views are compared before a difference counts.
const looks = 4

var (
	errRestless = errors.New("it changed between all looks")
	errDropped  = errors.New("what was there when the time began is no longer kept in memory")
)

// Compare reports where, at these paths, objects differ between the views, and which objects are not in all views: one
// line each. A difference must be there at each look. The error says why the comparison was impossible.
func Compare(ctx context.Context, views []View, paths []string) (differences []string, err error) {
	var parsed []fieldpath.Path
	for _, text := range paths {
		path, err := fieldpath.Parse(text)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, path)
	}
	first, err := atFirst(views)
	if err != nil {
		return nil, err
	}
	times := map[string]int{}
	again := pauses.Growing(50*time.Millisecond, time.Second)
	for n := 1; ; n++ {
		now, err := look(ctx, views, first, parsed)
		if err != nil || len(now.differences)+len(now.restless) == 0 {
			return nil, err
		}
		for _, line := range now.differences {
			times[line]++
		}
		if n == looks {
			return now.lasting(times)
		}
		if !pauses.Wait(ctx, again) {
			return nil, fmt.Errorf("only %d of %d looks were possible: %w", n, looks, context.Cause(ctx))
		}
	}
}

// id is the namespace and the name of an object.
type id [2]string

func idOf(o *unstructured.Unstructured) id { return id{o.GetNamespace(), o.GetName()} }

// atFirst returns the objects that were in at least one view when the time began.
func atFirst(views []View) (map[id]bool, error) {
	all := map[id]bool{}
	for _, view := range views {
		objects, dropped := view.Stream.At(view.Since, view.Scope)
		if dropped > 0 {
			return nil, fmt.Errorf("through %s: %w", view.Name, errDropped)
		}
		for _, object := range objects {
			all[idOf(object)] = true
		}
	}
	return all, nil
}

// looked is what one look found: a line for each difference, and the names of the objects that changed between the
// views.
type looked struct{ differences, restless []string }

// lasting returns the differences that were there each time. If there is none, the last look decides nothing.
func (l looked) lasting(times map[string]int) ([]string, error) {
	var all []string
	for _, line := range l.differences {
		if times[line] == looks {
			all = append(all, line)
		}
	}
	if len(all) > 0 {
		return all, nil
	}
	return nil, fmt.Errorf("%s: %w", strings.Join(slices.Concat(l.restless, l.differences), ", "), errRestless)
}

// look compares every view with the first one.
func look(ctx context.Context, views []View, ids map[id]bool, paths []fieldpath.Path) (looked, error) {
	var now looked
	first, err := views[0].objects(ctx)
	if err != nil {
		return now, err
	}
	for _, view := range views[1:] {
		other, err := view.objects(ctx)
		if err != nil {
			return now, err
		}
		for key := range ids {
			a, b := first[key], other[key]
			switch {
			case a == nil && b == nil:
				continue
			case a == nil:
				now.differences = append(now.differences, fmt.Sprintf("%s is not there through %s", key[1], views[0].Name))
				continue
			case b == nil:
				now.differences = append(now.differences, fmt.Sprintf("%s is not there through %s", key[1], view.Name))
				continue
			}
			lines := differ(a, b, paths)
			switch {
			case len(lines) == 0:
			case a.GetResourceVersion() != b.GetResourceVersion():
				now.restless = append(now.restless, key[1])
			default:
				now.differences = append(now.differences,
					fmt.Sprintf("%s, %s -> %s: %s", key[1], views[0].Name, view.Name, strings.Join(lines, "; ")))
			}
		}
	}
	slices.Sort(now.differences)
	now.differences = slices.Compact(now.differences)
	slices.Sort(now.restless)
	now.restless = slices.Compact(now.restless)
	return now, nil
}

// objects returns the view's current objects, by namespace and name.
func (v View) objects(ctx context.Context) (map[id]*unstructured.Unstructured, error) {
	if err := v.Stream.CatchUp(ctx, v.Scope); err != nil {
		return nil, fmt.Errorf("through %s: %w", v.Name, err)
	}
	all := map[id]*unstructured.Unstructured{}
	for _, object := range v.Stream.View(v.Scope).Objects {
		all[idOf(object)] = object
	}
	return all, nil
}

func differ(one, other *unstructured.Unstructured, paths []fieldpath.Path) (lines []string) {
	for _, path := range paths {
		lines = append(lines, assertions.DifferenceAt(path, one, other)...)
	}
	return lines
}
