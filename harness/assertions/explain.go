package assertions

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/harness/matching"
	"github.com/rehearse-dev/rehearse/reports"
)

// explainer describes what the judge has found.
type explainer struct {
	*judge
	verb string
	pin  pin
}

func (w *watcher) result(status reports.Status, message string, body ...string) Result {
	text := fmt.Sprintf("%s: %s%s. %s", w.verb, w.wanted(), w.Window.phrase(), message)
	for _, part := range body {
		if part != "" {
			text += "\n" + strings.TrimRight(part, "\n")
		}
	}
	return Result{Status: status, Message: text, DecidedAt: w.Clock.Now()}
}

// held is the result of an assertion that became true, by a change at that time or at a look.
func (w *watcher) held(at time.Time) Result {
	message := "It was true at the first check."
	if !at.IsZero() {
		message = fmt.Sprintf("It became true after %s.", strings.TrimPrefix(w.since(at), "+"))
	}
	r := w.result(reports.Passed, message)
	if missed := w.unobserved(); missed > 0 {
		r.Note = mayHaveMissed(missed)
	}
	r.EventAt = at
	w.show(&r)
	return r
}

// show adds the objects that the result is based on.
func (w *explainer) show(r *Result) {
	r.Objects = []*unstructured.Unstructured{}
	for _, c := range w.sorted() {
		r.Objects = append(r.Objects, c.object)
	}
	if hits := w.matching(); len(hits) > 0 {
		r.Object = hits[0].object
		r.Evidence = identity(r.Object)
	}
}

// heldThroughout is the result of an assertion that was true of every state that was seen, or of none, as wanted.
func (w *watcher) heldThroughout(wanted bool, length time.Duration) Result {
	if why := w.incomplete(); why != "" {
		return w.result(reports.Error, why, w.gaps())
	}
	if w.vacuous() {
		return w.result(reports.Failed, w.vacuity(), w.suggestions(), w.gaps())
	}
	r := w.result(reports.Passed, fmt.Sprintf("Held: %s, %s.", w.words(w.Stream.Resource().Resource), length), w.gaps())
	if wanted {
		w.show(&r)
	}
	return r
}

// couldNotLook is the result if nothing can be decided.
func (w *watcher) couldNotLook(ctx context.Context, err error) Result {
	if ctx.Err() != nil {
		return w.result(reports.Error, fmt.Sprintf("Interrupted at %s before it was decided: %v.", w.since(w.Clock.Now()),
			context.Cause(ctx)))
	}
	message := fmt.Sprintf("Could not check: %v.", err)
	if w.began.IsZero() {
		return w.result(reports.Error, message)
	}
	return w.result(reports.Error, message, fmt.Sprintf("First check at %s, gave up at %s.", w.since(w.began),
		w.since(w.Clock.Now())), w.gaps(), w.situation())
}

// failed is the result if something else was seen than was wanted. change is the change that caused it; nil if none
// did.
func (w *watcher) failed(ctx context.Context, what string, change *history.Change) Result {
	if ctx.Err() != nil {
		// The interrupt may have caused what looked wrong.
		return w.couldNotLook(ctx, ctx.Err())
	}
	if err := w.doubt(); err != nil {
		return w.couldNotLook(ctx, err)
	}
	body := []string{w.situation()}
	focus := w.focus()
	if focus != nil {
		body = append(body, w.times(focus.GetNamespace(), focus.GetName()), dying(focus), w.pending(ctx, focus))
	}
	said := focus == nil && change != nil && change.Name == w.scope.Name // the situation lists its changes
	if change != nil && !said && (focus == nil || change.Namespace != focus.GetNamespace() ||
		change.Name != focus.GetName()) {
		body = append(body, w.times(change.Namespace, change.Name))
	}
	r := w.result(reports.Failed, what, append(body, w.gaps())...)
	if change != nil {
		r.EventAt = change.At
	}
	if focus != nil {
		r.Evidence = toYAML(focus)
	}
	if change != nil {
		what = "" // it is about one object
	}
	r.Problems = w.problems(ctx, what)
	return r
}

// problems has one for each object that does not match, if each of them must: the failure of one may have a reason that
// those of others do not have. what holds for all of them.
func (w *watcher) problems(ctx context.Context, what string) []reports.Outcome {
	failing := w.closest()
	missing, must := w.mustAllMatch()
	if _, about := w.aboutAll(failing); !must || about || len(failing) == 0 || len(failing)+missing < 2 {
		return nil
	}
	var all []reports.Outcome
	add := func(evidence, format string, args ...any) {
		message := strings.TrimSpace(w.verb + ": " + what + "\n" + fmt.Sprintf(format, args...))
		all = append(all, reports.Outcome{Status: reports.Failed, Message: message, Evidence: evidence})
	}
	if missing > 0 {
		add("", "there must be %d more", missing)
	}
	for _, c := range failing[:min(mostNamed, len(failing))] { // more would take long, and say the same
		add(toYAML(c.object), "%s:\n%s%s%s", c.object.GetName(), indented(w.difference(c)), dying(c.object),
			w.pending(ctx, c.object))
	}
	return all
}

// mustAllMatch reports whether each of the objects must match, and how many more there must be.
func (w *explainer) mustAllMatch() (missing int, must bool) {
	count := w.assertion.Count
	switch {
	case count == nil || w.tooMany(len(w.matching())):
		return 0, false
	case count.All:
		return 0, true
	case count.Min == nil || len(w.candidates) > *count.Min:
		return 0, false
	}
	return *count.Min - len(w.candidates), true
}

// dying says that an object is being deleted, and which finalizers keep it.
func dying(object *unstructured.Unstructured) string {
	if object.GetDeletionTimestamp() == nil {
		return ""
	}
	if finalizers := object.GetFinalizers(); len(finalizers) > 0 {
		return fmt.Sprintf("%s is being deleted; these finalizers keep it: %s.", object.GetName(),
			strings.Join(finalizers, ", "))
	}
	return fmt.Sprintf("%s is being deleted.", object.GetName())
}

// focus returns the object that a failure is about: one that matches but should not, or the closest one.
func (w *explainer) focus() *unstructured.Unstructured {
	if hits := w.matching(); len(hits) > 0 && w.tooMany(len(hits)) {
		return hits[0].object
	}
	if failing := w.closest(); len(failing) > 0 {
		return failing[0].object
	}
	if hits := w.matching(); len(hits) > 0 {
		return hits[0].object
	}
	return nil
}

// tooMany reports whether fewer matching objects were wanted.
func (w *explainer) tooMany(n int) bool {
	if w.verb == "never" {
		return true
	}
	count := w.assertion.Count
	return w.assertion.Absent || count != nil && count.Max != nil && n > *count.Max
}

// situation describes the current objects, to explain why they are not as wanted.
func (w *watcher) situation() string {
	var b strings.Builder
	if len(w.candidates) == 0 {
		fmt.Fprintf(&b, "There is no %s.\n", described(w.assertion.Kind, w.scope))
		b.WriteString(w.suggestions() + w.gone() + w.times(w.scope.Namespace, w.scope.Name) + w.wish())
		return b.String()
	}
	hits := w.matching()
	if w.rollout {
		fmt.Fprintf(&b, "%d of %d are rolled out", len(hits), len(w.candidates))
	} else {
		b.WriteString(counted(len(w.candidates), len(hits), w.undecided))
	}
	if len(hits) > 0 {
		fmt.Fprintf(&b, ": %s", names(hits))
	}
	b.WriteString(".\n")
	b.WriteString(w.differences(w.tooMany(len(hits))))
	return b.String()
}

// A message describes mostDescribed candidates that do not match, those after the first in mostLines lines, and names
// mostNamed more.
const (
	mostDescribed = 5
	mostLines     = 4
	mostNamed     = 100
)

// differences describes what each candidate lacks to match, the closest first. If fewer were wanted, it describes
// only the undecided candidates.
func (w *explainer) differences(tooMany bool) string {
	failing := w.closest()
	if text, about := w.aboutAll(failing); about && !tooMany {
		return text
	}
	if tooMany {
		failing = slices.DeleteFunc(failing, func(c *candidate) bool { return c.stale == "" })
	}
	var b strings.Builder
	for i, c := range failing[:min(mostDescribed, len(failing))] {
		lines := strings.Split(strings.TrimRight(w.difference(c), "\n"), "\n")
		if more := len(lines) - mostLines; i > 0 && more > 1 {
			lines = append(lines[:mostLines], fmt.Sprintf("... and %d more", more))
		}
		fmt.Fprintf(&b, "%s:\n%s", c.object.GetName(), indented(strings.Join(lines, "\n")+"\n"))
	}
	if more := failing[min(mostDescribed, len(failing)):]; len(more) > 0 {
		fmt.Fprintf(&b, "... and %d more that do not match: %s\n", len(more), names(more))
	}
	return b.String()
}

// closest returns the candidates that do not match, the closest first: with the fewest values that differ, and then
// with the fewest conditions that are false.
func (w *explainer) closest() []*candidate {
	failing := w.failing()
	asked := slices.IndexFunc(failing, func(c *candidate) bool { return c.differs })
	if asked < 0 {
		asked = len(failing)
	}
	if asked > mostNamed {
		return failing // too many to ask why
	}
	lacks := map[*candidate]int{}
	for _, c := range failing[:asked] {
		lacks[c] = strings.Count(w.because(c), "\n")
	}
	slices.SortStableFunc(failing[:asked], func(a, b *candidate) int { return cmp.Compare(lacks[a], lacks[b]) })
	return failing
}

func counted(total, hits, undecided int) string {
	switch {
	case undecided > 0 && total == 1:
		return "There is 1 candidate, and its status is not current"
	case undecided > 0:
		return fmt.Sprintf("There are %d candidates, %d of them match, and the status of %d is not current", total, hits,
			undecided)
	case total == 1 && hits == 0:
		return "There is 1 candidate, it does not match"
	case total == 1:
		return "There is 1 candidate, it matches"
	case hits == 0:
		return fmt.Sprintf("There are %d candidates, none matches", total)
	case hits == total:
		return fmt.Sprintf("There are %d candidates, all match", total)
	default:
		return fmt.Sprintf("There are %d candidates, %d of them match", total, hits)
	}
}

func (w *explainer) difference(c *candidate) string {
	switch {
	case c.progress != nil:
		return strings.Join(c.progress.lacks, ", ") + "\n"
	case c.stale != "":
		return c.stale + ": not judged before its controller has updated it (\"stale: allowed\" takes it as it is)\n"
	case c.differs:
		return matching.Diff(w.assertion.Match, c.object.Object)
	case c.celError != nil:
		return fmt.Sprintf("cel: %s\n  could not be evaluated: %v\n", w.assertion.CEL, c.celError)
	default:
		return fmt.Sprintf("cel: %s\n  is false\n", w.assertion.CEL) + w.because(c)
	}
}

// aboutAll describes what an expression about all objects together lacks. It returns false if the expression is about
// each of them, or if something else failed.
func (w *explainer) aboutAll(failing []*candidate) (string, bool) {
	if !w.usesAll || w.usesEach || len(failing) == 0 {
		return "", false
	}
	for _, c := range failing {
		if c.differs || c.stale != "" || c.progress != nil || c.celError != nil {
			return "", false
		}
	}
	return fmt.Sprintf("They are: %s.\n%s", names(w.sorted()), w.difference(failing[0])), true
}

// because explains why the expression is false for a candidate.
func (w *explainer) because(c *candidate) string {
	if w.why == nil {
		return ""
	}
	why := w.why(w.assertion.CEL, w.variables(c, w.all))
	if why == "" {
		return ""
	}
	return indented(why + "\n")
}

// wish shows what was wanted of an object if there is none to compare with.
func (w *explainer) wish() string {
	wish := map[string]any{}
	if len(w.assertion.Match) > 0 {
		wish["match"] = w.assertion.Match
	}
	if w.assertion.CEL != "" {
		wish["cel"] = w.assertion.CEL
	}
	if len(wish) == 0 {
		return ""
	}
	return "Expected:\n" + indented(toYAML(wish))
}

func identity(object *unstructured.Unstructured) string {
	name := object.GetName()
	if object.GetNamespace() != "" {
		name = object.GetNamespace() + "/" + name
	}
	return fmt.Sprintf("%s %s at resourceVersion %s", object.GetKind(), name, object.GetResourceVersion())
}

func names(candidates []*candidate) string {
	var list []string
	for _, c := range candidates[:min(mostNamed, len(candidates))] {
		list = append(list, c.object.GetName())
	}
	if more := len(candidates) - mostNamed; more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(list, ", ")
}

func toYAML(v any) string {
	if object, ok := v.(*unstructured.Unstructured); ok {
		v = object.Object
	}
	text, err := yaml.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%v\n", v)
	}
	return string(text)
}

func indented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString("  " + line)
	}
	return b.String()
}
