package assertions

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/harness/matching"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// mostBroken is how many objects that did not stay the same a message describes.
const mostBroken = 5

// Unchanged decides, over the Input's Window, whether the objects that were in the Scope when it began were there all through it with what was
// at the paths. The Assertion's Kind is what messages call them.
func Unchanged(ctx context.Context, in Input, paths []string) Result {
	u := &unchanged{watcher: newWatcher(in, "unchanged"), texts: paths}
	for _, text := range paths {
		path, err := scenarios.ParseFieldPath(text)
		if err != nil {
			return u.say(reports.Error, fmt.Sprintf("%v.", err))
		}
		u.paths = append(u.paths, path)
	}
	if err := u.begin(); err != nil {
		return u.couldNot(ctx, err)
	}
	if len(u.kept) == 0 {
		return u.say(reports.Failed, fmt.Sprintf("There was no %s when %q began: nothing could stay.", described(u.Assertion.Kind, u.Scope), u.Window.First))
	}
	// Whatever labels they get, they are the same objects.
	everything := history.Scope{Namespace: u.Scope.Namespace, Name: u.Scope.Name}
	for change := range u.Stream.Replay(u.Window.Begin.Seq, u.Window.End.Seq, everything) {
		if ctx.Err() != nil {
			return u.couldNot(ctx, ctx.Err())
		}
		u.see(change)
	}
	return u.verdict(ctx)
}

type unchanged struct {
	*watcher
	texts []string
	paths []scenarios.FieldPath
	kept  map[[2]string]*kept
	order []*kept
	// broken are those that did not stay the same, in the order in which that came out.
	broken []*kept
}

// kept is an object that must stay as it is.
type kept struct {
	object *unstructured.Unstructured
	values [][]any
	// seen says at which paths there ever was something.
	seen []bool
	// how it did not stay the same, and the object then.
	how    string
	change history.Change
}

func (u *unchanged) begin() error {
	if u.Window.Begin.Err != nil {
		return u.Window.couldNotBegin()
	}
	objects, dropped := u.Stream.At(u.Window.Begin.Seq, u.Scope)
	if dropped > 0 {
		return fmt.Errorf("%d of the states that there were when %q began are no longer kept in memory", dropped, u.Window.First)
	}
	u.kept = map[[2]string]*kept{}
	for _, object := range objects {
		k := &kept{object: object}
		for _, path := range u.paths {
			values := path.Values(object.Object)
			k.values, k.seen = append(k.values, values), append(k.seen, len(values) > 0)
		}
		u.kept[[2]string{object.GetNamespace(), object.GetName()}] = k
		u.order = append(u.order, k)
	}
	return nil
}

// see compares an object with what it was, unless it is known already not to be the same.
func (u *unchanged) see(change history.Change) {
	k := u.kept[[2]string{change.Namespace, change.Name}]
	switch {
	case k == nil || k.how != "":
		return
	case change.Type == history.Deleted:
		k.how = "was deleted"
	case change.Object == nil:
		u.skipped++
		return
	default:
		k.how = u.compare(k, change.Object)
	}
	if k.how != "" {
		k.change = change
		u.broken = append(u.broken, k)
	}
}

func (u *unchanged) compare(k *kept, object *unstructured.Unstructured) string {
	var b strings.Builder
	for i, path := range u.paths {
		values := path.Values(object.Object)
		k.seen[i] = k.seen[i] || len(values) > 0
		if !same(k.values[i], values) {
			fmt.Fprintf(&b, "\n%s", indented(fmt.Sprintf("%s\n%s", u.texts[i], indented(difference(k.values[i], values)))))
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "changed: (- before, + after)" + strings.TrimRight(b.String(), "\n")
}

func same(before, after []any) bool {
	return len(before) == len(after) && (len(before) == 0 || reflect.DeepEqual(before, after))
}

// difference shows what is at a path before and after: where both have fields, only those that differ.
func difference(before, after []any) string {
	if len(before) == 1 && len(after) == 1 {
		if text := matching.Diff(before[0], after[0]); text != "" {
			return text
		}
	}
	return fmt.Sprintf("- %s\n+ %s\n", listed(before), listed(after))
}

func listed(values []any) string {
	if len(values) == 0 {
		return "(nothing)"
	}
	var texts []string
	for _, value := range values {
		text, err := json.Marshal(value)
		if err != nil {
			text = fmt.Append(nil, value)
		}
		texts = append(texts, string(text))
	}
	return strings.Join(texts, ", ")
}

func (u *unchanged) verdict(ctx context.Context) Result {
	switch {
	case ctx.Err() != nil:
		return u.couldNot(ctx, ctx.Err())
	case len(u.broken) > 0:
		return u.failure()
	case u.Window.End.Err != nil:
		return u.couldNot(ctx, u.Window.couldNotEnd())
	}
	for i, text := range u.texts {
		there := false
		for _, k := range u.order {
			there = there || k.seen[i]
		}
		if !there {
			return u.say(reports.Failed, fmt.Sprintf("At no time was there anything at %s in any of them: nothing was compared.", text))
		}
	}
	message := "They stayed"
	if len(u.order) == 1 {
		message = fmt.Sprintf("%s stayed", u.order[0].object.GetName())
	}
	if missed := u.unobserved(); missed > 0 {
		message += fmt.Sprintf(" (held at every observation; unobserved for %s)", missed.Round(time.Millisecond))
	}
	if u.skipped > 0 {
		message += " (held at every observation; some states were dropped from memory before they could be judged)"
	}
	return u.say(reports.Passed, fmt.Sprintf("%s as they were for %s.", message, u.Window.End.At.Sub(u.Window.Begin.At).Round(time.Millisecond)), u.gaps())
}

func (u *unchanged) failure() Result {
	first := u.broken[0]
	parts := make([]string, 0, mostBroken+3)
	for _, k := range u.broken[:min(mostBroken, len(u.broken))] {
		parts = append(parts, fmt.Sprintf("%s at %s%s%s: %s", k.object.GetName(), u.since(k.change.At), u.Window.during(k.change.Seq), found(k.change), k.how))
	}
	if more := len(u.broken) - mostBroken; more > 0 {
		parts = append(parts, fmt.Sprintf("... and %d more", more))
	}
	u.seq = u.Window.End.Seq
	parts = append(parts, u.times(first.change.Namespace, first.change.Name), u.gaps())
	result := u.say(reports.Failed, fmt.Sprintf("%d of %d did not stay as they were.", len(u.broken), len(u.order)), parts...)
	result.EventAt = first.change.At
	if first.change.Object != nil {
		result.Evidence = toYAML(first.change.Object)
	}
	return result
}

func (u *unchanged) couldNot(ctx context.Context, err error) Result {
	if ctx.Err() != nil {
		return u.say(reports.Error, fmt.Sprintf("Interrupted before it was decided: %v.", context.Cause(ctx)))
	}
	return u.say(reports.Error, fmt.Sprintf("Could not look: %v.", err), u.gaps())
}

func (u *unchanged) say(status reports.Status, message string, parts ...string) Result {
	text := fmt.Sprintf("unchanged: every %s stays, with its %s%s. %s", described(u.Assertion.Kind, u.Scope), strings.Join(u.texts, ", "), u.Window.phrase(), message)
	for _, part := range parts {
		if part != "" {
			text += "\n" + strings.TrimRight(part, "\n")
		}
	}
	return Result{Status: status, Message: text, DecidedAt: u.Clock.Now()}
}
