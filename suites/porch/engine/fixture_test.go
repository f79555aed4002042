package engine_test

import (
	"errors"
	"testing"

	"github.com/rehearse-dev/rehearse/suites/porch/api/v1alpha1"
	"github.com/rehearse-dev/rehearse/suites/porch/engine"
)

func rules(t *testing.T, variant engine.Variant, faults ...string) engine.Rules {
	t.Helper()
	r, err := engine.NewRules(faults, string(variant))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// verdict returns the class and the text of a rejection, and reports whether there is none.
func verdict(t *testing.T, err error) (engine.Class, string, bool) {
	t.Helper()
	if err == nil {
		return 0, "", true
	}
	var rejection *engine.Rejection
	if !errors.As(err, &rejection) {
		t.Fatalf("%v is no rejection", err)
	}
	return rejection.Class, rejection.Text, false
}

// want is an expected verdict. Its zero value means accepted.
type want struct {
	class engine.Class
	text  string
}

func check(t *testing.T, err error, w want) {
	t.Helper()
	class, text, accepted := verdict(t, err)
	switch {
	case accepted != (w.text == ""):
		t.Errorf("got %v, want %+v", err, w)
	case !accepted && (class != w.class || text != w.text):
		t.Errorf("got %d %q, want %d %q", class, text, w.class, w.text)
	}
}

func spec(repository, name, workspace string, tasks ...v1alpha1.Task) v1alpha1.PackageRevisionSpec {
	return v1alpha1.PackageRevisionSpec{
		RepositoryName: repository, PackageName: name, WorkspaceName: workspace,
		Tasks: tasks,
	}
}

func initTask() v1alpha1.Task {
	return v1alpha1.Task{Type: v1alpha1.TaskTypeInit, Init: &v1alpha1.PackageInitTaskSpec{}}
}

func cloneTask(name string) v1alpha1.Task {
	upstream := v1alpha1.UpstreamPackage{UpstreamRef: &v1alpha1.PackageRevisionRef{Name: name}}
	return v1alpha1.Task{Type: v1alpha1.TaskTypeClone, Clone: &v1alpha1.PackageCloneTaskSpec{Upstream: upstream}}
}

func editTask(name string) v1alpha1.Task {
	return v1alpha1.Task{
		Type: v1alpha1.TaskTypeEdit,
		Edit: &v1alpha1.PackageEditTaskSpec{Source: &v1alpha1.PackageRevisionRef{Name: name}},
	}
}

func upgradeTask(old, upstream, local string) v1alpha1.Task {
	return v1alpha1.Task{Type: v1alpha1.TaskTypeUpgrade, Upgrade: &v1alpha1.PackageUpgradeTaskSpec{
		OldUpstream: v1alpha1.PackageRevisionRef{Name: old}, NewUpstream: v1alpha1.PackageRevisionRef{Name: upstream},
		LocalPackageRevision: v1alpha1.PackageRevisionRef{Name: local},
	}}
}

func revision(repository, name, workspace string, lifecycle v1alpha1.PackageRevisionLifecycle) engine.Revision {
	s := spec(repository, name, workspace, initTask())
	s.Lifecycle = lifecycle
	return engine.Revision{Name: engine.Rules{}.Name(&s), Spec: s}
}
