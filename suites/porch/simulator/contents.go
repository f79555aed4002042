package simulator

import (
	"context"
	"fmt"
	"maps"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/lru"

	"github.com/rehearse-dev/rehearse/suites/porch/api/v1alpha1"
	"github.com/rehearse-dev/rehearse/suites/porch/packages"
)

// keptContents is how many contents stay in memory.
const keptContents = 1000

// contents reads the files of revisions. The content of a commit never changes, so it is read once.
type contents struct {
	kept *lru.Cache
}

func newContents() *contents { return &contents{kept: lru.New(keptContents)} }

// of returns the files of a revision.
func (c *contents) of(ctx context.Context, revision *v1alpha1.PackageRevision) (map[string]string, error) {
	where := revision.Status.Content
	if where == nil {
		return map[string]string{}, nil
	}
	type key struct{ repo, commit, directory string }
	id := key{where.Repo, where.Commit, where.Directory}
	if kept, ok := c.kept.Get(id); ok {
		return maps.Clone(kept.(map[string]string)), nil
	}
	files, commit, err := packages.Repository{URL: where.Repo}.Read(ctx, where.Ref, where.Directory)
	if err == nil && commit.String() != where.Commit {
		err = fmt.Errorf("%s of repository %s is at %s, not at %s: another client has changed it",
			where.Ref, where.Repo, commit, where.Commit)
	}
	if err != nil {
		return nil, apierrors.NewInternalError(fmt.Errorf("read the content of %s: %w", revision.Name, err))
	}
	c.kept.Add(id, files)
	return maps.Clone(files), nil
}
