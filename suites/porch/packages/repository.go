// Package packages reads and writes packages in git repositories, as commits on branches and tags.
package packages

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/storage/memory"
)

// ErrNotFound means that a repository has no such branch or tag, or no such folder there.
var ErrNotFound = errors.New("not found")

// Repository is a remote git repository.
type Repository struct {
	// URL of the repository.
	URL string
	// Branch of the published packages.
	Branch string
}

// References lists the repository's branches and tags with the commits that they point to. It fails if the repository
// cannot be reached.
func (r Repository) References(ctx context.Context) (map[plumbing.ReferenceName]plumbing.Hash, error) {
	list, err := r.remote(memory.NewStorage()).ListContext(ctx, &git.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("open repository %s: %w", r.URL, err)
	}
	found := map[plumbing.ReferenceName]plumbing.Hash{}
	for _, reference := range list {
		if reference.Type() == plumbing.HashReference {
			found[reference.Name()] = reference.Hash()
		}
	}
	return found, nil
}

// Read returns the files of a folder at a branch or tag, by their paths in the folder, and the commit.
func (r Repository) Read(ctx context.Context, ref, directory string) (map[string]string, plumbing.Hash, error) {
	references, err := r.References(ctx)
	if err != nil {
		return nil, plumbing.ZeroHash, err
	}
	name, known := named(references, ref)
	if !known {
		return nil, plumbing.ZeroHash, fmt.Errorf("branch or tag %q of repository %s: %w", ref, r.URL, ErrNotFound)
	}
	storage := memory.NewStorage()
	if err := r.fetch(ctx, storage, name); err != nil {
		return nil, plumbing.ZeroHash, err
	}
	commit := references[name]
	files, err := filesAt(storage, commit, directory)
	if err != nil {
		return nil, plumbing.ZeroHash, fmt.Errorf("read %q at %q of repository %s: %w", directory, ref, r.URL, err)
	}
	return files, commit, nil
}

// named finds a reference by its full name or its short one.
func named(references map[plumbing.ReferenceName]plumbing.Hash, ref string) (plumbing.ReferenceName, bool) {
	for _, name := range []plumbing.ReferenceName{
		plumbing.ReferenceName(ref), plumbing.NewTagReferenceName(ref),
		plumbing.NewBranchReferenceName(ref),
	} {
		if _, known := references[name]; known {
			return name, true
		}
	}
	return "", false
}

func (r Repository) remote(storage *memory.Storage) *git.Remote {
	return git.NewRemote(storage, &config.RemoteConfig{Name: "origin", URLs: []string{r.URL}})
}

func (r Repository) fetch(ctx context.Context, storage *memory.Storage, names ...plumbing.ReferenceName) error {
	options := &git.FetchOptions{RemoteName: "origin", Tags: git.NoTags}
	for _, name := range names {
		options.RefSpecs = append(options.RefSpecs, config.RefSpec(fmt.Sprintf("+%s:%s", name, name)))
	}
	err := r.remote(storage).FetchContext(ctx, options)
	if err != nil && !errors.Is(err, git.NoErrAlreadyUpToDate) {
		return fmt.Errorf("fetch from repository %s: %w", r.URL, err)
	}
	return nil
}

func filesAt(storage *memory.Storage, hash plumbing.Hash, directory string) (map[string]string, error) {
	commit, err := object.GetCommit(storage, hash)
	if err != nil {
		return nil, err
	}
	tree, err := commit.Tree()
	if err != nil {
		return nil, err
	}
	if directory = strings.Trim(directory, "/"); directory != "" && directory != "." {
		if tree, err = tree.Tree(directory); err != nil {
			return nil, errors.Join(ErrNotFound, err)
		}
	}
	files := map[string]string{}
	err = tree.Files().ForEach(func(file *object.File) error {
		content, err := file.Contents()
		files[file.Name] = content
		return err
	})
	return files, err
}

// Unreachable reports whether an error means that a repository cannot be reached, rather than that something does not
// exist.
func Unreachable(err error) bool {
	return err != nil && !errors.Is(err, ErrNotFound) && !errors.Is(err, transport.ErrRepositoryNotFound)
}
