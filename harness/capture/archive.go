package capture

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/harness/storage"
)

// The file is a tar archive, compressed with gzip. Its first entry is the header. Its last entry is the index,
// without which the capture is truncated. Between them are pages of objects:
// objects/GROUP/VERSION/RESOURCE/NUMBER.json.
const (
	headerFile = "rehearse-capture.json"
	indexFile  = "index.json"
	folder     = "objects"
)

type header struct {
	Format int `json:"format"`
}

// page is some objects of a resource.
type page struct {
	Resource storage.Resource `json:"resource"`
	Items    []map[string]any `json:"items"`
}

// writer writes a capture.
type writer struct {
	packed *gzip.Writer
	tar    *tar.Writer
	pages  int
}

func newWriter(w io.Writer) (*writer, error) {
	packed := gzip.NewWriter(w)
	archive := &writer{packed: packed, tar: tar.NewWriter(packed)}
	return archive, archive.entry(headerFile, header{Format: Format})
}

func (w *writer) entry(name string, content any) error {
	data, err := json.Marshal(content)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	err = w.tar.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(data)), ModTime: time.Unix(0, 0)})
	if err == nil {
		_, err = w.tar.Write(data)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

func (w *writer) page(r storage.Resource, items []unstructured.Unstructured) error {
	p := page{Resource: r}
	for _, item := range items {
		p.Items = append(p.Items, item.Object)
	}
	group := r.Group
	if group == "" {
		group = "core"
	}
	w.pages++
	return w.entry(path.Join(folder, group, r.Version, r.Name, fmt.Sprintf("%06d.json", w.pages)), p)
}

func (w *writer) finish(index *Index) error {
	return errors.Join(w.entry(indexFile, index), w.tar.Close(), w.packed.Close())
}

// read calls visit for every object of a capture, in the order of writing, and returns the index.
func read(r io.Reader, visit func(storage.Resource, *unstructured.Unstructured) error) (*Index, error) {
	packed, err := gzip.NewReader(r)
	if err != nil {
		return nil, fmt.Errorf("it is not a capture: %w; create one with rehearse capture", err)
	}
	entries := tar.NewReader(packed)
	for first := true; ; first = false {
		entry, err := entries.Next()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, errors.New("it is truncated: the index at its end is missing; create it again " +
				"with rehearse capture")
		}
		if err != nil {
			return nil, fmt.Errorf("it is damaged, or no capture: %w", err)
		}
		if first && entry.Name != headerFile {
			return nil, fmt.Errorf("it is not a capture: it begins with %s; create one with rehearse capture",
				entry.Name)
		}
		if entry.Size > mostBytes {
			return nil, fmt.Errorf("%s in it has %d bytes, and the limit is %d: it is damaged, or no capture", entry.Name,
				entry.Size, int64(mostBytes))
		}
		index, err := readEntry(entry.Name, entries, visit)
		if err != nil {
			return nil, err
		}
		if index != nil {
			if _, err := io.Copy(io.Discard, packed); err != nil { // to its checksum
				return nil, fmt.Errorf("it is damaged; create it again with rehearse capture: %w", err)
			}
			return index, nil
		}
	}
}

// mostBytes is the maximal size of an entry: far more than the objects of one page have.
const mostBytes = 1 << 30

// readEntry reads one entry; the last one is the index.
func readEntry(name string, content io.Reader, visit func(storage.Resource, *unstructured.Unstructured) error) (*Index,
	error,
) {
	data, err := io.ReadAll(content)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, errors.New("it is truncated; create it again with rehearse capture")
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: it is damaged: %w", name, err)
	}
	switch name {
	case headerFile:
		var h header
		if err := json.Unmarshal(data, &h); err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		if h.Format != Format {
			return nil,
				fmt.Errorf("it has format %d, and this rehearse reads format %d; use the version of rehearse that "+
					"created it, or create it again",
					h.Format, Format)
		}
		return nil, nil
	case indexFile:
		index := &Index{}
		if err := json.Unmarshal(data, index); err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		return index, nil
	}
	return nil, readPage(name, data, visit)
}

func readPage(name string, data []byte, visit func(storage.Resource, *unstructured.Unstructured) error) error {
	var raw struct {
		Resource storage.Resource  `json:"resource"`
		Items    []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	for _, item := range raw.Items {
		o := &unstructured.Unstructured{}
		if err := o.UnmarshalJSON(item); err != nil { // it keeps integers as integers
			return fmt.Errorf("read %s: %w", name, err)
		}
		if err := visit(raw.Resource, o); err != nil {
			return err
		}
	}
	return nil
}
