// Command boundedrunc is runc for a host whose processes lack some capability. With --privileged, an old engine
// requests all capabilities that the kernel knows, which such a host rejects. This program requests only those that the
// host can grant, and then runs runc ($RUNC, default /usr/sbin/runc).
package main

import (
	"fmt"
	"os"
	"syscall"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "boundedrunc:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if file, isProcess := specFile(args); file != "" {
		status, err := os.ReadFile("/proc/self/status")
		if err != nil {
			return fmt.Errorf("read the capabilities of this host: %w", err)
		}
		bound, err := boundingSet(string(status))
		if err != nil {
			return err
		}
		if err := boundFile(file, isProcess, bound); err != nil {
			return err
		}
	}
	runc := os.Getenv("RUNC")
	if runc == "" {
		runc = "/usr/sbin/runc"
	}
	return syscall.Exec(runc, append([]string{runc}, args...), os.Environ())
}
