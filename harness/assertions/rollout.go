package assertions

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// RolledOut returns when all selected objects are rolled out, at least one, or at its timeout. If nothing shows
// whether an object is rolled out, the result is an error. It uses only the selection and Within of the Input's
// Assertion.
func RolledOut(ctx context.Context, in Input) Result {
	in.Assertion = scenarios.Assertion{
		Selection: in.Assertion.Selection, Within: in.Assertion.Within,
		Count: &scenarios.Count{All: true},
	}
	w := newWatcher(in, "rolledOut")
	w.rollout = true
	gvk := schema.FromAPIVersionAndKind(in.Assertion.APIVersion, in.Assertion.Kind)
	if !canRollOut(gvk) {
		return w.result(reports.Error, fmt.Sprintf("A %s is not rolled out: its status has no conditions.", gvk.Kind))
	}
	result := w.eventually(ctx)
	switch result.Status {
	case reports.Passed:
		result.Message += "\n" + w.rollouts()
	case reports.Failed:
		if unknown := w.unknown(); unknown != "" {
			result.Status = reports.Error
			result.Message += fmt.Sprintf("\nIt is unknown whether %s is rolled out: use eventually with "+
				"a match of its status.", unknown)
		}
	}
	return result
}

// canRollOut reports whether objects of a kind can show that they are rolled out. A built-in kind without conditions
// cannot.
func canRollOut(gvk schema.GroupVersionKind) bool {
	typed, err := scheme.Scheme.New(gvk)
	if rolloutOf(gvk) != nil || err != nil {
		return true
	}
	status, ok := reflect.TypeOf(typed).Elem().FieldByName("Status")
	if !ok || status.Type.Kind() != reflect.Struct {
		return false
	}
	_, ok = status.Type.FieldByName("Conditions")
	return ok
}

// rollouts describes the progress of the objects.
func (w *explainer) rollouts() string {
	var lines []string
	for i, c := range w.sorted() {
		if i == mostNamed {
			lines = append(lines, fmt.Sprintf("... and %d more", len(w.candidates)-i))
			break
		}
		lines = append(lines, fmt.Sprintf("%s: %s", c.object.GetName(), strings.Join(c.progress.has, ", ")))
	}
	return strings.Join(lines, "\n")
}

// unknown names the first object for which nothing shows whether it is rolled out; "" if another one certainly is not.
func (w *explainer) unknown() string {
	name := ""
	for _, c := range w.sorted() {
		switch {
		case c.progress.unknown && name == "":
			name = c.object.GetName()
		case !c.progress.unknown && !c.progress.done():
			return ""
		}
	}
	return name
}
