package packages_test

import (
	"errors"
	"maps"
	"net/http/httptest"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/suites/porch/gitserver"
	"github.com/rehearse-dev/rehearse/suites/porch/packages"
)

func repository(t *testing.T) packages.Repository {
	t.Helper()
	server := httptest.NewServer(gitserver.New(t.TempDir()))
	t.Cleanup(server.Close)
	return packages.Repository{URL: server.URL + "/ns/blueprints.git", Branch: "main"}
}

func push(t *testing.T, r packages.Repository, c packages.Change) plumbing.Hash {
	t.Helper()
	prepared, err := r.Prepare(t.Context(), c)
	golden.Must(t, err)
	golden.Must(t, prepared.Push(t.Context()))
	return prepared.Commit
}

func branch(name string) plumbing.ReferenceName { return plumbing.NewBranchReferenceName(name) }

// A draft of a package is published as a tag and in the main branch, over HTTP, and can be read from both.
func TestPackageGoesThroughARepository(t *testing.T) {
	r := repository(t)
	at := time.Unix(1000, 0)
	draft := packages.Change{
		Directory: "networking/vpc", Files: map[string]string{"Kptfile": "k", "sub/a.yaml": "a: 1\n"}, Message: "draft",
		At:   at,
		Onto: branch("main"), Set: []plumbing.ReferenceName{branch("drafts/networking/vpc/v1")},
	}
	push(t, r, draft)
	other := packages.Change{
		Directory: "apps", Files: map[string]string{"Kptfile": "other"}, Message: "other", At: at, Onto: branch("main"),
		Move: true,
	}
	push(t, r, other)
	renamed, err := r.PrepareRename(t.Context(), branch("drafts/networking/vpc/v1"), branch("proposed/networking/vpc/v1"))
	golden.Must(t, err)
	if _, _, err := r.Read(t.Context(), "proposed/networking/vpc/v1", ""); !errors.Is(err, packages.ErrNotFound) {
		t.Errorf("what was prepared is seen before it is pushed: %v", err)
	}
	golden.Must(t, renamed.Push(t.Context()))
	published := draft
	published.Files = map[string]string{"Kptfile": "k2"}
	published.Move, published.Set, published.Remove = true,
		[]plumbing.ReferenceName{plumbing.NewTagReferenceName("networking/vpc/v1")},
		[]plumbing.ReferenceName{branch("proposed/networking/vpc/v1")}
	want := push(t, r, published)
	for _, ref := range []string{"main", "networking/vpc/v1", "refs/tags/networking/vpc/v1"} {
		files, got, err := r.Read(t.Context(), ref, "networking/vpc")
		if err != nil || got != want || !reflect.DeepEqual(files, published.Files) {
			t.Errorf("at %s: %v of %s, %v; want %v of %s", ref, files, got, err, published.Files, want)
		}
	}
	if files, _, err := r.Read(t.Context(), "main", ""); err != nil || len(files) != 2 ||
		files["apps/Kptfile"] != "other" {
		t.Errorf("the other package: %v, %v", files, err)
	}
	references, err := r.References(t.Context())
	golden.Must(t, err)
	if names := slices.Sorted(maps.Keys(references)); !slices.Equal(names, []plumbing.ReferenceName{
		"refs/heads/main",
		"refs/tags/networking/vpc/v1",
	}) {
		t.Errorf("references: %v", names)
	}
	if err := r.Remove(t.Context(), plumbing.NewTagReferenceName("networking/vpc/v1"), branch("never")); err != nil {
		t.Error(err)
	}
	if _, _, err := r.Read(t.Context(), "networking/vpc/v1", "networking/vpc"); !errors.Is(err, packages.ErrNotFound) ||
		packages.Unreachable(err) {
		t.Errorf("a tag that was removed: %v", err)
	}
}

func TestReadTellsWhatIsNotThere(t *testing.T) {
	r := repository(t)
	if _, _, err := r.Read(t.Context(), "main", "nothing"); !errors.Is(err, packages.ErrNotFound) {
		t.Errorf("a folder that is not there: %v", err)
	}
	r.URL = "http://127.0.0.1:1/dead.git"
	if _, err := r.References(t.Context()); !packages.Unreachable(err) {
		t.Errorf("a server that is not there: %v", err)
	}
}
