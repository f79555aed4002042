package releases

import (
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/rehearse-dev/rehearse/clusters/features"
)

// listCache keeps the lists that were read, each as long as its file stays as it is: a plan of many scenarios asks for
// them again and again. Whoever takes a list from it does not write to it.
type listCache struct {
	mu    sync.Mutex
	lists map[string]readOnce
}

type readOnce struct {
	file fs.FileInfo
	list *features.List
}

// read is the list of a version.
func (c *listCache) read(e entry) (*features.List, error) {
	file, err := os.Stat(filepath.Join(e.home, listName))
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if known, ok := c.lists[e.home]; ok && os.SameFile(known.file, file) && known.file.ModTime().Equal(file.ModTime()) &&
		known.file.Size() == file.Size() {
		return known.list, nil
	}
	list, err := readList(e)
	if err != nil {
		return nil, err
	}
	if c.lists == nil {
		c.lists = map[string]readOnce{}
	}
	c.lists[e.home] = readOnce{file, list}
	return list, nil
}
