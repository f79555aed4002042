package releases

import (
	"os/exec"
	"syscall"
)

// inOwnGroup gives a command a process group that is killed as a whole when its context ends, and makes the command die
// with this process.
func inOwnGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
