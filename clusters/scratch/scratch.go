// Package scratch makes temporary folders that outlive no run: the next one removes what a killed run left behind.
package scratch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/clusters/folders"
	"github.com/rehearse-dev/rehearse/clusters/processes"
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
	return folder(os.TempDir(), prefix+purpose+"-", folders.Lock)
}

// In is Folder in another folder than the system's temporary one. The folder's name begins with the prefix, and those
// of killed runs with the same prefix are removed.
func In(parent, prefix string) (dir string, remove func() error, err error) {
	sweep(parent, prefix, time.Now())
	return folder(parent, prefix, folders.Lock)
}

// attempts is how many folders may be lost to other processes that sweep at the same time.
const attempts = 100

// folder makes a folder and locks it with lock. A process that sweeps between the two takes the folder for one of a
// killed run; then folder makes another one.
func folder(parent, prefix string, lock func(dir string) (*os.File, error)) (dir string, remove func() error,
	err error,
) {
	for range attempts {
		if dir, err = os.MkdirTemp(parent, prefix); err != nil {
			return "", nil, fmt.Errorf("make a temporary folder: %w", err)
		}
		held, err := lock(dir)
		if errors.Is(err, folders.ErrInUse) {
			continue
		}
		if err != nil {
			return "", nil, errors.Join(err, os.RemoveAll(dir))
		}
		if there(held) {
			return dir, func() error { return errors.Join(os.RemoveAll(dir), held.Close()) }, nil
		}
		_ = held.Close()
	}
	return "", nil, fmt.Errorf("make a temporary folder in %s: other processes have removed %d new ones; run fewer "+
		"processes at the same time", parent, attempts)
}

// there reports whether an open file still is at its path.
func there(file *os.File) bool {
	open, err1 := file.Stat()
	now, err2 := os.Stat(file.Name())
	return err1 == nil && err2 == nil && os.SameFile(open, now)
}

// Owner is the name by which the processes that use a folder are found. A run that was killed may leave some, and the
// next one ends them.
func Owner(dir string) string { return dir + string(filepath.Separator) }

// sweep removes folders that no process has locked, and ends the processes that were started for them. A folder of
// another user cannot be opened, and stays.
func sweep(parent, prefix string, now time.Time) {
	entries, _ := os.ReadDir(parent) // the folder that is made next reports what is wrong
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), prefix) {
			continue
		}
		dir := filepath.Join(parent, entry.Name())
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() {
			continue
		}
		lock, err := folders.LockAgain(dir)
		switch {
		case err == nil:
			// What still runs would write into the folder. If anything here fails, the next run tries again.
			if processes.EndOwned(Owner(dir)) == nil {
				_ = os.RemoveAll(dir)
			}
			_ = lock.Close()
		case errors.Is(err, os.ErrNotExist) && now.Sub(info.ModTime()) > making:
			_ = os.RemoveAll(dir)
		}
	}
}
