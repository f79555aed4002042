package program

import (
	"os"
	"os/signal"
	"slices"
	"syscall"
	"testing"
)

// A closed terminal ends a command as Ctrl-C does, but not under nohup.
func TestInterrupts(t *testing.T) {
	if signal.Ignored(syscall.SIGHUP) == slices.Contains(interrupts(), os.Signal(syscall.SIGHUP)) {
		t.Error("SIGHUP must be an interrupt, except if it is ignored")
	}
	if !signal.Ignored(syscall.SIGHUP) {
		t.Cleanup(func() { signal.Reset(syscall.SIGHUP) })
	}
	signal.Ignore(syscall.SIGHUP)
	if slices.Contains(interrupts(), os.Signal(syscall.SIGHUP)) {
		t.Error("SIGHUP is an interrupt, though it is ignored")
	}
}
