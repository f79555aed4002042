package capture

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/harness/storage"
)

// Capture is an export that can be read several times.
type Capture struct {
	Index
	// Name of the file or the context.
	Name string
	open func() (io.ReadCloser, error)
}

// Open reads the index of a file, and checks that the file is complete.
func Open(path string) (*Capture, error) {
	return newCapture(path, func() (io.ReadCloser, error) { return os.Open(path) })
}

// InMemory returns a capture from data in memory.
func InMemory(name string, data []byte) (*Capture, error) {
	return newCapture(name, func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil })
}

func newCapture(name string, open func() (io.ReadCloser, error)) (*Capture, error) {
	c := &Capture{Name: name, open: open}
	index, err := c.read(func(storage.Resource, *unstructured.Unstructured) error { return nil })
	if err != nil {
		return nil, err
	}
	c.Index = *index
	return c, nil
}

// Each calls visit for every object.
func (c *Capture) Each(visit func(storage.Resource, *unstructured.Unstructured) error) error {
	_, err := c.read(visit)
	return err
}

func (c *Capture) read(visit func(storage.Resource, *unstructured.Unstructured) error) (_ *Index, err error) {
	file, err := c.open()
	if err != nil {
		return nil, fmt.Errorf("read capture: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	index, err := read(file, visit)
	if err != nil {
		return nil, fmt.Errorf("read capture %s: %w", c.Name, err)
	}
	return index, nil
}
