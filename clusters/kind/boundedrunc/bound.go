package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// capabilities by their number (capability.h).
var capabilities = []string{
	"CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_DAC_READ_SEARCH", "CAP_FOWNER", "CAP_FSETID", "CAP_KILL", "CAP_SETGID",
	"CAP_SETUID", "CAP_SETPCAP",
	"CAP_LINUX_IMMUTABLE", "CAP_NET_BIND_SERVICE", "CAP_NET_BROADCAST", "CAP_NET_ADMIN", "CAP_NET_RAW", "CAP_IPC_LOCK",
	"CAP_IPC_OWNER",
	"CAP_SYS_MODULE", "CAP_SYS_RAWIO", "CAP_SYS_CHROOT", "CAP_SYS_PTRACE", "CAP_SYS_PACCT", "CAP_SYS_ADMIN",
	"CAP_SYS_BOOT", "CAP_SYS_NICE",
	"CAP_SYS_RESOURCE", "CAP_SYS_TIME", "CAP_SYS_TTY_CONFIG", "CAP_MKNOD", "CAP_LEASE", "CAP_AUDIT_WRITE",
	"CAP_AUDIT_CONTROL", "CAP_SETFCAP",
	"CAP_MAC_OVERRIDE", "CAP_MAC_ADMIN", "CAP_SYSLOG", "CAP_WAKE_ALARM", "CAP_BLOCK_SUSPEND", "CAP_AUDIT_READ",
	"CAP_PERFMON", "CAP_BPF",
	"CAP_CHECKPOINT_RESTORE",
}

// boundingSet reads from /proc/self/status which capabilities the host allows.
func boundingSet(status string) (map[string]bool, error) {
	for line := range strings.Lines(status) {
		text, found := strings.CutPrefix(line, "CapBnd:")
		if !found {
			continue
		}
		mask, err := strconv.ParseUint(strings.TrimSpace(text), 16, 64)
		if err != nil {
			return nil, fmt.Errorf("read the capabilities of this host: %w", err)
		}
		set := map[string]bool{}
		for number, name := range capabilities {
			if mask&(1<<number) != 0 {
				set[name] = true
			}
		}
		return set, nil
	}
	return nil, errors.New("/proc/self/status has no CapBnd")
}

// specFile returns the file from which a runc command starts a process: a bundle's config.json or, for exec, a
// process file.
func specFile(args []string) (file string, isProcess bool) {
	command, bundle, process := "", "", ""
	for i, arg := range args {
		name, value, attached := strings.Cut(arg, "=")
		if !attached && i+1 < len(args) {
			value = args[i+1]
		}
		switch name {
		case "--bundle", "-b":
			bundle = value
		case "--process", "-p":
			process = value
		case "create", "run", "exec":
			if command == "" {
				command = arg
			}
		}
	}
	switch command {
	case "create", "run":
		return filepath.Join(bundle, "config.json"), false
	case "exec":
		return process, true
	}
	return "", false
}

// boundFile removes the capabilities that are not in the set from a specification.
func boundFile(file string, isProcess bool, set map[string]bool) error {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // runc reports this better
	}
	if err != nil {
		return err
	}
	bounded, err := bound(data, isProcess, set)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if bytes.Equal(bounded, data) {
		return nil
	}
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	return os.WriteFile(file, bounded, info.Mode().Perm())
}

func bound(data []byte, isProcess bool, set map[string]bool) ([]byte, error) {
	var spec map[string]any
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(&spec); err != nil {
		return nil, err
	}
	process := spec
	if !isProcess {
		process, _ = spec["process"].(map[string]any)
	}
	lists, _ := process["capabilities"].(map[string]any)
	changed := false
	for name, value := range lists {
		list, ok := value.([]any)
		if !ok {
			continue
		}
		kept := slices.DeleteFunc(slices.Clone(list), func(c any) bool { text, ok := c.(string); return ok && !set[text] })
		if len(kept) != len(list) {
			lists[name], changed = kept, true
		}
	}
	if !changed {
		return data, nil
	}
	return json.Marshal(spec)
}
