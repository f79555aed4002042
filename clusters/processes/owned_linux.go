package processes

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// ownerVariable is the environment variable with the owner of a process (Spec.Owner).
const ownerVariable = "REHEARSE_OWNER"

// runs reports whether a process runs, and its command line contains owner or it was started for owner.
func runs(pid int, owner string) bool {
	cmdline, err := shown(pid, "cmdline")
	if err != nil || owner == "" || len(cmdline) == 0 {
		return false
	}
	return bytes.Contains(cmdline, []byte(owner)) || startedFor(pid, owner)
}

// startedFor reports whether a process, or the one that started it, was started for owner.
func startedFor(pid int, owner string) bool {
	environment, err := shown(pid, "environ")
	return err == nil && owner != "" &&
		bytes.Contains(append([]byte{0}, environment...), []byte("\x00"+ownerVariable+"="+owner))
}

const (
	// execLooks and execPoll limit how long a process may take to become another program: far more than it needs on a
	// busy machine.
	execLooks, execPoll = 1000, time.Millisecond
	// settledLooks is how often an empty file is read of a process that shows its command line: the kernel shows that
	// first, and the environment a moment later.
	settledLooks = 50
)

// shown reads a file of a process in /proc: its command line or its environment. The kernel shows both empty while the
// process becomes another program (execve). They are read again then. They stay empty if the process has ended but is
// not reaped, and for a thread of the kernel: both have no program. The environment stays empty if there is none.
func shown(pid int, name string) ([]byte, error) {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	settled := 0
	for range execLooks {
		content, err := readAtOnce(filepath.Join(dir, name))
		if err != nil || len(content) > 0 || settled == settledLooks {
			return content, err
		}
		cmdline, err := readAtOnce(filepath.Join(dir, "cmdline"))
		if err != nil {
			return nil, err
		}
		if len(cmdline) > 0 {
			settled++
		} else if _, err := os.Readlink(filepath.Join(dir, "exe")); err != nil {
			return nil, nil
		}
		time.Sleep(execPoll)
	}
	return nil, nil
}

// readAtOnce reads a file of /proc with one system call. Between two, the process may become another program, and the
// rest is missing.
func readAtOnce(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	for size := 64 << 10; ; size *= 2 {
		content := make([]byte, size)
		n, err := file.ReadAt(content, 0)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if n < size {
			return content[:n], nil
		}
	}
}

// killOwned kills every process that was started for owner (Spec.Owner), and returns their number. A killed run may
// have left them. Of the recorded pids, it also kills those whose command line contains owner: an older version started
// processes without their owner. Any other process with owner in its command line, such as an editor, lives on.
func killOwned(owner string, recorded ...int) (int, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0, fmt.Errorf("look for left-over processes: %w", err)
	}
	killed := 0
	var errs []error
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || pid == os.Getpid() ||
			!startedFor(pid, owner) && !(slices.Contains(recorded, pid) && runs(pid, owner)) {
			continue
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			errs = append(errs, fmt.Errorf("kill left-over process %d: %w", pid, err))
			continue
		}
		killed++
	}
	return killed, errors.Join(errs...)
}
