package folder

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// Lock locks a report folder until unlock is called, or the process ends. It returns an error if another process has
// locked it. A file system without locks locks nothing.
func Lock(dir string) (unlock func(), err error) {
	opened, err := os.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("lock the report folder: %w", err)
	}
	if err := syscall.Flock(int(opened.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, errors.Join(fmt.Errorf("another rehearse writes its reports into %s: choose another folder for "+
			"the reports, or wait until it has ended", dir), opened.Close())
	}
	return func() { _ = opened.Close() }, nil // closing releases the lock
}
