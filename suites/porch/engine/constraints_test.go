package engine_test

import (
	"testing"

	"github.com/rehearse-dev/rehearse/suites/porch/api/v1alpha1"
	"github.com/rehearse-dev/rehearse/suites/porch/engine"
)

func taken(name, repository, workspace string) want {
	return want{engine.Conflict, "package revision workspaceNames must be unique; package revision with name " + name +
		" in repo " + repository + " with workspaceName " + workspace + " already exists"}
}

func cloned(name, repository string) want {
	return want{engine.Unprocessable, "clone cannot create a new revision for package " + name +
		" that already exists in repo " + repository + "; make subsequent revisions using copy"}
}

func unpublished(name string) want {
	return want{engine.Unprocessable, "all source PackageRevisions of upgrade task must be published, " + name + " is not"}
}

func missing(name string) want {
	return want{engine.Unprocessable, "source PackageRevision " + name + " of upgrade task not found"}
}

func TestConstraints(t *testing.T) {
	existing := []engine.Revision{
		revision("r", "p", "draft", v1alpha1.Draft), revision("r", "p", "proposed", v1alpha1.Proposed),
		revision("r", "p", "published", v1alpha1.Published), revision("r", "p", "going", v1alpha1.DeletionProposed),
		revision("r", "a/b", "v1", v1alpha1.Draft), revision("other", "q", "v1", v1alpha1.Published),
	}
	const p = "r-p-published"
	for name, c := range map[string]struct {
		spec v1alpha1.PackageRevisionSpec
		want want
	}{
		"workspace of a draft":                {spec("r", "p", "draft", editTask(p)), taken("p", "r", "draft")},
		"workspace of a proposed one":         {spec("r", "p", "proposed", editTask(p)), taken("p", "r", "proposed")},
		"workspace of a published one":        {spec("r", "p", "published", initTask()), taken("p", "r", "published")},
		"workspace of one that goes":          {spec("r", "p", "going", cloneTask(p)), taken("p", "r", "going")},
		"workspace of a nested one":           {spec("r", "a/b", "v1", initTask()), taken("a/b", "r", "v1")},
		"workspace of another package":        {spec("r", "new", "draft", initTask()), want{}},
		"workspace of a nested one's name":    {spec("r", "b", "v1", initTask()), want{}},
		"workspace of another repository":     {spec("other", "p", "draft", initTask()), want{}},
		"a clone of a package that exists":    {spec("r", "p", "new", cloneTask(p)), cloned("p", "r")},
		"a clone of a nested one":             {spec("r", "a/b", "new", cloneTask(p)), cloned("a/b", "r")},
		"a clone of a nested one's name":      {spec("r", "b", "new", cloneTask(p)), want{}},
		"a clone beside another repository's": {spec("r", "q", "new", cloneTask(p)), want{}},
		"an edit":                             {spec("r", "p", "new", editTask(p)), want{}},
		"an edit of a draft": {
			spec("r", "p", "new", editTask("r-p-draft")),
			want{engine.Unprocessable, "source revision must be published, r-p-draft is not"},
		},
		"an edit of one that goes": {
			spec("r", "p", "new", editTask("r-p-going")),
			want{engine.Unprocessable, "source revision must be published, r-p-going is not"},
		},
		"an edit of another package": {
			spec("r", "z", "new", editTask(p)),
			want{engine.Unprocessable, "source revision must be from same package r/z, r-p-published is not"},
		},
		"an edit of nothing": {
			spec("r", "p", "new", editTask("x")),
			want{engine.Unprocessable, "source revision x not found"},
		},
		"an init again": {
			spec("r", "p", "new", initTask()),
			want{engine.Conflict, `package "p" already exists in repository "r"; make subsequent revisions using copy`},
		},
		"an upgrade": {spec("r", "p", "new", upgradeTask(p, "other-q-v1", p)), want{}},
		"an upgrade from a draft": {
			spec("r", "p", "new", upgradeTask("r-p-draft", p, p)),
			unpublished("r-p-draft"),
		},
		"an upgrade to a draft": {
			spec("r", "p", "new", upgradeTask(p, "r-p-draft", p)),
			unpublished("r-p-draft"),
		},
		"an upgrade of a draft": {
			spec("r", "p", "new", upgradeTask(p, p, "r-p-draft")),
			unpublished("r-p-draft"),
		},
		"an upgrade to a proposed one": {
			spec("r", "p", "new", upgradeTask(p, "r-p-proposed", p)),
			unpublished("r-p-proposed"),
		},
		"an upgrade to one that goes": {
			spec("r", "p", "new", upgradeTask(p, "r-p-going", p)),
			unpublished("r-p-going"),
		},
		"an upgrade to what is not there":      {spec("r", "p", "new", upgradeTask(p, "x", p)), missing("x")},
		"an upgrade is not looked at for path": {spec("r", "a", "new", upgradeTask(p, p, p)), want{}},
		"a package around another": {
			spec("r", "a", "v1", initTask()),
			want{
				engine.Conflict,
				`package path "a" conflicts with existing package "a/b" in repository "r": packages cannot be nested`,
			},
		},
		"a clone inside of another": {
			spec("r", "a/b/c", "v1", cloneTask(p)),
			want{
				engine.Conflict,
				`package path "a/b/c" conflicts with existing package "a/b" in repository "r": packages cannot be nested`,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			check(t, rules(t, "").CheckConstraints(&c.spec, existing), c.want)
		})
	}
}

func TestOverlaps(t *testing.T) {
	for _, c := range []struct {
		existing, name string
		rejected       bool
	}{
		{"networking/vpc/subnets", "networking/vpc", true},
		{"networking/vpc", "networking/vpc/subnets", true},
		{"networking", "networking/vpc", true},
		{"networking/vpc", "networking", true},
		{"a/b/c/d", "a", true},
		{"networking/firewall", "networking/vpc", false},
		{"apps/backend", "apps/frontend", false},
		{"test", "test-package", false},
		{"test-package", "test", false},
		{"a/test", "a/test-package", false},
		{"apps/frontend", "frontend/web", false},
		{"frontend/web", "apps/frontend", false},
		{"vpc", "networking/vpc", false},
	} {
		s := spec("r", c.name, "new", initTask())
		_, _, accepted := verdict(t, rules(t, "").CheckConstraints(&s,
			[]engine.Revision{revision("r", c.existing, "v1", v1alpha1.Draft)}))
		if accepted == c.rejected {
			t.Errorf("%s beside %s: accepted %t", c.name, c.existing, accepted)
		}
		if err := rules(t, "").CheckConstraints(&s,
			[]engine.Revision{revision("other", c.existing, "v1", v1alpha1.Draft)}); err != nil {
			t.Errorf("%s beside another repository's %s: %v", c.name, c.existing, err)
		}
	}
}
