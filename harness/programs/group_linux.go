package programs

import (
	"os/exec"
	"runtime"
	"syscall"
)

// runInGroup runs a program in its own process group. When the command's context ends, the whole group is killed. The
// kernel also kills the program itself when the thread that started it ends. So this thread is kept, and the program
// dies with this process.
func runInGroup(command *exec.Cmd) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	err := command.Run()
	if command.Process != nil {
		_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL) // what the program left running
	}
	return err
}
