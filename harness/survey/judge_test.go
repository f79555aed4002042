package survey

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/harness/manifests"
	"github.com/rehearse-dev/rehearse/reports/upgrades"
)

func given(name string) *Target {
	content := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Service",
		"metadata": map[string]any{"name": name},
	}}
	return &Target{
		Given: &manifests.Object{Content: content, File: "a.yaml", Line: 1}, GVK: content.GroupVersionKind(),
		Name: name, UID: name,
	}
}

// told is a survey with these outcomes of the checks of Service a, one for each state.
func told(outcomes map[Check][]Outcome) *Survey {
	s := &Survey{answers: answers{series: map[key]*Series{}}}
	a := given("a")
	s.targets = []*Target{a}
	for check, list := range outcomes {
		for state, o := range list {
			s.state = state
			s.note(a, check, o)
		}
	}
	return s
}

func report() *upgrades.Report {
	return &upgrades.Report{Objects: 1, Path: []*upgrades.State{
		{Name: "1", Way: upgrades.Start, Reached: true},
		{Name: "2", Way: upgrades.Up, Reached: true},
		{Name: "1", Way: upgrades.Back, Reached: true},
		{Name: "2", Way: upgrades.Up, Reached: true},
	}}
}

func TestJudge(t *testing.T) {
	good, bad, unknown, changed := Outcome{Answer: Good}, Outcome{Answer: Bad, Words: "no"}, Outcome{
		Answer: Unknown,
		Words:  "503",
	}, Outcome{Answer: Changed, Words: "x is new"}
	warned := Outcome{Answer: Good, Words: "deprecated"}
	for _, test := range []struct {
		name     string
		check    Check
		outcomes []Outcome
		want     string // severity, hop, states and way back of each finding
		exit     int
	}{
		{"nothing", Label, []Outcome{good, good, good, good}, "", 0},
		{
			"the upgrade breaks it, the way back mends it", Label,
			[]Outcome{good, bad, good, bad},
			"breaks 1 -> 2 [1 3] the way back mends it", 1,
		},
		{
			"the way back does not mend it", Label,
			[]Outcome{good, bad, bad, bad},
			"breaks 1 -> 2 [1 2 3] the way back does not mend it", 1,
		},
		{
			"only the way back breaks it", Label,
			[]Outcome{good, good, bad, good},
			"breaks 2 -> 1 [2] going up again mends it",
			1,
		},
		{
			"it comes with the second upgrade", Label,
			[]Outcome{good, good, good, bad},
			"breaks 1 -> 2 [3] the way back was not rehearsed", 1,
		},
		{"broken before", Label, []Outcome{bad, bad, bad, bad}, "broken before 1 [0] ", 0},
		{
			"rejected before, accepted later", Label,
			[]Outcome{bad, bad, good, bad},
			"changes 2 -> 1 [2] \nbroken before 1 [0] ", 0,
		},
		{"a condition is lost", Condition, []Outcome{good, bad, good, bad}, "breaks 1 -> 2 [1 3] the way back mends it", 1},
		{"not judged at first, so never", Label, []Outcome{unknown, good, good, good}, "cannot be judged 1 [0] ", 3},
		{"not judged later", Label, []Outcome{good, unknown, good, good}, "cannot be judged 1 -> 2 [1] ", 3},
		{
			"whether it is mended could not be judged", Label,
			[]Outcome{good, bad, unknown, bad},
			"breaks 1 -> 2 [1 3] whether the way back mends it could not be judged\ncannot be judged 2 -> 1 [2] ", 1,
		},
		{"reads differently", Content, []Outcome{good, changed, good, changed}, "changes 1 -> 2 [1 3] ", 0},
		{"a new warning", Warning, []Outcome{good, warned, good, warned}, "changes 1 -> 2 [1 3] ", 0},
		{"a warning that was there before", Warning, []Outcome{warned, warned, warned, warned}, "", 0},
		{
			"pods are replaced at each hop", Moved,
			[]Outcome{good, bad, bad, bad},
			"breaks 1 -> 2 [1 2 3] the way back does it once more", 1,
		},
		{"it moves by itself", Moved, []Outcome{bad, bad, bad, bad}, "broken before 1 [0] ", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := report()
			told(map[Check][]Outcome{test.check: test.outcomes}).Judge(r)
			var got []string
			for _, f := range r.Findings {
				got = append(got, fmt.Sprintf("%s %s %v %s", f.Severity, f.Hop, f.States, f.Back))
			}
			if text := strings.Join(got, "\n"); text != test.want {
				t.Errorf("got\n%s\nwant\n%s", text, test.want)
			}
			if code := r.ExitCode(); code != test.exit {
				t.Errorf("exit code %d, want %d", code, test.exit)
			}
		})
	}
}

// Equal findings of several objects are one; the worst of several outcomes at a state counts.
func TestJudgeJoinsFindings(t *testing.T) {
	s := &Survey{answers: answers{series: map[key]*Series{}}, targets: []*Target{given("a"), given("b"), given("c")}}
	for state := range 4 {
		s.state = state
		for _, target := range s.targets {
			pod := func(name string) *Target {
				return &Target{
					GVK: schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, Name: target.Name + name,
					UID: target.UID + name, Root: target,
				}
			}
			s.note(pod("-1"), Label, Outcome{Answer: Good})
			if state == 1 && target.Name != "c" {
				s.note(pod("-2"), Label, Outcome{Answer: Bad, Words: fmt.Sprintf("Pod %q is invalid", target.Name+"-2")})
			}
			s.note(pod("-3"), Label, Outcome{Answer: Good})
		}
	}
	r := report()
	s.Judge(r)
	if len(r.Findings) != 1 || len(r.Findings[0].Objects) != 2 || r.Findings[0].Kind != "Pod of Service" {
		t.Fatalf("findings %+v", r.Findings)
	}
	if got, want := r.Sentence(), "1 -> 2 -> 1 -> 2: 1 object; 2 break, 0 change, 0 cannot be judged"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if cell := r.Matrix[0].Cells[1]; cell != (upgrades.Cell{Breaks: 2, Good: 1}) {
		t.Errorf("cell %+v", cell)
	}
}

// What was broken before is broken before at each state at which it still is.
func TestMatrixOfWhatWasBrokenBefore(t *testing.T) {
	good, bad := Outcome{Answer: Good}, Outcome{Answer: Bad, Words: "no"}
	r := report()
	told(map[Check][]Outcome{Label: {bad, bad, good, bad}}).Judge(r)
	var got []string
	for _, cell := range r.Matrix[0].Cells {
		got = append(got, fmt.Sprintf("%d before, %d good, %d changed", cell.Before, cell.Good, cell.Changes))
	}
	want := "1 before, 0 good, 0 changed; 1 before, 0 good, 0 changed; 0 before, 0 good, 1 changed; " +
		"1 before, 0 good, 0 changed"
	if text := strings.Join(got, "; "); text != want {
		t.Errorf("got %s, want %s", text, want)
	}
}

func TestCompared(t *testing.T) {
	type object = map[string]any
	for _, test := range []struct {
		name          string
		before, after object
		want          Answer
	}{
		{"equal", object{"a": object{"b": int64(1)}}, object{"a": object{"b": int64(1)}}, Good},
		{"null is absent", object{"a": nil}, object{}, Good},
		{"a new default", object{}, object{"a": int64(1)}, Changed},
		{"a field is gone", object{"a": int64(1)}, object{}, Bad},
		{"another value", object{"a": []any{"x"}}, object{"a": []any{"y"}}, Bad},
		{"a shorter list", object{"a": []any{"x", "y"}}, object{"a": []any{"x"}}, Bad},
		{
			"somebody wrote it",
			object{"metadata": object{"generation": int64(1)}},
			object{"metadata": object{"generation": int64(2)}},
			Changed,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := compared("Service", test.before, test.after); got.Answer != test.want {
				t.Errorf("got %+v, want answer %d", got, test.want)
			}
		})
	}
}

func TestKept(t *testing.T) {
	type object = map[string]any
	for _, test := range []struct {
		name          string
		before, after object
		want          Answer
	}{
		{"equal", object{"a": int64(1)}, object{"a": int64(1)}, Good},
		{"a default is added", object{}, object{"a": int64(1)}, Good},
		{"a field is dropped", object{"spec": object{"a": "x"}}, object{"spec": object{}}, Bad},
		{"a value is another one", object{"a": "x"}, object{"a": "y"}, Bad},
		{"a list is shorter", object{"a": []any{"x", "y"}}, object{"a": []any{"y"}}, Bad},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := kept("Pod", "a label", test.before, test.after)
			if got.Answer != test.want || (got.Answer == Bad) != strings.HasPrefix(got.Words, "a label changes ") {
				t.Errorf("got %+v, want answer %d", got, test.want)
			}
		})
	}
}

// What is secret is in no report, in whichever container it is.
func TestSecretsAreNotTold(t *testing.T) {
	env := func(value string) map[string]any {
		return map[string]any{"spec": map[string]any{"containers": []any{map[string]any{
			"name": "c",
			"env":  []any{map[string]any{"name": "PASSWORD", "value": value}},
		}}}}
	}
	for kind, objects := range map[string][2]map[string]any{
		"Secret": {{"data": map[string]any{"a": "hush1"}}, {"data": map[string]any{"a": "hush2"}}},
		"Pod":    {env("hush1"), env("hush2")},
	} {
		got := compared(kind, objects[0], objects[1])
		if got.Answer != Bad || strings.Contains(got.Words, "hush") {
			t.Errorf("%s: %+v", kind, got)
		}
	}
}

// All given objects are sent dry runs, and one of those that an owner made alike: of other fields, of another owner it
// is another one.
func TestSampled(t *testing.T) {
	a, b := given("a"), given("b")
	targets := []*Target{a, b}
	made := func(name string, root *Target, owner string, spec map[string]any) {
		o := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Pod", "spec": spec, "status": map[string]any{name: "x"},
		}}
		targets = append(targets, &Target{
			GVK: o.GroupVersionKind(), Name: name, Root: root, template: templateOf(o, owner),
		})
	}
	for i := range 5 {
		made(fmt.Sprint("a", i), a, "old", map[string]any{"x": fmt.Sprint(i)})
	}
	made("new", a, "new", map[string]any{"x": "1"})
	made("more", a, "new", map[string]any{"x": "1", "y": "1"})
	made("b0", b, "b", map[string]any{"x": "1"})
	s := &Survey{targets: []*Target{a, b}}
	var names []string
	for _, one := range s.sampled(targets) {
		names = append(names, one.Name)
	}
	if got, want := strings.Join(names, " "), "a b a0 new more b0"; got != want {
		t.Errorf("asked %q, want %q", got, want)
	}
}

// With --sample so many of one kind and shape are asked, with what belongs to them: the same ones at each state.
func TestSampleOfAShape(t *testing.T) {
	shaped := func(name string, content map[string]any) *Target {
		o := given(name)
		for key, value := range content {
			o.Given.Content.Object[key] = value
		}
		return o
	}
	a, b, c := shaped("a", map[string]any{"data": map[string]any{"x": "1"}}),
		shaped("b", map[string]any{"data": map[string]any{"y": "2"}}), shaped("c", map[string]any{
			"data": map[string]any{},
			"spec": map[string]any{"p": "3"},
		})
	pod := &Target{GVK: schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, Name: "pod", Root: b}
	s := &Survey{options: Options{Sample: 1}, targets: []*Target{a, b}}
	names := func(targets ...*Target) string {
		var all []string
		for _, one := range s.sampled(targets) {
			all = append(all, one.Name)
		}
		return strings.Join(all, " ")
	}
	if got := names(a, b, pod); got != "a" {
		t.Errorf("asked %q, want a alone: b has the same shape", got)
	}
	s.targets = []*Target{c, b, a}
	if got := names(c, b, pod, a); got != "c a" {
		t.Errorf("asked %q, want c, which came later and has another shape, and a again", got)
	}
	if s.Sampled() != 2 {
		t.Errorf("%d sampled", s.Sampled())
	}
}

// With a limit for dependents those of so many objects are asked, the same ones at each state, whatever they are
// called.
func TestSampleOfDependents(t *testing.T) {
	a, b, c := given("a"), given("b"), given("c")
	pod := func(name string, root *Target) *Target {
		return &Target{GVK: schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, Name: name, Root: root, template: name}
	}
	job := &Target{
		GVK: schema.GroupVersionKind{Group: "batch", Version: "v1", Kind: "Job"}, Name: "job", Root: c,
		template: "job",
	}
	s := &Survey{
		options: Options{Dependents: map[schema.GroupKind]int{{Kind: "Pod"}: 1}}, targets: []*Target{a, b, c},
	}
	asked := func(targets ...*Target) string {
		var all []string
		for _, one := range s.sampled(targets) {
			all = append(all, one.Name)
		}
		return strings.Join(all, " ")
	}
	if got, want := asked(a, b, c, job, pod("b1", b), pod("c1", c)), "a b c job b1"; got != want {
		t.Errorf("asked %q, want %q", got, want)
	}
	if got, want := asked(a, b, c, job, pod("a1", a), pod("b2", b)), "a b c job b2"; got != want {
		t.Errorf("asked %q at the next state, want %q", got, want)
	}
}

// What the status of an object tells is compared with what it told at first.
func TestStands(t *testing.T) {
	type object = map[string]any
	status := func(kind string, status object) standing {
		return standingOf(&unstructured.Unstructured{Object: object{"kind": kind, "status": status}})
	}
	conditions := func(pairs ...string) object {
		var list []any
		for i := 0; i < len(pairs); i += 2 {
			list = append(list, object{"type": pairs[i], "status": pairs[i+1]})
		}
		return object{"conditions": list}
	}
	for _, test := range []struct {
		name, kind    string
		before, after object
		want          Answer
		words         string
	}{
		{"equal", "Pod", conditions("Ready", "True"), conditions("Ready", "True"), Good, ""},
		{"not ready any more", "Pod", conditions("Ready", "True"), conditions("Ready", "False"), Bad, "Ready was True"},
		{"the condition is gone", "Ingress", conditions("Programmed", "True"), object{}, Bad, "Programmed was True"},
		{"it was never ready", "Pod", conditions("Ready", "False"), conditions("Ready", "False"), Good, ""},
		{
			"it progresses no more", "Deployment", conditions("Progressing", "True"), conditions("Progressing", "False"), Good,
			"",
		},
		{"it failed", "Job", object{}, conditions("Failed", "True"), Bad, "Failed is True"},
		{"it had failed before", "Job", conditions("Failed", "True"), conditions("Failed", "True"), Good, ""},
		{
			"a schema that is not structural", "CustomResourceDefinition",
			object{},
			conditions("NonStructuralSchema", "True"),
			Bad, "NonStructuralSchema is True",
		},
		{
			"the claim is lost", "PersistentVolumeClaim",
			object{"phase": "Bound"},
			object{"phase": "Lost"},
			Bad,
			"phase was Bound and is Lost",
		},
		{"it ran and has done its work", "Pod", object{"phase": "Running"}, object{"phase": "Succeeded"}, Good, ""},
		{
			"fewer are ready", "Deployment",
			object{"readyReplicas": int64(3)},
			object{"readyReplicas": int64(2)},
			Bad,
			"readyReplicas was 3 and is 2",
		},
		{"more are ready", "Deployment", object{"readyReplicas": int64(2)}, object{"readyReplicas": int64(3)}, Good, ""},
		{"another address", "Pod", object{"podIP": "10.0.0.1"}, object{"podIP": "10.0.0.2"}, Bad, "podIP was 10.0.0.1"},
		{
			"the load balancer is gone", "Service",
			object{"loadBalancer": object{"ingress": []any{object{"ip": "192.0.2.1"}}}},
			object{"loadBalancer": object{}},
			Bad, "loadBalancer",
		},
		{
			"a stored version is gone", "CustomResourceDefinition",
			object{},
			object{"storedVersions": []any{"v1alpha1"}},
			Bad,
			"storedVersions has v1alpha1",
		},
		{
			"a policy's expression does not fit any more", "ValidatingAdmissionPolicy",
			object{},
			object{"typeChecking": object{"expressionWarnings": []any{object{
				"fieldRef": "spec.validations[0]",
				"warning":  "no such field",
			}}}},
			Changed, "no such field",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := stands(status(test.kind, test.before), status(test.kind, test.after))
			if got.Answer != test.want || !strings.Contains(got.Words, test.words) {
				t.Errorf("got %+v, want answer %d with %q", got, test.want, test.words)
			}
		})
	}
}

// A definition whose stored versions it does not have was broken before, whatever comes.
func TestStoredVersionsOfTheBaseline(t *testing.T) {
	o := &unstructured.Unstructured{Object: map[string]any{
		"kind": "CustomResourceDefinition", "spec": map[string]any{"versions": []any{map[string]any{"name": "v1"}}},
		"status": map[string]any{"storedVersions": []any{"v1", "v1beta1"}},
	}}
	if got := standingOf(o).alone(); got.Answer != Bad || !strings.Contains(got.Words, "v1beta1") ||
		strings.Contains(got.Words, "v1,") {
		t.Errorf("%+v", got)
	}
}

// Checks that fail alike are one finding, also of several objects whose names and values differ; another reason is
// another finding.
func TestFindingsOfOneCauseAreOne(t *testing.T) {
	s := &Survey{answers: answers{series: map[key]*Series{}}, targets: []*Target{given("a"), given("b"), given("c")}}
	for state := range 4 {
		s.state = state
		for i, target := range s.targets {
			for _, check := range []Check{Update, Label, Apply} {
				o := Outcome{Answer: Good}
				if state%2 == 1 && target.Name != "c" {
					o = Outcome{Answer: Bad, Words: fmt.Sprintf(`Service %q is invalid: spec.ports[%d]: Invalid value: "%d": no`,
						target.Name, i, i)}
				}
				s.note(target, check, o)
			}
		}
		if state%2 == 1 {
			s.note(s.targets[2], Label, Outcome{Answer: Bad, Words: "another reason"})
		}
	}
	r := report()
	s.Judge(r)
	var got []string
	for _, f := range r.Findings {
		got = append(got, fmt.Sprintf("%s%s%d", f.Check, f.Checks, len(f.Objects)))
	}
	if text := strings.Join(got, "\n"); text != "update[label apply]2\nlabel[]1" {
		t.Errorf("got\n%s", text)
	}
	for _, check := range r.Checks {
		if check.Severity != upgrades.Breaks {
			t.Errorf("check %+v is not red", check)
		}
	}
}

// Of pods that restart it is said of how many objects; what is known to do that is named, with its link.
func TestPodsRestart(t *testing.T) {
	moved := Outcome{Answer: Bad, Words: "2 of its 2 pods were deleted", Class: podsMoved}
	for _, test := range []struct{ target, flip, what, cause string }{
		{"1.34.0", "", "every StatefulSet's pods restart, though nobody touched it", "134773"},
		{"1.34.4", "", "every StatefulSet's pods restart, though nobody touched it", ""},
		{
			"1.34.4", "StatefulSetSemanticRevisionComparison is set: default -> false",
			"every StatefulSet's pods restart, though nobody touched it", "134773",
		},
	} {
		s := &Survey{answers: answers{series: map[key]*Series{}}}
		set := given("a")
		set.GVK = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "StatefulSet"}
		s.targets = []*Target{set}
		s.note(set, Moved, Outcome{Answer: Good})
		s.state = 1
		s.note(set, Moved, moved)
		r := report()
		r.Path[0].Name, r.Path[1].Name, r.Path[1].Flips = "1.33.13", test.target, []string{
			"AnyVolumeDataSource is locked on",
			test.flip,
		}
		s.Judge(r)
		f := r.Findings[0]
		if f.What != test.what || !strings.Contains(f.Link, test.cause) || (test.cause == "") != (f.Link == "") {
			t.Errorf("%s %s: %q, %q", test.target, test.flip, f.What, f.Link)
		}
		if test.flip != "" && f.Flips[0] != test.flip {
			t.Errorf("the likely gate is not the first of %q", f.Flips)
		}
		s.targets = append(s.targets, set, given("no set"))
		r = report()
		s.Judge(r)
		if got := r.Findings[0].What; got != "the pods of 1 of 2 StatefulSets restart, though nobody touched them" {
			t.Errorf("of two: %s", got)
		}
	}
}

// A state that was not surveyed to its end says nothing.
func TestForget(t *testing.T) {
	s := told(map[Check][]Outcome{Label: {{Answer: Good}, {Answer: Unknown, Words: "context canceled"}}})
	s.forget()
	r := report()
	s.Judge(r)
	if len(r.Findings) != 0 {
		t.Errorf("findings %+v", r.Findings[0])
	}
}

// Pods that a Job makes are a second run where it had some. One whose pods were rejected before begins.
func TestPodsThatAJobMakes(t *testing.T) {
	type object = map[string]any
	made := movement{made: map[string][]string{"Pod": {"a-x"}}, gone: map[string][]string{}}
	for _, test := range []struct {
		name   string
		status object
		want   Answer
	}{
		{"it runs", object{"active": int64(1)}, Bad},
		{"it succeeded", object{"succeeded": int64(1)}, Bad},
		{"it failed", object{"failed": int64(2)}, Bad},
		{"it never had a pod", object{}, Changed},
	} {
		job := standingOf(&unstructured.Unstructured{Object: object{"kind": "Job", "status": test.status}})
		if got := made.outcome(job.ran()); got.Answer != test.want {
			t.Errorf("%s: %+v", test.name, got)
		}
	}
}
