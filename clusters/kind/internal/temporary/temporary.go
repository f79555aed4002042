// Package temporary makes folders to work in, inside of a given one. None outlives its run for long: the next run
// removes what a killed one left behind.
package temporary

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/rehearse-dev/rehearse/clusters/folders"
)

// making is longer than a folder can be without its lock, while it is made.
const making = time.Hour

// Folder makes a folder in another one. Its name begins with the prefix. It also removes the folders with that prefix
// whose runs were killed.
func Folder(in, prefix string) (dir string, remove func(), err error) {
	sweep(in, prefix, time.Now())
	if dir, err = os.MkdirTemp(in, prefix); err != nil {
		return "", nil, fmt.Errorf("make a folder to work in: %w", err)
	}
	lock, err := folders.Lock(dir)
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	return dir, func() {
		_ = os.RemoveAll(dir) // what is left is removed by the next run
		_ = lock.Close()
	}, nil
}

// sweep removes folders that no process has locked.
func sweep(in, prefix string, now time.Time) {
	found, _ := filepath.Glob(filepath.Join(in, prefix+"*")) // the prefixes are valid patterns
	for _, dir := range found {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() {
			continue
		}
		lock, err := folders.LockAgain(dir)
		switch {
		case err == nil:
			_ = os.RemoveAll(dir) // the next run tries again
			_ = lock.Close()
		case errors.Is(err, os.ErrNotExist) && now.Sub(info.ModTime()) > making:
			_ = os.RemoveAll(dir)
		}
	}
}
