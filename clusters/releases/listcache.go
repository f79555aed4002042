package releases

import (
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/rehearse-dev/rehearse/clusters/features"
)

// listCache caches the lists that were read until their files change: a plan of many scenarios asks for them
// repeatedly. Callers must not change a list from it.
type listCache struct {
	mu    sync.Mutex
	lists map[string]readOnce
}

type readOnce struct {
	file fs.FileInfo
	list *features.List
}

// read returns the list of a version.
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
