//go:build unix

package engine

import (
	"os/exec"
	"syscall"
)

// inOwnGroup keeps a Ctrl-C on the terminal from the engine's client: how a command ends is for its context to say.
func inOwnGroup(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}
