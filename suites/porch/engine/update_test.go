package engine_test

import (
	"testing"

	"github.com/rehearse-dev/rehearse/suites/porch/api/v1alpha1"
	"github.com/rehearse-dev/rehearse/suites/porch/engine"
)

const (
	draft     = v1alpha1.Draft
	proposed  = v1alpha1.Proposed
	published = v1alpha1.Published
	going     = v1alpha1.DeletionProposed
)

func at(lifecycle v1alpha1.PackageRevisionLifecycle) v1alpha1.PackageRevisionSpec {
	s := spec("r", "p", "w", initTask())
	s.Lifecycle = lifecycle
	return s
}

func TestTransitions(t *testing.T) {
	all := []v1alpha1.PackageRevisionLifecycle{draft, proposed, published, going}
	plain := map[[2]v1alpha1.PackageRevisionLifecycle]bool{
		{draft, proposed}: true, {proposed, draft}: true, {published, going}: true, {going, published}: true,
	}
	approval := map[[2]v1alpha1.PackageRevisionLifecycle]bool{
		{proposed, published}: true, {proposed, draft}: true, {going, published}: true,
	}
	for _, from := range all {
		for _, to := range all {
			for way, allowed := range map[engine.Way]map[[2]v1alpha1.PackageRevisionLifecycle]bool{
				engine.Plain:    plain,
				engine.Approval: approval,
			} {
				before, after := at(from), at(to)
				class, text, accepted := verdict(t, rules(t, "").CheckUpdate(&before, &after, way))
				if accepted != (from == to || allowed[[2]v1alpha1.PackageRevisionLifecycle{from, to}]) ||
					(!accepted && class != engine.Unprocessable) {
					t.Errorf("way %d from %s to %s: accepted %t, class %d, %q", way, from, to, accepted, class, text)
				}
			}
		}
	}
}

func TestInvalidLifecycles(t *testing.T) {
	for _, c := range []struct {
		from, to v1alpha1.PackageRevisionLifecycle
		text     string
	}{
		{"Foo", draft, "invalid original lifecycle value: Foo"},
		{"Foo", "Foo", "invalid original lifecycle value: Foo"},
		{"", draft, "invalid original lifecycle value: "},
		{draft, "Foo", "invalid desired lifecycle value: Foo"},
		{published, "", "invalid desired lifecycle value: "},
	} {
		before, after := at(c.from), at(c.to)
		check(t, rules(t, "").CheckUpdate(&before, &after, engine.Plain), want{engine.BadRequest, c.text})
	}
	check(t, rules(t, "").CheckContentUpdate("Foo"), want{engine.BadRequest, "invalid original lifecycle value: Foo"})
}

func TestSpecUpdates(t *testing.T) {
	more := func(s *v1alpha1.PackageRevisionSpec) { s.Tasks = append(s.Tasks, initTask()) }
	for name, c := range map[string]struct {
		change  func(*v1alpha1.PackageRevisionSpec)
		mutable []v1alpha1.PackageRevisionLifecycle
	}{
		"tasks":      {more, []v1alpha1.PackageRevisionLifecycle{draft}},
		"package":    {func(s *v1alpha1.PackageRevisionSpec) { s.PackageName = "q" }, nil},
		"repository": {func(s *v1alpha1.PackageRevisionSpec) { s.RepositoryName = "q" }, nil},
		"workspace":  {func(s *v1alpha1.PackageRevisionSpec) { s.WorkspaceName = "q" }, nil},
		"revision":   {func(s *v1alpha1.PackageRevisionSpec) { s.Revision = 7 }, nil},
		"nothing": {func(*v1alpha1.PackageRevisionSpec) {}, []v1alpha1.PackageRevisionLifecycle{
			draft, proposed, published,
			going,
		}},
	} {
		for _, lifecycle := range []v1alpha1.PackageRevisionLifecycle{draft, proposed, published, going} {
			before, after := at(lifecycle), at(lifecycle)
			c.change(&after)
			class, _, accepted := verdict(t, rules(t, "").CheckUpdate(&before, &after, engine.Plain))
			expected := false
			for _, mutable := range c.mutable {
				expected = expected || mutable == lifecycle
			}
			if accepted != expected || (!accepted && class != engine.Unprocessable) {
				t.Errorf("%s while %s: accepted %t, class %d", name, lifecycle, accepted, class)
			}
		}
	}
	before, after := at(draft), at(draft)
	after.Tasks = []v1alpha1.Task{{Type: "foo"}}
	if class, _, accepted := verdict(t, rules(t, "").CheckUpdate(&before, &after, engine.Plain)); accepted ||
		class != engine.BadRequest {
		t.Errorf("an unknown task: accepted %t, class %d", accepted, class)
	}
}

func TestContentUpdates(t *testing.T) {
	for lifecycle, mutable := range map[v1alpha1.PackageRevisionLifecycle]bool{
		draft: true, proposed: false,
		published: false, going: false,
	} {
		if _, _, accepted := verdict(t, rules(t, "").CheckContentUpdate(lifecycle)); accepted != mutable {
			t.Errorf("%s: accepted %t", lifecycle, accepted)
		}
	}
}

func TestVariants(t *testing.T) {
	existing := []engine.Revision{revision("r", "p", "v1", going)}
	upgrade, again, unknown := spec("r", "p", "v2", upgradeTask("r-p-v1", "r-p-v1", "r-p-v1")), spec("r", "p", "v2",
		initTask()), spec("r", "p", "v2", upgradeTask("x", "x", "x"))
	judge := map[engine.Variant]func(engine.Rules) error{
		engine.ProposedFullUpdate:          func(r engine.Rules) error { return r.CheckContentUpdate(proposed) },
		engine.DeletionProposedIsPublished: func(r engine.Rules) error { return r.CheckConstraints(&upgrade, existing) },
		engine.ImmutableIsForbidden:        func(r engine.Rules) error { return r.CheckContentUpdate(published) },
		engine.MissingSourceIsNotFound:     func(r engine.Rules) error { return r.CheckConstraints(&unknown, nil) },
		engine.InitAgain:                   func(r engine.Rules) error { return r.CheckConstraints(&again, existing) },
		engine.MissingVersionIsInvalid:     func(r engine.Rules) error { return r.CheckVersion("") },
	}
	accepts := map[engine.Variant]bool{
		engine.ProposedFullUpdate: true, engine.DeletionProposedIsPublished: true,
		engine.InitAgain: true,
	}
	classes := map[engine.Variant]engine.Class{
		engine.ImmutableIsForbidden: engine.Forbidden, engine.MissingSourceIsNotFound: engine.NotFound,
		engine.MissingVersionIsInvalid: engine.Unprocessable,
	}
	for _, variant := range engine.Readings() {
		if _, _, accepted := verdict(t, judge[variant](rules(t, ""))); accepted {
			t.Errorf("%s: accepted without the variant", variant)
		}
		for _, as := range []engine.Variant{variant, engine.OtherReadings} {
			class, _, accepted := verdict(t, judge[variant](rules(t, as)))
			if accepted != accepts[variant] || class != classes[variant] {
				t.Errorf("%s as %s: accepted %t, class %d", variant, as, accepted, class)
			}
		}
	}
}

func TestNewRulesRejectsWhatItDoesNotKnow(t *testing.T) {
	if _, err := engine.NewRules([]string{"no-such"}, ""); err == nil {
		t.Error("an unknown fault")
	}
	if _, err := engine.NewRules(nil, "no-such"); err == nil {
		t.Error("an unknown variant")
	}
}
