package nodeimage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// isolate gives a program, which must run as root, its own mounts and processes: it becomes the first process. So
// nothing outside sees its mounts, and they end with it, as do its children, however it ends. The kernel kills it when
// the thread that started it ends.
func isolate(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if mayIsolate() { // a root who may not cannot mount anything either
		command.SysProcAttr.Cloneflags, command.SysProcAttr.Unshareflags = syscall.CLONE_NEWPID, syscall.CLONE_NEWNS
	}
}

// mayIsolate reports whether this machine lets root make namespaces. Some containers do not.
func mayIsolate() bool {
	probe := exec.Command("true") //nolint:noctx // it ends at once
	probe.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID, Unshareflags: syscall.CLONE_NEWNS}
	return probe.Run() == nil
}

// unmount removes all mounts in a folder: those that an interrupted build of an older version left behind. Files of
// this machine must not be removed through them.
func unmount(dir string) error {
	real, err := filepath.EvalSymlinks(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return fmt.Errorf("look for mounts in %s: %w", dir, err)
	}
	for _, point := range slices.Backward(mountPoints(string(mounts))) { // the inner ones first
		if !strings.HasPrefix(point, real+"/") {
			continue
		}
		if err := syscall.Unmount(point, syscall.MNT_DETACH); err != nil {
			return fmt.Errorf("unmount %s: %w; unmount it by hand (sudo umount -l %s)", point, err, point)
		}
	}
	return nil
}

// mountPoints returns the mount points in the kernel's table, in its order.
func mountPoints(table string) []string {
	var points []string
	escaped := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	for line := range strings.Lines(table) {
		if fields := strings.Fields(line); len(fields) > 4 {
			points = append(points, escaped.Replace(fields[4]))
		}
	}
	return points
}
