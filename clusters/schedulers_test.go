package clusters

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

func named(names ...string) []NamedScheduler {
	var list []NamedScheduler
	for _, name := range names {
		list = append(list, NamedScheduler{Name: name})
	}
	return list
}

func answering(names ...string) []map[string]any {
	var profiles []map[string]any
	for _, name := range names {
		profiles = append(profiles, map[string]any{"schedulerName": name})
	}
	return profiles
}

func TestSchedulersChangeByName(t *testing.T) {
	before := State{
		Version: "1.36", Schedulers: named("a", "b"),
		Components: map[Component]ComponentState{"kube-scheduler/a": {Flags: map[string]string{"v": "4"}}, Scheduler: {}},
	}
	after := before.With(Change{Schedulers: []NamedSchedulerChange{
		{NamedScheduler: NamedScheduler{Name: "a"}, Remove: true},
		{NamedScheduler: NamedScheduler{Name: "c"}},
		{NamedScheduler: NamedScheduler{Name: "b", Profiles: answering("b1", "b2")}},
	}})
	want := State{
		Version: "1.36", Schedulers: []NamedScheduler{{Name: "b", Profiles: answering("b1", "b2")}, {Name: "c"}},
		Components: map[Component]ComponentState{Scheduler: {}},
	}
	if !reflect.DeepEqual(after, want) {
		t.Errorf("got  %+v\nwant %+v", after, want)
	}
	if got, want := after.String(), "1.36 scheduler/b(profiles=2) scheduler/c"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(before.Schedulers) != 2 || before.Schedulers[1].Profiles != nil || len(before.Components) != 2 {
		t.Errorf("With changed its receiver: %+v", before)
	}
	if none := after.With(Change{Schedulers: []NamedSchedulerChange{{
		NamedScheduler: NamedScheduler{Name: "b"},
		Remove:         true,
	}, {NamedScheduler: NamedScheduler{Name: "c"}, Remove: true}}}); none.Schedulers != nil {
		t.Errorf("no schedulers are not the same as none ever: %+v", none)
	}
}

func TestNamesOfComponents(t *testing.T) {
	c := NamedScheduler{Name: "batch"}.Component()
	if c != "kube-scheduler/batch" || c.Binary() != Scheduler || c.FileName() != "kube-scheduler-batch" ||
		APIServer.Binary() != APIServer || APIServer.FileName() != "kube-apiserver" {
		t.Errorf("%s is one of %s, in a file's name %s", c, c.Binary(), c.FileName())
	}
	got := State{Schedulers: named("batch", "ml")}.ControlPlane()
	if want := []Component{
		APIServer, ControllerManager, Scheduler, "kube-scheduler/batch",
		"kube-scheduler/ml",
	}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if len(ControlPlane()) != 3 {
		t.Error("it was written into the list of all")
	}
}

func TestCheckSchedulers(t *testing.T) {
	for name, test := range map[string]struct {
		state State
		want  string
	}{
		"side by side": {State{Schedulers: named("a", "b")}, ""},
		"profiles of their own": {State{
			SchedulerProfiles: answering("x", "y"),
			Schedulers:        []NamedScheduler{{Name: "a", Profiles: answering("default-scheduler", "z")}},
		}, ""},
		"the default's name": {
			State{Schedulers: named("default-scheduler")},
			`both kube-scheduler and kube-scheduler/default-scheduler answer for schedulerName "default-scheduler"`,
		},
		"a profile without name": {
			State{Schedulers: []NamedScheduler{{Name: "a", Profiles: []map[string]any{{}}}}},
			`schedulers[0]: both kube-scheduler and kube-scheduler/a answer for schedulerName "default-scheduler"`,
		},
		"a name of a profile": {
			State{SchedulerProfiles: answering("x", "y"), Schedulers: named("y")},
			`both kube-scheduler and kube-scheduler/y answer for schedulerName "y"`,
		},
		"of two further ones": {
			State{Schedulers: []NamedScheduler{
				{Name: "a"},
				{Name: "b", Profiles: answering("c", "a")},
			}},
			`schedulers[1]: both kube-scheduler/a and kube-scheduler/b answer for schedulerName "a"`,
		},
		"nobody's gates": {State{
			Components: map[Component]ComponentState{"kube-scheduler/b": {}},
			Schedulers: named("a"),
		}, "component kube-scheduler/b: no such scheduler"},
		// kube-scheduler itself rejects this
		"a name twice in one": {State{Schedulers: []NamedScheduler{{Name: "a", Profiles: answering("a", "a")}}}, ""},
		"its own gates and flags": {State{
			Components: map[Component]ComponentState{"kube-scheduler/a": {}},
			Schedulers: named("a"),
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := errors.Join(test.state.CheckSchedulers()...)
			if (got == nil) != (test.want == "") || got != nil && !strings.Contains(got.Error(), test.want) {
				t.Errorf("got %v, want %q", got, test.want)
			}
		})
	}
}

func TestGatesOfAFurtherScheduler(t *testing.T) {
	s := State{
		FeatureGates: map[string]bool{"A": true}, Schedulers: named("a"),
		Components: map[Component]ComponentState{
			Scheduler:          {FeatureGates: map[string]bool{"B": true}},
			"kube-scheduler/a": {FeatureGates: map[string]bool{"C": true}},
		},
	}
	if got, want := s.Gates("kube-scheduler/a"), map[string]bool{"A": true, "C": true}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
