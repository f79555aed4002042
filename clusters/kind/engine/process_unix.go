//go:build unix

package engine

import (
	"os/exec"
	"syscall"
)

// inOwnGroup protects the engine's client from a Ctrl-C on the terminal: only the command's context may end it.
func inOwnGroup(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}
