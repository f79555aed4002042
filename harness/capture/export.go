package capture

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness/storage"
)

// Options of an export.
type Options struct {
	// Secrets keeps the values of Secrets.
	Secrets bool
	// Progress is called with what is going on.
	Progress clusters.Progress
	// Now returns the current time.
	Now func() time.Time
}

// Export writes all objects that the cluster lists. The index lists what could not be read. An error means that the
// export is not usable.
func (s *Source) Export(ctx context.Context, w io.Writer, o Options) (*Index, error) {
	index := &Index{Format: Format, Source: s.name, Started: o.Now().UTC(), Secrets: o.Secrets}
	var err error
	if index.Version, index.GitVersion, err = s.version(ctx); err != nil {
		return nil, err
	}
	if index.Gates, err = s.gates(ctx); err != nil {
		index.GatesUnknown = err.Error()
	}
	kinds, err := s.findKinds(ctx)
	if err != nil {
		return nil, err
	}
	index.Served, index.Missing, index.Left = kinds.served, kinds.missing, kinds.left
	archive, err := newWriter(w)
	if err != nil {
		return nil, err
	}
	for i, r := range kinds.resources {
		if i%20 == 0 {
			o.Progress("reading cluster %s: %d of %d kinds, %d objects", s.name, i, len(kinds.resources),
				index.Objects())
		}
		if err := s.export(ctx, archive, index, r); err != nil {
			return nil, err
		}
	}
	if index.Objects() == 0 {
		return nil, fmt.Errorf("cluster %s does not allow reading any objects; see the ClusterRole in "+
			"https://github.com/rehearse-dev/rehearse/blob/main/docs/upgrade.md", s.name)
	}
	index.Finished = o.Now().UTC()
	return index, archive.finish(index)
}

// export writes the objects of one resource.
func (s *Source) export(ctx context.Context, archive *writer, index *Index, r storage.Resource) error {
	items, err := s.read(ctx, r)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		index.Missing = append(index.Missing, Missing{r.GroupResource().String(), err.Error()})
		return nil
	}
	for i := range items {
		if !index.Secrets {
			hideSecrets(&items[i])
		}
	}
	for some := range slices.Chunk(items, pageSize) {
		if err := archive.page(r, some); err != nil {
			return err
		}
	}
	index.Kinds = append(index.Kinds, Kind{Resource: r, Objects: len(items)})
	return nil
}

// read returns all objects of a resource.
func (s *Source) read(ctx context.Context, r storage.Resource) (all []unstructured.Unstructured, err error) {
	err = s.list(ctx, r, func() { all = nil }, func(items []unstructured.Unstructured) error {
		all = append(all, items...)
		return nil
	})
	return all, err
}

// Each calls visit with all objects of each kind that the cluster stores. It returns what could not be read.
func (s *Source) Each(ctx context.Context, visit func(storage.Resource, []unstructured.Unstructured)) ([]Missing,
	error,
) {
	kinds, err := s.findKinds(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range kinds.resources {
		items, err := s.read(ctx, r)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil:
			kinds.missing = append(kinds.missing, Missing{r.GroupResource().String(), err.Error()})
		default:
			visit(r, items)
		}
	}
	return kinds.missing, nil
}

// ExportTo exports into a new file that only its owner can read. If the export fails, it removes the file.
func (s *Source) ExportTo(ctx context.Context, path string, o Options) (_ *Index, err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("write the capture: %w", err)
	}
	defer func() {
		if err = errors.Join(err, file.Close()); err != nil {
			err = errors.Join(err, os.Remove(path))
		}
	}()
	return s.Export(ctx, file, o)
}
