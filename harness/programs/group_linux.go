package programs

import (
	"os/exec"
	"runtime"
	"syscall"
)

// runInGroup runs a program in a process group of its own, which is killed as a whole when the command's context ends.
// The program itself is also killed when this process is; the kernel does that when the thread ends that started it, so
// that thread is kept.
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
