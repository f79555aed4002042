package assertions

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/rehearse-dev/rehearse/harness/history"
)

const mostSuggestions = 3

// suggestions names objects that may have been meant when none is in scope.
func (w *watcher) suggestions() string {
	if w.Window != nil {
		return "" // the current objects say nothing about that time
	}
	beside := w.Stream.View(history.Scope{Namespace: w.scope.Namespace}).Objects
	kind := described(w.assertion.Kind, history.Scope{Namespace: w.scope.Namespace})
	switch {
	case len(beside) == 0 && w.scope.Name == "" && w.scope.Selector == nil:
		return ""
	case len(beside) == 0:
		return fmt.Sprintf("There is no %s at all.\n", kind) + w.elsewhere()
	case w.scope.Name != "":
		return w.elsewhere() + similar(w.scope.Name, beside)
	default:
		return fmt.Sprintf("Without the labels there are %d: %s.\n", len(beside), labelled(beside))
	}
}

// elsewhere names another namespace in which there is an object of the wanted name.
func (w *watcher) elsewhere() string {
	if w.scope.Name == "" || w.scope.Namespace == "" {
		return ""
	}
	for _, object := range w.Stream.View(history.Scope{Name: w.scope.Name}).Objects {
		return fmt.Sprintf("There is one of that name in namespace %s.\n", object.GetNamespace())
	}
	return ""
}

func similar(name string, among []*unstructured.Unstructured) string {
	far := max(1, len(name)/3)
	var near []string
	for _, object := range among {
		if distance(name, object.GetName()) <= far {
			near = append(near, object.GetName())
		}
	}
	if len(near) == 0 {
		return ""
	}
	slices.SortStableFunc(near, func(a, b string) int { return cmp.Compare(distance(name, a), distance(name, b)) })
	near = slices.Compact(near)
	return fmt.Sprintf("Did you mean %s?\n", strings.Join(near[:min(mostSuggestions, len(near))], " or "))
}

func labelled(objects []*unstructured.Unstructured) string {
	var parts []string
	for _, object := range objects[:min(mostSuggestions, len(objects))] {
		parts = append(parts, fmt.Sprintf("%s {%s}", object.GetName(), labels.Set(object.GetLabels())))
	}
	if len(objects) > mostSuggestions {
		parts = append(parts, "...")
	}
	return strings.Join(parts, ", ")
}

// distance is the number of letters to insert, delete, replace or swap with their neighbour to get from one word to the
// other.
func distance(a, b string) int {
	var before []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			replace := row[j]
			if a[i] != b[j] {
				replace++
			}
			next[j+1] = min(replace, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}
