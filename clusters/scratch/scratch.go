// Package scratch makes temporary folders that outlive no run: the next one removes what a killed run left behind.
package scratch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/rehearse-dev/rehearse/clusters/folders"
)

const (
	prefix = "rehearse-tmp-"
	// making is longer than a folder can be without its lock, while it is made.
	making = time.Hour
)

// Folder makes a temporary folder that only this user can read, and returns a function that removes it. It also removes
// the folders of runs that were killed, whatever their purpose.
func Folder(purpose string) (dir string, remove func() error, err error) {
	sweep(os.TempDir(), prefix, time.Now())
	return folder(os.TempDir(), prefix+purpose+"-")
}

// In is Folder in another folder than the system's temporary one. The folder's name begins with the prefix, and those
// of killed runs with the same prefix are removed.
func In(parent, prefix string) (dir string, remove func() error, err error) {
	sweep(parent, prefix, time.Now())
	return folder(parent, prefix)
}

func folder(parent, prefix string) (dir string, remove func() error, err error) {
	if dir, err = os.MkdirTemp(parent, prefix); err != nil {
		return "", nil, fmt.Errorf("make a temporary folder: %w", err)
	}
	lock, err := folders.Lock(dir)
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	return dir, func() error { return errors.Join(os.RemoveAll(dir), lock.Close()) }, nil
}

// sweep removes folders that no process has locked. A folder of another user cannot be opened, and stays.
func sweep(parent, prefix string, now time.Time) {
	found, _ := filepath.Glob(filepath.Join(parent, prefix+"*")) // the pattern is valid
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
