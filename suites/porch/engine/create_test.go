package engine_test

import (
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/suites/porch/api/v1alpha1"
	"github.com/rehearse-dev/rehearse/suites/porch/engine"
)

const final = "cannot create a package revision with lifecycle value 'Final'"

func TestNewLifecycle(t *testing.T) {
	for lifecycle, w := range map[v1alpha1.PackageRevisionLifecycle]want{
		"":                 {},
		"Draft":            {},
		"Proposed":         {},
		"Published":        {engine.BadRequest, final},
		"DeletionProposed": {engine.BadRequest, final},
		"Foo":              {engine.BadRequest, "unsupported lifecycle value: Foo"},
		"draft":            {engine.BadRequest, "unsupported lifecycle value: draft"},
		"Draft ":           {engine.BadRequest, "unsupported lifecycle value: Draft "},
	} {
		t.Run(string(lifecycle), func(t *testing.T) {
			s := spec("r", "p", "w")
			s.Lifecycle = lifecycle
			check(t, rules(t, "").CheckNew(&s), w)
		})
	}
}

func TestDefaults(t *testing.T) {
	s := spec("r", "p", "w")
	rules(t, "").Default(&s)
	if s.Lifecycle != v1alpha1.Draft || len(s.Tasks) != 1 || s.Tasks[0].Type != v1alpha1.TaskTypeInit ||
		s.Tasks[0].Init == nil {
		t.Errorf("%+v", s)
	}
	s = spec("r", "p", "w", editTask("x"))
	s.Lifecycle = v1alpha1.Proposed
	rules(t, "").Default(&s)
	if s.Lifecycle != v1alpha1.Proposed || len(s.Tasks) != 1 || s.Tasks[0].Type != v1alpha1.TaskTypeEdit {
		t.Errorf("%+v", s)
	}
}

func TestNewTasks(t *testing.T) {
	const several = "task list must not contain more than one task"
	git := func(repo, ref string) v1alpha1.Task {
		return v1alpha1.Task{
			Type: "clone",
			Clone: &v1alpha1.PackageCloneTaskSpec{Upstream: v1alpha1.UpstreamPackage{
				Type: "git",
				Git:  &v1alpha1.GitPackage{Repo: repo, Ref: ref},
			}},
		}
	}
	for name, c := range map[string]struct {
		tasks []v1alpha1.Task
		want  want
	}{
		"none":             {},
		"init":             {tasks: []v1alpha1.Task{initTask()}},
		"clone":            {tasks: []v1alpha1.Task{cloneTask("x")}},
		"clone from git":   {tasks: []v1alpha1.Task{git("http://a", "main")}},
		"edit":             {tasks: []v1alpha1.Task{editTask("x")}},
		"upgrade":          {tasks: []v1alpha1.Task{upgradeTask("a", "b", "c")}},
		"two":              {[]v1alpha1.Task{initTask(), initTask()}, want{engine.BadRequest, several}},
		"two, one unknown": {[]v1alpha1.Task{{Type: "foo"}, initTask()}, want{engine.BadRequest, several}},
		"unknown": {
			[]v1alpha1.Task{{Type: "foo"}},
			want{engine.BadRequest, `task of type "foo" not supported; it must be one of init, clone, edit, upgrade`},
		},
		"no type": {
			[]v1alpha1.Task{{}},
			want{engine.BadRequest, `task of type "" not supported; it must be one of init, clone, edit, upgrade`},
		},
		"no init": {
			[]v1alpha1.Task{{Type: "init"}},
			want{engine.BadRequest, `init not set for task of type "init"`},
		},
		"no clone": {
			[]v1alpha1.Task{{Type: "clone"}},
			want{engine.BadRequest, `clone not set for task of type "clone"`},
		},
		"clone nothing": {
			[]v1alpha1.Task{cloneTask("")},
			want{engine.BadRequest, `clone.upstreamRef not set for task of type "clone"`},
		},
		"clone no ref": {
			[]v1alpha1.Task{git("http://a", "")},
			want{engine.BadRequest, `clone.upstreamRef.git not set for task of type "clone"`},
		},
		"no edit": {
			[]v1alpha1.Task{{Type: "edit"}},
			want{engine.BadRequest, `edit.sourceRef.name not set for task of type "edit"`},
		},
		"edit nothing": {
			[]v1alpha1.Task{editTask("")},
			want{engine.BadRequest, `edit.sourceRef.name not set for task of type "edit"`},
		},
		"no upgrade": {
			[]v1alpha1.Task{{Type: "upgrade"}},
			want{engine.BadRequest, `upgrade not set for task of type "upgrade"`},
		},
		"no old": {
			[]v1alpha1.Task{upgradeTask("", "b", "c")},
			want{engine.BadRequest, `upgrade.oldUpstreamRef.name not set for task of type "upgrade"`},
		},
		"no new": {
			[]v1alpha1.Task{upgradeTask("a", "", "c")},
			want{engine.BadRequest, `upgrade.newUpstreamRef.name not set for task of type "upgrade"`},
		},
		"no local": {
			[]v1alpha1.Task{upgradeTask("a", "b", "")},
			want{engine.BadRequest, `upgrade.localPackageRevisionRef.name not set for task of type "upgrade"`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := spec("r", "p", "w", c.tasks...)
			check(t, rules(t, "").CheckNew(&s), c.want)
		})
	}
}

func TestNewNames(t *testing.T) {
	long := strings.Repeat("a", 63)
	for _, s := range []v1alpha1.PackageRevisionSpec{
		spec("r", "p", "w"), spec("r", "a/b/c", "1"), spec("r", "p", long),
	} {
		if err := rules(t, "").CheckNew(&s); err != nil {
			t.Errorf("%+v: %v", s, err)
		}
	}
	for _, s := range []v1alpha1.PackageRevisionSpec{
		spec("", "p", "w"), spec("r", "", "w"), spec("r", "p", ""), spec("r", "p", "Bad_WS"), spec("r", "p", long+"a"),
		spec("r", "p", "a/b"),
		spec("r", "p", "a."), spec("r", "p", "-a"), spec("r", "/p", "w"), spec("r", "p/", "w"), spec("r", "a//b", "w"),
		spec("r", "..", "w"),
	} {
		if class, _, accepted := verdict(t, rules(t, "").CheckNew(&s)); accepted || class != engine.BadRequest {
			t.Errorf("%+v: class %d, accepted %t", s, class, accepted)
		}
	}
}

func TestName(t *testing.T) {
	for name, s := range map[string]v1alpha1.PackageRevisionSpec{
		"r-p-w": spec("r", "p", "w"), "r-a-b-c-w": spec("r", "a/b/c", "w"), "my-repo-my-pack-v-1": spec("my-repo", "my-pack",
			"v-1"),
	} {
		if got := rules(t, "").Name(&s); got != name {
			t.Errorf("got %s, want %s", got, name)
		}
	}
}
