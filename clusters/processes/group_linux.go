package processes

import (
	"bytes"
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
// process of a container may not reap orphans.
func GroupRuns(group int) bool {
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return true
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has just ended
		}
		// proc(5): state, parent and group, after the name in parentheses.
		fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
		if len(fields) > 2 && string(fields[2]) == strconv.Itoa(group) && !bytes.Contains([]byte("ZX"), fields[0]) {
			return true
		}
	}
	return false
}
