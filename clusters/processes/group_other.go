//go:build unix && !linux

package processes

import (
	"errors"
	"os/exec"
	"syscall"
)

// RunInGroup runs a program in its own process group. When the command's context ends, the whole group is killed.
func RunInGroup(command *exec.Cmd) error {
	return runInGroup(command, &syscall.SysProcAttr{Setpgid: true})
}

// GroupRuns reports whether a process of a group exists.
func GroupRuns(group int) bool { return !errors.Is(syscall.Kill(-group, 0), syscall.ESRCH) }
