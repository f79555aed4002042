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

// surveyOf is a survey with these outcomes of the checks of Service a, one for each state.
func surveyOf(outcomes map[Check][]Outcome) *Survey {
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
	other := Outcome{Answer: Bad, Words: "never"}
	warned, gone := Outcome{Answer: Good, Words: "deprecated"}, Outcome{Answer: Bad, Words: "deleted", Class: deleted}
	twice := Outcome{Answer: Good, Words: "deprecated; unknown field"}
	for _, test := range []struct {
		name     string
		check    Check
		outcomes []Outcome
		want     string // severity, hop, states and effect of the rollback of each finding
		exit     int
	}{
		{"nothing", Label, []Outcome{good, good, good, good}, "", 0},
		{
			"the upgrade breaks it, the rollback fixes it", Label,
			[]Outcome{good, bad, good, bad},
			"breaks 1 -> 2 [1 3] the rollback fixes it", 1,
		},
		{
			"the rollback does not fix it", Label,
			[]Outcome{good, bad, bad, bad},
			"breaks 1 -> 2 [1 2 3] the rollback does not fix it", 1,
		},
		{
			"only the rollback breaks it", Label,
			[]Outcome{good, good, bad, good},
			"breaks 2 -> 1 [2] the next upgrade fixes it",
			1,
		},
		{
			"only the second upgrade breaks it", Label,
			[]Outcome{good, good, good, bad},
			"breaks 1 -> 2 [3] the rollback was not rehearsed", 1,
		},
		{"broken before", Label, []Outcome{bad, bad, bad, bad}, "broken before 1 [0] ", 0},
		{
			"rejected before, accepted later", Label,
			[]Outcome{bad, bad, good, bad},
			"changes 2 -> 1 [2] \nbroken before 1 [0] ", 0,
		},
		{"a condition is lost", Condition, []Outcome{good, bad, good, bad}, "breaks 1 -> 2 [1 3] the rollback fixes it", 1},
		{"not judged at the first state", Label, []Outcome{unknown, good, good, good}, "not judged 1 [0] ", 3},
		{
			"not judged at the first state, and a later hop breaks it", Label,
			[]Outcome{unknown, good, bad, good},
			"breaks 2 -> 1 [2] the next upgrade fixes it\nnot judged 1 [0] ", 1,
		},
		{
			"not judged at the first state, and a later state cannot be judged either", Label,
			[]Outcome{unknown, good, unknown, good},
			"not judged 1 [0] \nnot judged 2 -> 1 [2] ", 3,
		},
		{"never judged", Label, []Outcome{unknown, unknown, unknown, unknown}, "not judged 1 [0 1 2 3] ", 3},
		{
			"not judged at the first state, so it is not known who broke it", Label,
			[]Outcome{unknown, bad, bad, bad},
			"not judged 1 [0] \nnot judged 1 -> 2 [1 2 3] ", 3,
		},
		{
			"not judged at the first state, broken, good, and broken by a hop", Label,
			[]Outcome{unknown, bad, good, bad},
			"breaks 1 -> 2 [3] the rollback was not rehearsed\nnot judged 1 [0] \nnot judged 1 -> 2 [1] ", 1,
		},
		{
			"broken before, and then nobody answers", Label,
			[]Outcome{bad, unknown, bad, bad},
			"not judged 1 -> 2 [1] \nbroken before 1 [0] ", 3,
		},
		{"not judged later", Label, []Outcome{good, unknown, good, good}, "not judged 1 -> 2 [1] ", 3},
		{
			"whether it is fixed could not be judged", Label,
			[]Outcome{good, bad, unknown, bad},
			"breaks 1 -> 2 [1 3] whether the rollback fixes it could not be judged\nnot judged 2 -> 1 [2] ", 1,
		},
		{"the content changed", Content, []Outcome{good, changed, good, changed}, "changes 1 -> 2 [1 3] ", 0},
		{"a new warning", Warning, []Outcome{good, warned, good, warned}, "changes 1 -> 2 [1 3] ", 0},
		{"a warning that was there before", Warning, []Outcome{warned, warned, warned, warned}, "", 0},
		{"one of two warnings is gone", Warning, []Outcome{twice, warned, twice, warned}, "", 0},
		{"one more warning", Warning, []Outcome{warned, twice, warned, twice}, "changes 1 -> 2 [1 3] ", 0},
		{
			"pods are replaced at each hop", Moved,
			[]Outcome{good, bad, bad, bad},
			"breaks 1 -> 2 [1 2 3] the rollback does it again", 1,
		},
		{
			"it still moves before any upgrade, and the upgrade replaces its pods", Moved,
			[]Outcome{changed, bad, changed, good},
			"breaks 1 -> 2 [1] the rollback does not do it again\nchanges 2 -> 1 [2] \nbroken before 1 [0] ", 1,
		},
		{
			"it still moves before any upgrade, and then nobody can look", Moved,
			[]Outcome{changed, unknown, good, good},
			"not judged 1 -> 2 [1] \nbroken before 1 [0] ", 3,
		},
		{"pods restart before any upgrade only", Moved, []Outcome{bad, good, good, good}, "broken before 1 [0] ", 0},
		{
			"pods restart before any upgrade, and at a hop", Moved,
			[]Outcome{bad, good, bad, good},
			"breaks 2 -> 1 [2] the next upgrade does not do it again\nbroken before 1 [0] ", 1,
		},
		{
			"nobody knows whether pods restart at the first state, and they do at each hop", Moved,
			[]Outcome{unknown, bad, bad, good},
			"breaks 1 -> 2 [1 2] the rollback does it again\nnot judged 1 [0] ", 1,
		},
		{
			"it is being deleted before any upgrade, and is gone later", Moved,
			[]Outcome{gone, gone, gone, gone},
			"broken before 1 [0] ", 0,
		},
		{
			"the rollback does not fix it, and the objects are recreated", Content,
			[]Outcome{good, bad, bad, bad, good, good},
			"breaks 1 -> 2 [1 2 3] the rollback does not fix it", 1,
		},
		{
			"pods are replaced at each hop, until the objects are recreated", Moved,
			[]Outcome{good, bad, bad, bad, good, good},
			"breaks 1 -> 2 [1 2 3] the rollback does it again", 1,
		},
		{
			"only the second upgrade breaks it, and the objects are recreated", Label,
			[]Outcome{good, good, good, bad, good, good},
			"breaks 1 -> 2 [3] the rollback was not rehearsed", 1,
		},
		{
			"objects that the newer version created break, until the rollback", Label,
			[]Outcome{good, good, good, good, bad, good},
			"breaks 2 -> 2 redeployed [4] the rollback fixes it", 1,
		},
		{
			"the pods are replaced, and the rollback deletes the object", Moved,
			[]Outcome{good, bad, gone, good},
			"breaks 1 -> 2 [1] the rollback does it again\nbreaks 2 -> 1 [2] the next upgrade fixes it", 1,
		},
		{
			"the upgrade deletes the object", Moved,
			[]Outcome{good, gone},
			"breaks 1 -> 2 [1] the rollback does not fix it", 1,
		},
		{
			"its kind is gone until the rollback", Moved,
			[]Outcome{good, {Answer: Bad, Words: "not served", Class: unserved}, good, good},
			"breaks 1 -> 2 [1] the rollback fixes it", 1,
		},
		{
			"its pods are replaced, and then nobody can look", Moved,
			[]Outcome{good, bad, unknown, good},
			"breaks 1 -> 2 [1] whether the rollback does it again could not be judged\nnot judged 2 -> 1 [2] ", 1,
		},
		{
			"two upgrades break it in two ways", Label,
			[]Outcome{good, bad, good, other},
			"breaks 1 -> 2 [1] the rollback fixes it\nbreaks 1 -> 2 [3] the rollback was not rehearsed", 1,
		},
		{
			"it stays broken, in another version's words", Label,
			[]Outcome{good, bad, other, bad},
			"breaks 1 -> 2 [1 2 3] the rollback does not fix it", 1,
		},
		{
			"broken before, and then for another reason", Label,
			[]Outcome{bad, other, bad, other},
			"changes 1 -> 2 [1 3] \nbroken before 1 [0] ", 0,
		},
		{
			"each hop changes another field", Content,
			[]Outcome{good, {Answer: Changed, Words: "a", Class: "a"}, {Answer: Changed, Words: "a; b", Class: "a b"}, changed},
			"changes 1 -> 2 [1] \nchanges 2 -> 1 [2] \nchanges 1 -> 2 [3] ", 0,
		},
		{
			"it lost two things, and has one of them again", Condition,
			[]Outcome{
				good,
				{Answer: Bad, Words: "a; b", Class: "a b"},
				{Answer: Bad, Words: "b", Class: "b"},
				{Answer: Bad, Words: "c", Class: "c"},
			},
			"breaks 1 -> 2 [1 2] the rollback does not fix it\nbreaks 1 -> 2 [3] the rollback was not rehearsed", 1,
		},
		{
			"the rollback gives back one thing, and takes another", Condition,
			[]Outcome{good, {Answer: Bad, Words: "a", Class: "a"}, {Answer: Bad, Words: "b", Class: "b"}, good},
			"breaks 1 -> 2 [1] the rollback fixes it\nbreaks 2 -> 1 [2] the next upgrade fixes it", 1,
		},
		{
			"a default is back, but the field in it is not", Content,
			[]Outcome{good, {Answer: Bad, Class: "spec.foo"}, {Answer: Bad, Class: "spec.foo.names"}, good},
			"breaks 1 -> 2 [1 2] the rollback does not fix it", 1,
		},
		{
			"then more is lost", Content,
			[]Outcome{good, {Answer: Bad, Class: "spec.a.b"}, {Answer: Bad, Class: "spec.a"}, good},
			"breaks 1 -> 2 [1] the rollback does not fix it\nbreaks 2 -> 1 [2] the next upgrade fixes it", 1,
		},
		{
			"one of two new warnings goes", Warning,
			[]Outcome{good, {Answer: Good, Words: "a b; c d"}, {Answer: Good, Words: "a b"}, good},
			"changes 1 -> 2 [1 2] ", 0,
		},
		{
			"one pod never ran, and another one ran", Condition,
			[]Outcome{
				{Answer: Bad, Words: "stuck", Class: notRunning},
				{Answer: Bad, Words: "stuck; not ready", Class: "Ready " + notRunning},
				{Answer: Bad, Words: "stuck", Class: notRunning},
				{Answer: Bad, Words: "stuck", Class: notRunning},
			},
			"breaks 1 -> 2 [1] the rollback fixes it\nbroken before 1 [0] ", 1,
		},
		{
			"another order, and then an element is lost", Content,
			[]Outcome{good, {Answer: Bad, Class: "spec.c(order)"}, {Answer: Bad, Class: "spec.c[name=a].image"}, good},
			"breaks 1 -> 2 [1] the rollback fixes it\nbreaks 2 -> 1 [2] the next upgrade fixes it", 1,
		},
		{
			"it never ran, and then it is worse", Condition,
			[]Outcome{bad, other, bad, bad},
			"breaks 1 -> 2 [1] the rollback fixes it\nbroken before 1 [0] ", 1,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := report()
			r.Path = append(r.Path, &upgrades.State{Name: "2 redeployed", Way: upgrades.Redeploy, Reached: true},
				&upgrades.State{Name: "1", Way: upgrades.Back, Reached: true})
			surveyOf(map[Check][]Outcome{test.check: test.outcomes}).Judge(r)
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

// Of an upgrade and a rollback in two steps each, every step of the rollback counts.
func TestJudgeTwoSteps(t *testing.T) {
	good, bad, unknown := Outcome{Answer: Good}, Outcome{Answer: Bad, Words: "no"}, Outcome{Answer: Unknown, Words: "503"}
	for want, outcomes := range map[string][]Outcome{
		"the rollback does it again":                             {good, bad, good, good, bad},
		"the rollback does not do it again":                      {good, bad, good, good, good},
		"whether the rollback does it again could not be judged": {good, bad, good, unknown, good},
	} {
		r := &upgrades.Report{Objects: 1, Path: []*upgrades.State{
			{Name: "1", Way: upgrades.Start, Reached: true},
			{Name: "2 as 1", Way: upgrades.Up, Reached: true},
			{Name: "2", Way: upgrades.Up, Reached: true},
			{Name: "2 as 1", Way: upgrades.Back, Reached: true},
			{Name: "1", Way: upgrades.Back, Reached: true},
		}}
		surveyOf(map[Check][]Outcome{Moved: outcomes}).Judge(r)
		if len(r.Findings) == 0 || r.Findings[0].Back != want {
			t.Errorf("%v: findings %+v, want %q", outcomes, r.Findings, want)
		}
	}
}

// What fails at its first state was not broken before if the given object is older: the transition made it, or nothing
// is known about the state before.
func TestJudgeWhatCameLater(t *testing.T) {
	bad := Outcome{Answer: Bad, Words: "no"}
	for _, test := range []struct {
		check Check
		later []Outcome
		want  string
	}{
		{Condition, []Outcome{bad, bad, bad}, "breaks 1 -> 2 [1 2 3] the rollback does not fix it"},
		{Moved, []Outcome{bad, {Answer: Good}, bad}, "breaks 1 -> 2 [1 3] the rollback does not do it again"},
		{Label, []Outcome{bad, bad, bad}, "not judged 1 -> 2 [1 2 3] "},
		{
			Label,
			[]Outcome{bad, {Answer: Good}, bad},
			"breaks 1 -> 2 [3] the rollback was not rehearsed\nnot judged 1 -> 2 [1] ",
		},
		{Label, []Outcome{{Answer: Good}, bad, {Answer: Good}}, "breaks 2 -> 1 [2] the next upgrade fixes it"},
	} {
		t.Run(string(test.check), func(t *testing.T) {
			s := surveyOf(map[Check][]Outcome{Read: {{Answer: Good}, {Answer: Good}, {Answer: Good}, {Answer: Good}}})
			made := &Target{
				GVK: schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, Name: "made", UID: "made",
				Root: s.targets[0],
			}
			for i, o := range test.later {
				s.state = i + 1
				s.note(made, test.check, o)
			}
			r := report()
			s.Judge(r)
			var got []string
			for _, f := range r.Findings {
				got = append(got, fmt.Sprintf("%s %s %v %s", f.Severity, f.Hop, f.States, f.Back))
			}
			if text := strings.Join(got, "\n"); text != test.want {
				t.Errorf("got\n%s\nwant\n%s", text, test.want)
			}
		})
	}
}

// A given object that could not be read at the first state may never have run. One of which only one check is asked
// was there all the same.
func TestJudgeWhatWasNotAskedAtFirst(t *testing.T) {
	s := surveyOf(map[Check][]Outcome{Read: {{Answer: Unknown, Words: "503"}, {Answer: Good}}})
	s.note(s.targets[0], Condition, Outcome{Answer: Bad, Words: "no pods", Class: notRunning})
	r := report()
	s.Judge(r)
	if r.Count(upgrades.Breaks) > 0 || r.Count(upgrades.Unjudged) != 1 {
		t.Errorf("findings %+v", r.Findings)
	}
	s = surveyOf(nil)
	s.except = []Check{Read}
	s.note(s.targets[0], Read, Outcome{Answer: Good})
	s.state = 1
	s.note(s.targets[0], Moved, Outcome{Answer: Bad, Words: "deleted", Class: deleted})
	r = report()
	if s.Judge(r); r.Count(upgrades.Breaks) != 1 {
		t.Errorf("findings %+v", r.Findings)
	}
}

// A state at which it is not known what is wrong does not count as good.
func TestMatrixCountsWhatIsNotJudged(t *testing.T) {
	good, bad, unknown := Outcome{Answer: Good}, Outcome{Answer: Bad, Words: "no"}, Outcome{Answer: Unknown, Words: "503"}
	for want, outcomes := range map[string][]Outcome{
		"not judged, not judged, not judged, not judged": {unknown, unknown, unknown, unknown},
		"not judged, not judged, good, breaks":           {unknown, bad, good, bad},
	} {
		r := report()
		surveyOf(map[Check][]Outcome{Label: outcomes}).Judge(r)
		var got []string
		for _, cell := range r.Matrix[0].Cells {
			got = append(got, map[upgrades.Cell]string{
				{Unjudged: 1}: "not judged", {Good: 1}: "good", {Breaks: 1}: "breaks",
			}[cell])
		}
		if text := strings.Join(got, ", "); text != want {
			t.Errorf("got %s, want %s", text, want)
		}
	}
}

// Equal findings of several objects are joined. Of several outcomes at a state, the worst counts.
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
	if got, want := r.Sentence(), "1 -> 2 -> 1 -> 2: 1 object; 2 break, 0 change, 0 not judged"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if cell := r.Matrix[0].Cells[1]; cell != (upgrades.Cell{Breaks: 2, Good: 1}) {
		t.Errorf("cell %+v", cell)
	}
}

// An object that was broken at the first state counts as broken before at each state at which it is broken.
func TestMatrixCountsWhatWasBrokenBefore(t *testing.T) {
	good, bad := Outcome{Answer: Good}, Outcome{Answer: Bad, Words: "no"}
	r := report()
	surveyOf(map[Check][]Outcome{Label: {bad, bad, good, bad}}).Judge(r)
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

// Checks that fail for the same reason are one finding, even if names and values of the objects differ. A different
// reason is a separate finding.
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
			t.Errorf("check %+v does not have severity breaks", check)
		}
	}
}

// A state whose survey did not finish has no outcomes.
func TestForget(t *testing.T) {
	s := surveyOf(map[Check][]Outcome{Label: {{Answer: Good}, {Answer: Unknown, Words: "context canceled"}}})
	s.forget()
	r := report()
	s.Judge(r)
	if len(r.Findings) != 0 {
		t.Errorf("findings %+v", r.Findings[0])
	}
}

// Dry runs are answered in any order, and the result is the same. A part keeps the name of its write.
func TestLossesTogether(t *testing.T) {
	lost := func(words, class string) Outcome { return Outcome{Answer: Bad, Words: words, Class: class} }
	label, status := lost("a label changes a: 1; a label changes b: 2", "a b"), lost("a write changes s: 3", "s")
	for name, test := range map[string]struct {
		one, other Outcome
		want       string
	}{
		"different":       {label, status, "a label changes a: 1; a label changes b: 2; a write changes s: 3"},
		"a part":          {label, lost("an annotation changes a: 1", "a"), label.Words},
		"the same fields": {label, lost("a label changes a: 0; a label changes b: 2", "a b"), "a label changes a: 0; a label changes b: 2"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, got := range []Outcome{test.one.and(test.other), test.other.and(test.one)} {
				if got.Words != test.want {
					t.Errorf("got %q, want %q", got.Words, test.want)
				}
			}
		})
	}
}

// What several objects, versions or writes have lost at a state is all in its outcome.
func TestAllLossesOfAState(t *testing.T) {
	lost := func(class string) Outcome { return Outcome{Answer: Bad, Words: class, Class: class} }
	s := surveyOf(map[Check][]Outcome{Keep: {{Answer: Good}, lost("status.x")}})
	s.state = 2
	for _, class := range []string{"spec.y", "status.x", "spec.y", "spec.z spec.y"} {
		o := lost(class)
		o.Words = strings.ReplaceAll(class, " ", "; ")
		s.note(s.targets[0], Keep, o)
	}
	if got := s.order[0].Outcomes[2]; got.Class != "spec.y spec.z status.x" || got.Words != "spec.y; spec.z; status.x" {
		t.Errorf("got %+v", got)
	}
	r := report()
	s.Judge(r)
	if len(r.Findings) == 0 || r.Findings[0].Back != "the rollback does not fix it" {
		t.Errorf("findings %+v", r.Findings)
	}
}
