//go:build unix

package releases

import (
	"errors"
	"os"
	"syscall"
)

// tryLock takes the file's lock if nobody has it. The kernel gives it up when the holder dies.
func tryLock(file *os.File) (bool, error) {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
		return false, nil
	}
	return err == nil, err
}
