package processes

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
)

// RunInGroup runs a program in its own process group. When the command's context ends, the whole group is killed. The
// kernel also kills the program itself when the thread that started it ends. So this thread is kept, and the program
// dies with this process.
func RunInGroup(command *exec.Cmd) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return runInGroup(command, &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL})
}

// GroupRuns reports whether a process of a group runs. One that has ended does not, even if nobody reaps it: the first
// process of a container may not reap orphans. If this cannot be seen, the group counts as running.
func GroupRuns(group int) bool {
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return true
	}
	for _, file := range files {
		seen, err := readStat(file)
		if errors.Is(err, os.ErrPermission) {
			continue // another user's process, where /proc hides those
		}
		if err != nil {
			return true
		}
		if seen != nil && seen.group == strconv.Itoa(group) && seen.state != "Z" && seen.state != "X" {
			return true
		}
	}
	return false
}
