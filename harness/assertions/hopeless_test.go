package assertions

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/expressions"
)

// An assertion that requires a uid that is gone fails at once, without any time passing. Otherwise it waits.
func TestWhatCannotComeAnyMore(t *testing.T) {
	for name, c := range map[string]struct {
		before, change func(*fixture)
		ready          bool
		want           string
	}{
		"deleted": {change: func(f *fixture) { f.delete("web") }, want: "Service web with the uid UID is gone."},
		"recreated": {
			before: func(f *fixture) { f.delete("web"); f.put("web", "ready", true) },
			want:   "another with the uid uid-2 has its name",
		},
		"it came":    {change: func(f *fixture) { f.put("web", "ready", true) }, ready: true},
		"gone first": {before: func(f *fixture) { f.delete("web") }, want: "Service web with the uid UID is gone."},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.put("web", "ready", false)
			f.observe()
			uid := string(f.recorder.Stream(services).View(history.Scope{}).Objects[0].GetUID())
			assertion := scenarios.Assertion{
				Selection: named("web"),
				Match:     map[string]any{"metadata": map[string]any{"uid": uid}, "ready": true},
			}
			if c.before != nil {
				c.before(f)
			}
			r := f.begun(Eventually, assertion)
			if c.change != nil {
				c.change(f)
			}
			result := <-r.result
			if c.ready {
				check(t, result, reports.Passed)
				return
			}
			check(t, result, reports.Failed)
			if want := strings.ReplaceAll(c.want, "UID", uid); !strings.Contains(result.Message,
				"It can no longer become true: ") || !strings.Contains(result.Message, want) {
				t.Errorf("no %q in\n%s", want, result.Message)
			}
		})
	}
}

// A deletion is not undone: an assertion that requires an object without deletionTimestamp fails at once.
func TestWhatIsGoingStaysSo(t *testing.T) {
	f := newFixture(t)
	f.put("web", "ready", false)
	f.observe()
	before := f.recorder.Stream(services).View(history.Scope{}).Objects[0]
	r := f.begun(Eventually, scenarios.Assertion{Selection: named("web"), Match: map[string]any{
		"metadata": map[string]any{"uid": string(before.GetUID()), "deletionTimestamp": nil}, "ready": true,
	}})
	going := before.DeepCopy()
	going.SetDeletionTimestamp(&metav1.Time{Time: f.clock.Now()})
	f.server.Put(services.Resource, going.Object)
	result := <-r.result
	check(t, result, reports.Failed)
	if want := "It can no longer become true: Service web is being deleted"; !strings.Contains(result.Message, want) {
		t.Errorf("no %q in\n%s", want, result.Message)
	}
}

// A uid and a generation that an expression requires count like those of match.
func TestWhatAnExpressionPins(t *testing.T) {
	for name, c := range map[string]struct {
		cel  string
		want string
	}{
		"another uid":         {"object.metadata.uid == 'uid-0'", "Service web with the uid uid-0 is gone"},
		"this uid":            {"object.metadata.uid == 'UID' && object.ready", ""},
		"a passed generation": {"object.metadata.uid == 'UID' && object.metadata.generation == 1", "is already 2"},
		"a later generation":  {"object.metadata.uid == 'UID' && object.metadata.generation == 3", ""},
		"not this uid":        {"object.metadata.uid != 'UID'", ""},
		"one of two":          {"object.metadata.uid == 'uid-0' || object.ready", ""},
		"a generation alone":  {"object.metadata.generation == 1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.put("web", "ready", false)
			f.observe()
			stored := f.recorder.Stream(services).View(history.Scope{}).Objects[0].DeepCopy()
			stored.SetGeneration(2)
			f.server.Put(services.Resource, stored.Object)
			f.settle()
			evaluator, selection := expressions.New(), named("web")
			selection.Kind = "Service"
			w := newWatcher(Input{
				Assertion: scenarios.Assertion{
					Selection: selection, CEL: strings.ReplaceAll(c.cel, "UID", string(stored.GetUID())),
				},
				Stream: f.stream, Scope: history.Scope{Namespace: "x", Name: "web"}, Clock: f.clock,
				CEL: func(expression string, variables map[string]any) (bool, error) {
					return evaluator.EvalBool(expression, variables)
				},
				Wants: func(expression, part string) any { return evaluator.Wants(expression, part, nil) },
			}, "eventually")
			golden.Must(t, w.look(t.Context()))
			if why := w.hopeless(); !strings.Contains(why, c.want) || (why == "") != (c.want == "") {
				t.Errorf("got %q, want %q", why, c.want)
			}
		})
	}
}

// An object of that name in another namespace does not mean that the one with the uid is gone.
func TestSameNameInTwoNamespaces(t *testing.T) {
	f := newFixture(t)
	for _, namespace := range []string{"a", "x", "z"} {
		f.server.Put(services.Resource, service(namespace, "web", "ready", false))
	}
	f.observe()
	for _, object := range f.recorder.Stream(services).View(history.Scope{}).Objects {
		uid := string(object.GetUID())
		w := newWatcher(Input{Assertion: scenarios.Assertion{
			Selection: named("web"), Match: map[string]any{"metadata": map[string]any{"uid": uid}, "ready": true},
		}, Stream: f.stream, Scope: history.Scope{Name: "web"}, Clock: f.clock}, "eventually")
		golden.Must(t, w.look(t.Context()))
		if why := w.hopeless(); why != "" {
			t.Errorf("%s: %s", object.GetNamespace(), why)
		}
		f.server.Delete(services.Resource, object.GetNamespace(), "web")
		f.settle()
		golden.Must(t, w.look(t.Context()))
		if why := w.hopeless(); !strings.Contains(why, "with the uid "+uid+" is gone") {
			t.Errorf("%s: %q", object.GetNamespace(), why)
		}
	}
}

// An assertion that does not require a certain object, or whose object exists, may still become true.
func TestWhatMayStillCome(t *testing.T) {
	f := newFixture(t)
	f.put("web", "ready", false)
	f.observe()
	uid := string(f.recorder.Stream(services).View(history.Scope{}).Objects[0].GetUID())
	match := map[string]any{"metadata": map[string]any{"uid": uid}, "ready": true}
	for name, assertion := range map[string]scenarios.Assertion{
		"any name":  {Match: match},
		"absent":    {Selection: named("web"), Match: match, Absent: true},
		"any uid":   {Selection: named("web"), Match: map[string]any{"ready": true}},
		"the right": {Selection: named("web"), Match: match},
	} {
		w := newWatcher(Input{Assertion: assertion, Stream: f.stream, Scope: history.Scope{
			Namespace: "x",
			Name:      assertion.Name,
		}, Clock: f.clock}, "eventually")
		golden.Must(t, w.look(t.Context()))
		if why := w.hopeless(); why != "" {
			t.Errorf("%s: %s", name, why)
		}
	}
}
