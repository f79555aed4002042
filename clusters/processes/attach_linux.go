package processes

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// awaitEnd returns a channel that is closed when the process with that pid has ended, or nil if it does not exist or
// is not the right one. A process has ended when its last thread has ended and released the ports. /proc may already
// show the end of the first thread, or an empty command line, while other threads still hold them.
func awaitEnd(pid int, right func() bool) (<-chan struct{}, error) {
	// The descriptor (Linux 5.3) always means this process, even if its pid is reused.
	descriptor, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("pidfd_open: %w", err)
	}
	if !right() {
		return nil, unix.Close(descriptor)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer unix.Close(descriptor)
		for {
			if _, err := unix.Poll([]unix.PollFd{{Fd: int32(descriptor), Events: unix.POLLIN}}, -1); !errors.Is(err,
				unix.EINTR) {
				return
			}
		}
	}()
	return done, nil
}
