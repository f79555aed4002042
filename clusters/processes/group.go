package processes

import (
	"os/exec"
	"syscall"
)

func runInGroup(command *exec.Cmd, attributes *syscall.SysProcAttr) error {
	command.SysProcAttr = attributes
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	err := command.Run()
	if command.Process != nil {
		_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL) // what the program left running
	}
	return err
}
