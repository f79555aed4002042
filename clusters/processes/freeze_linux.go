package processes

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// freezeTimeout is how long a process may take to stop: its threads stop when they return from the kernel.
const freezeTimeout = 5 * time.Second

func freeze(pid int) error { return syscall.Kill(pid, syscall.SIGSTOP) }

// awaitStill returns when none of a frozen process's threads runs.
func awaitStill(pid int) error {
	for deadline := time.Now().Add(freezeTimeout); ; time.Sleep(time.Millisecond) {
		still, err := standsStill(pid)
		if err != nil || still {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("it still runs after %v", freezeTimeout)
		}
	}
}

func thaw(pid int) error {
	err := syscall.Kill(pid, syscall.SIGCONT)
	if errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return err
}

// standsStill reports whether every thread of a process is stopped.
func standsStill(pid int) (bool, error) {
	threads, err := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "task", "*", "stat"))
	if err != nil || len(threads) == 0 {
		return false, errors.Join(err, errors.New("it has ended"))
	}
	for _, file := range threads {
		if seen, err := readStat(file); err != nil || seen != nil && seen.state != "T" {
			return false, err
		}
	}
	return true, nil
}
