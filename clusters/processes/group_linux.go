package processes

import (
	"os/exec"
	"runtime"
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
