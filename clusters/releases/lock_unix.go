//go:build unix

package releases

import (
	"errors"
	"os"
	"syscall"
)

// tryLock locks the file if it is not locked. The kernel releases the lock when the holder dies.
func tryLock(file *os.File) (bool, error) {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
		return false, nil
	}
	return err == nil, err
}
