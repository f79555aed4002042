package scenarios

import (
	"regexp"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
)

func TestID(t *testing.T) {
	label := regexp.MustCompile(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)
	seen := map[string]string{}
	for _, test := range []struct{ name, row, want string }{
		{"web", "", "web"},
		{"a-name-of-exactly-forty-characters-longer", "", "a-name-of-exactly-forty-charact-"},
		{"a-name-of-forty-characters-that-fits-xyz", "", "a-name-of-forty-characters-that-fits-xyz"},
		{"with.dots", "", "with-dots-"},
		{"with-dots", "", "with-dots"},
		{"9-web", "", "s-9-web-"},
		{"web", "a row", "web-a-row-"},
		{"web", "a  row", "web-a-row-"},
		{"web-a", "row", "web-a-row-"},
		{"web", "日本", "web-"},
		{"web", "---", "web-"},
	} {
		s := &Scenario{Metadata: Metadata{Name: test.name}, CaseName: test.row}
		id := s.ID()
		want := regexp.QuoteMeta(test.want)
		if test.want[len(test.want)-1] == '-' {
			want += "[0-9a-f]{8}"
		}
		if !regexp.MustCompile("^" + want + "$").MatchString(id) {
			t.Errorf("%s: got %q, want %s", s.Title(), id, want)
		}
		if len(id) > maxID || !label.MatchString(id) {
			t.Errorf("%s: %q is no DNS label of at most %d characters", s.Title(), id, maxID)
		}
		if other, taken := seen[id]; taken {
			t.Errorf("%s and %s have the id %q", s.Title(), other, id)
		}
		seen[id] = s.Title()
	}
}

func TestStepTitleAndVerb(t *testing.T) {
	reference := ObjectReference{APIVersion: "v1", Kind: "Pod", Name: "web"}
	pod := Object{"kind": "Pod", "metadata": map[string]any{"name": "web"}}
	for _, test := range []struct {
		step        Step
		verb, title string
	}{
		{Step{Create: pod}, "create", "create Pod/web"},
		{
			Step{Apply: Object{"kind": "Pod", "metadata": map[string]any{"generateName": "web-"}}},
			"apply",
			"apply Pod/web-...",
		},
		{Step{Update: Object{"kind": "Pod"}}, "update", "update Pod"},
		{Step{Patch: &Patch{ObjectReference: reference}}, "patch", "patch Pod/web"},
		{Step{Delete: &Delete{ObjectReference: ObjectReference{Kind: "Pod"}}}, "delete", "delete Pod"},
		{Step{Evict: &Evict{Name: "web"}}, "evict", "evict Pod/web"},
		{Step{Scale: &Scale{ObjectReference: reference}}, "scale", "scale Pod/web"},
		{Step{Transition: &Transition{Change: clusters.Change{Version: "1.35"}}}, "transition", "transition to 1.35"},
		{Step{Transition: &Transition{}}, "transition", "transition"},
		{Step{Restart: &ComponentReference{Component: clusters.Etcd}}, "restart", "restart etcd"},
		{Step{Kill: &ComponentReference{Component: clusters.Etcd}}, "kill", "kill etcd"},
		{Step{Eventually: &Assertion{Selection: Selection{ObjectReference: reference}}}, "eventually", "eventually Pod/web"},
		{Step{Always: &Assertion{Selection: Selection{ObjectReference: reference}}}, "always", "always Pod/web"},
		{Step{Never: &Assertion{Selection: Selection{ObjectReference: reference}}}, "never", "never Pod/web"},
		{Step{Resolve: &Resolve{Name: "a.b."}}, "resolve", "resolve a.b."},
		{Step{Metric: &Metric{Name: "x_total"}}, "metric", "metric x_total"},
		{Step{Command: &Command{Run: []string{"kubectl", "get"}}}, "command", "command kubectl"},
		{Step{Name: "named", Create: pod, CaseName: "row"}, "create", "named [row]"},
		{Step{}, "", ""},
	} {
		if got := test.step.Verb(); got != test.verb {
			t.Errorf("verb %q, want %q", got, test.verb)
		}
		if got := test.step.Title(); got != test.title {
			t.Errorf("title %q, want %q", got, test.title)
		}
	}
}

func TestPath(t *testing.T) {
	off := false
	s := &Scenario{Spec: Spec{
		Cluster: clusters.State{Version: "1.34", FeatureGates: map[string]bool{"A": true}},
		Steps: []Step{
			{Transition: &Transition{Change: clusters.Change{Version: "1.35"}}},
			{Create: Object{}},
			{Transition: &Transition{Change: clusters.Change{FeatureGates: map[string]*bool{"A": &off}}}},
		},
	}}
	path := s.Path()
	if len(path) != 3 || path[0].Version != "1.34" || path[1].Version != "1.35" || !path[1].FeatureGates["A"] ||
		path[2].Version != "1.35" || path[2].FeatureGates["A"] {
		t.Errorf("%+v", path)
	}
	if !s.Spec.Cluster.FeatureGates["A"] {
		t.Error("the first state was changed")
	}
}
