package processes

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// awaitEnd returns a channel that is closed when the process of that pid has ended, or nil when there is none or it
// is not the right one. A process has ended when the last of its threads has, and has let go of the ports: /proc may
// tell of the first thread's end, or of an empty command line, while others still hold them.
func awaitEnd(pid int, right func() bool) (<-chan struct{}, error) {
	// The descriptor (Linux 5.3) is of one process, whoever gets its number afterwards.
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
