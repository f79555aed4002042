//go:build unix && !linux

package releases

import (
	"os/exec"
	"syscall"
)

// inOwnGroup gives a command its own process group, which is killed as a whole when the command's context ends.
func inOwnGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
