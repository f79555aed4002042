package assertions

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/harness/matching"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios/fieldpath"
)

// mostBroken is how many objects that did not stay the same a message describes.
const mostBroken = 5

// mostChanges is how many changes of each such object it describes.
const mostChanges = 20

// Unchanged decides, over the Input's Window, whether the objects that were in the Scope when it began existed
// throughout, with the same values at the paths. Messages call them by the Assertion's Kind.
func Unchanged(ctx context.Context, in Input, paths []string) Result {
	u := &unchanged{watcher: newWatcher(in, "unchanged"), texts: paths}
	for _, text := range paths {
		path, err := fieldpath.Parse(text)
		if err != nil {
			return u.say(reports.Error, fmt.Sprintf("%v.", err))
		}
		u.paths = append(u.paths, path)
	}
	if err := u.begin(); err != nil {
		return u.couldNot(ctx, err)
	}
	if len(u.kept) == 0 {
		return u.say(reports.Failed, fmt.Sprintf("There was no %s when %q began: there is nothing to compare.",
			described(u.Assertion.Kind, u.Scope), u.Window.First))
	}
	// They stay the same objects, even if their labels change.
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
	paths []fieldpath.Path
	kept  map[[2]string]*kept
	order []*kept
	// broken are those that did not stay the same, in the order in which that was found.
	broken []*kept
}

// kept is an object that must stay as it is.
type kept struct {
	object *unstructured.Unstructured
	places [][]fieldpath.Place
	// seen says at which paths there ever was a value.
	seen []bool
	// breaches are its changes at places where it had not changed before, and its deletion. changed are those places.
	breaches []breach
	changed  map[string]bool
	gone     bool
}

// breach is a change of an object that must stay as it is. how has an entry for each place.
type breach struct {
	change history.Change
	how    []string
}

func (u *unchanged) begin() error {
	if u.Window.Begin.Err != nil {
		return u.Window.couldNotBegin()
	}
	objects, dropped := u.Stream.At(u.Window.Begin.Seq, u.Scope)
	if dropped > 0 {
		return fmt.Errorf("%d of the states at the start of %q are no longer kept in memory", dropped,
			u.Window.First)
	}
	u.kept = map[[2]string]*kept{}
	for _, object := range objects {
		u.add(object)
		k := &kept{object: object, changed: map[string]bool{}}
		for _, path := range u.paths {
			places := path.Places(object.Object)
			k.places, k.seen = append(k.places, places), append(k.seen, something(places))
		}
		u.kept[[2]string{object.GetNamespace(), object.GetName()}] = k
		u.order = append(u.order, k)
	}
	return nil
}

// see compares an object with its first state, until it is deleted.
func (u *unchanged) see(change history.Change) {
	k := u.kept[[2]string{change.Namespace, change.Name}]
	if k == nil || k.gone {
		return
	}
	var how []string
	switch {
	case change.Type == history.Deleted:
		k.gone, how = true, []string{deletion}
	case change.Object == nil:
		u.skipped++
	default:
		u.add(change.Object)
		how = u.compare(k, change.Object)
	}
	if len(how) == 0 {
		return
	}
	if k.breaches = append(k.breaches, breach{change, how}); len(k.breaches) == 1 {
		u.broken = append(u.broken, k)
	}
}

// deletion is how an object that was deleted did not stay the same.
const deletion = "was deleted"

// compare describes what differs from the first state, a line for each place where it did not differ earlier.
func (u *unchanged) compare(k *kept, object *unstructured.Unstructured) []string {
	var lines []string
	for i, path := range u.paths {
		places := path.Places(object.Object)
		k.seen[i] = k.seen[i] || something(places)
		if reflect.DeepEqual(k.places[i], places) {
			continue
		}
		for _, change := range changesAt(path, k.object, object) {
			if !k.changed[change.Path] {
				k.changed[change.Path] = true
				lines = append(lines, change.String())
			}
		}
	}
	return lines
}

// describe says how an object did not stay the same.
func (b breach) describe() string {
	if b.how[0] == deletion {
		return deletion
	}
	text := "changed:"
	for _, line := range b.how[:min(mostChanges, len(b.how))] {
		text += "\n  " + line
	}
	if more := len(b.how) - mostChanges; more > 0 {
		text += fmt.Sprintf("\n  ... and %d more changes", more)
	}
	return text
}

// DifferenceAt describes what differs at a path of two objects, a line for each place.
func DifferenceAt(path fieldpath.Path, one, other *unstructured.Unstructured) []string {
	var lines []string
	for _, change := range changesAt(path, one, other) {
		lines = append(lines, change.String())
	}
	return lines
}

func changesAt(path fieldpath.Path, one, other *unstructured.Unstructured) []matching.Change {
	return changedPlaces(path.Places(matching.Normal(one.Object)), path.Places(matching.Normal(other.Object)))
}

// something reports whether one of the places has a value; null is none.
func something(places []fieldpath.Place) bool {
	return slices.ContainsFunc(places, func(place fieldpath.Place) bool { return place.Value != nil })
}

// changedPlaces compares what is at the same paths.
func changedPlaces(before, after []fieldpath.Place) []matching.Change {
	values := map[string]any{}
	for _, place := range after {
		values[place.Path] = place.Value
	}
	var changes []matching.Change
	for _, place := range before {
		changes = append(changes, matching.ChangesAt(place.Path, place.Value, values[place.Path])...)
		delete(values, place.Path)
	}
	for _, place := range after {
		if value, added := values[place.Path]; added {
			changes = append(changes, matching.ChangesAt(place.Path, nil, value)...)
		}
	}
	return changes
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
			return u.say(reports.Failed, fmt.Sprintf("There was never a value at %s in any of them: "+
				"nothing was compared.",
				text))
		}
	}
	if why := u.incomplete(); why != "" {
		return u.say(reports.Error, why, u.gaps())
	}
	length := u.Window.End.At.Sub(u.Window.Begin.At).Round(time.Millisecond)
	return u.say(reports.Passed, fmt.Sprintf("Held: %s, %s.", u.words(u.Stream.Resource().Resource), length), u.gaps())
}

func (u *unchanged) failure() Result {
	first := u.broken[0].breaches[0].change
	var parts []string
	for _, k := range u.broken[:min(mostBroken, len(u.broken))] {
		for _, b := range k.breaches[:min(mostBroken, len(k.breaches))] {
			parts = append(parts, u.when(k, b)+": "+b.describe())
		}
		if more := len(k.breaches) - mostBroken; more > 0 {
			parts = append(parts, fmt.Sprintf("... and %d later changes of %s at other places", more, k.object.GetName()))
		}
	}
	if more := len(u.broken) - mostBroken; more > 0 {
		parts = append(parts, fmt.Sprintf("... and %d more", more))
	}
	u.seq = u.Window.End.Seq
	parts = append(parts, u.times(first.Namespace, first.Name), u.gaps())
	result := u.say(reports.Failed, fmt.Sprintf("%d of %d did not stay unchanged.", len(u.broken), len(u.order)),
		parts...)
	result.EventAt = first.At
	if first.Object != nil {
		result.Evidence = toYAML(first.Object)
	}
	result.Problems = u.problems()
	return result
}

// when names an object, and the time when it did not stay the same.
func (u *unchanged) when(k *kept, b breach) string {
	return fmt.Sprintf("%s at %s%s%s", k.object.GetName(), u.since(b.change.At), u.Window.during(b.change.Seq),
		found(b.change))
}

// problems has one for each place of each object that did not stay the same.
func (u *unchanged) problems() []reports.Outcome {
	var all []reports.Outcome
	for _, k := range u.broken {
		for _, b := range k.breaches {
			for _, how := range b.how {
				if how != deletion {
					how = "changed: " + how
				}
				all = append(all, reports.Outcome{
					Status: reports.Failed, Message: "did not stay unchanged: " + u.when(k, b) + ": " + how,
				})
			}
		}
	}
	return reports.Several(all)
}

func (u *unchanged) couldNot(ctx context.Context, err error) Result {
	if ctx.Err() != nil {
		return u.say(reports.Error, fmt.Sprintf("Interrupted before it was decided: %v.", context.Cause(ctx)))
	}
	return u.say(reports.Error, fmt.Sprintf("Could not check: %v.", err), u.gaps())
}

func (u *unchanged) say(status reports.Status, message string, parts ...string) Result {
	text := fmt.Sprintf("unchanged: every %s stays, with its %s%s. %s", described(u.Assertion.Kind, u.Scope),
		strings.Join(u.texts, ", "), u.Window.phrase(), message)
	for _, part := range parts {
		if part != "" {
			text += "\n" + strings.TrimRight(part, "\n")
		}
	}
	return Result{Status: status, Message: text, DecidedAt: u.Clock.Now()}
}
