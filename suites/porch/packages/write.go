package packages

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/memory"
)

// Change is one change of a repository's branches and tags.
type Change struct {
	// Directory whose content is replaced by the files.
	Directory string
	// Files by their paths in the directory.
	Files map[string]string
	// Message of the commit.
	Message string
	// At is the time of the commit.
	At time.Time
	// Onto is the branch of the parent commit. If Move is set, the branch moves to the new commit.
	Onto plumbing.ReferenceName
	Move bool
	// Set are the branches and tags that will point to the commit.
	Set []plumbing.ReferenceName
	// Remove are the branches that will be deleted.
	Remove []plumbing.ReferenceName
}

// Prepared is a change that is not visible before it is pushed.
type Prepared struct {
	// Commit that the branches and tags will point to.
	Commit plumbing.Hash

	repository  Repository
	storage     *memory.Storage
	set, remove []plumbing.ReferenceName
}

// Push pushes the change.
func (p *Prepared) Push(ctx context.Context) error {
	return p.repository.push(ctx, p.storage, p.Commit, p.set, p.remove)
}

// Prepare creates the commit of a change.
func (r Repository) Prepare(ctx context.Context, c Change) (*Prepared, error) {
	references, err := r.References(ctx)
	if err != nil {
		return nil, err
	}
	storage := memory.NewStorage()
	var parents []plumbing.Hash
	if parent, exists := references[c.Onto]; exists {
		parents = append(parents, parent)
		if err := r.fetch(ctx, storage, c.Onto); err != nil {
			return nil, err
		}
	}
	hash, err := commit(storage, c, parents)
	if err != nil {
		return nil, fmt.Errorf("commit to repository %s: %w", r.URL, err)
	}
	set := slices.Clone(c.Set)
	if c.Move {
		set = append(set, c.Onto)
	}
	return &Prepared{Commit: hash, repository: r, storage: storage, set: set, remove: present(references, c.Remove)}, nil
}

// PrepareRename prepares a new name for a branch.
func (r Repository) PrepareRename(ctx context.Context, from, to plumbing.ReferenceName) (*Prepared, error) {
	references, err := r.References(ctx)
	if err != nil {
		return nil, err
	}
	hash, exists := references[from]
	if !exists {
		return nil, fmt.Errorf("branch %s of repository %s: %w", from.Short(), r.URL, ErrNotFound)
	}
	storage := memory.NewStorage()
	if err := r.fetch(ctx, storage, from); err != nil {
		return nil, err
	}
	return &Prepared{
		Commit: hash, repository: r, storage: storage, set: []plumbing.ReferenceName{to},
		remove: []plumbing.ReferenceName{from},
	}, nil
}

// Remove deletes the branches and tags that exist.
func (r Repository) Remove(ctx context.Context, names ...plumbing.ReferenceName) error {
	references, err := r.References(ctx)
	if err != nil {
		return err
	}
	names = present(references, names)
	if len(names) == 0 {
		return nil
	}
	return r.push(ctx, memory.NewStorage(), plumbing.ZeroHash, nil, names)
}

func present(references map[plumbing.ReferenceName]plumbing.Hash,
	names []plumbing.ReferenceName,
) []plumbing.ReferenceName {
	return slices.DeleteFunc(slices.Clone(names), func(name plumbing.ReferenceName) bool {
		_, exists := references[name]
		return !exists
	})
}

func (r Repository) push(ctx context.Context, storage *memory.Storage, hash plumbing.Hash, set,
	remove []plumbing.ReferenceName,
) error {
	options := &git.PushOptions{RemoteName: "origin"}
	for _, name := range set {
		if err := storage.SetReference(plumbing.NewHashReference(name, hash)); err != nil {
			return fmt.Errorf("push to repository %s: %w", r.URL, err)
		}
		options.RefSpecs = append(options.RefSpecs, config.RefSpec(fmt.Sprintf("+%s:%s", name, name)))
	}
	for _, name := range remove {
		options.RefSpecs = append(options.RefSpecs, config.RefSpec(":"+name.String()))
	}
	err := r.remote(storage).PushContext(ctx, options)
	if err != nil && !errors.Is(err, git.NoErrAlreadyUpToDate) {
		return fmt.Errorf("push to repository %s: %w", r.URL, err)
	}
	return nil
}

func commit(storage *memory.Storage, c Change, parents []plumbing.Hash) (plumbing.Hash, error) {
	files := map[string]string{}
	directory := strings.Trim(c.Directory, "/")
	for _, parent := range parents {
		before, err := filesAt(storage, parent, "")
		if err != nil {
			return plumbing.ZeroHash, err
		}
		for name, content := range before {
			if directory != "" && !strings.HasPrefix(name, directory+"/") {
				files[name] = content
			}
		}
	}
	for name, content := range c.Files {
		files[path.Join(directory, name)] = content
	}
	root, err := writeTree(storage, files)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	author := object.Signature{Name: "porch", Email: "porch@localhost", When: c.At}
	return store(storage, (&object.Commit{
		Author: author, Committer: author, Message: c.Message + "\n", TreeHash: root,
		ParentHashes: parents,
	}).Encode)
}

// writeTree stores files, and the folders that they are in, from the bottom up.
func writeTree(storage *memory.Storage, files map[string]string) (plumbing.Hash, error) {
	folders := map[string]map[string]string{}
	tree := &object.Tree{}
	for name, content := range files {
		folder, rest, nested := strings.Cut(name, "/")
		if nested {
			if folders[folder] == nil {
				folders[folder] = map[string]string{}
			}
			folders[folder][rest] = content
			continue
		}
		hash, err := store(storage, func(o plumbing.EncodedObject) error { return writeBlob(o, content) })
		if err != nil {
			return plumbing.ZeroHash, err
		}
		tree.Entries = append(tree.Entries, object.TreeEntry{Name: name, Mode: filemode.Regular, Hash: hash})
	}
	for folder, content := range folders {
		hash, err := writeTree(storage, content)
		if err != nil {
			return plumbing.ZeroHash, err
		}
		tree.Entries = append(tree.Entries, object.TreeEntry{Name: folder, Mode: filemode.Dir, Hash: hash})
	}
	slices.SortFunc(tree.Entries, func(a, b object.TreeEntry) int { return strings.Compare(sortKey(a), sortKey(b)) })
	return store(storage, tree.Encode)
}

// sortKey is the key by which git sorts entries: folders as if their names ended in a slash.
func sortKey(entry object.TreeEntry) string {
	if entry.Mode == filemode.Dir {
		return entry.Name + "/"
	}
	return entry.Name
}

func writeBlob(o plumbing.EncodedObject, content string) (err error) {
	o.SetType(plumbing.BlobObject)
	writer, err := o.Writer()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, writer.Close()) }()
	_, err = writer.Write([]byte(content))
	return err
}

func store(storage *memory.Storage, encode func(plumbing.EncodedObject) error) (plumbing.Hash, error) {
	encoded := storage.NewEncodedObject()
	if err := encode(encoded); err != nil {
		return plumbing.ZeroHash, err
	}
	return storage.SetEncodedObject(encoded)
}
