//go:build !linux

package programs

import "os/exec"

// runInGroup runs a program, which is killed when the command's context ends.
func runInGroup(command *exec.Cmd) error { return command.Run() }
