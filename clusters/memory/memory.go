// Package memory finds out how much memory new processes may use on this machine.
package memory

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
)

// Available is how many bytes new processes can use: what the kernel reports as available, but no more than the limits
// of this process's control groups allow.
func Available() (int64, error) { return available(os.DirFS("/")) }

func available(root fs.FS) (int64, error) {
	data, err := fs.ReadFile(root, "proc/meminfo")
	if err != nil {
		return 0, fmt.Errorf("read how much memory there is: %w", err)
	}
	kilobytes, found := field(data, "MemAvailable:")
	if !found {
		return 0, fmt.Errorf("read how much memory there is: /proc/meminfo has no MemAvailable")
	}
	least := kilobytes << 10
	for _, group := range groups(root) {
		if left, limited := group.left(root); limited {
			least = min(least, left)
		}
	}
	return max(least, 0), nil
}

// group is a control group, with the file names of its version.
type group struct {
	dir, limit, usage, inactive string
}

// groups returns the control groups of this process, and their parents.
func groups(root fs.FS) []group {
	data, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return nil // no control groups, no limits
	}
	var all []group
	for line := range strings.Lines(string(data)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) < 3 {
			continue
		}
		var g group
		switch {
		case parts[1] == "":
			g = group{"sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"}
		case strings.Contains(","+parts[1]+",", ",memory,"):
			g = group{"sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"}
		default:
			continue
		}
		top := g.dir
		for dir := path.Join(top, parts[2]); len(dir) >= len(top); dir = path.Dir(dir) {
			g.dir = dir
			all = append(all, g)
		}
	}
	return all
}

// left is how much a group leaves for new processes. Pages of inactive files count as free. False without a limit.
func (g group) left(root fs.FS) (int64, bool) {
	limit, limited := number(root, path.Join(g.dir, g.limit))
	usage, known := number(root, path.Join(g.dir, g.usage))
	if !limited || !known {
		return 0, false
	}
	stat, _ := fs.ReadFile(root, path.Join(g.dir, "memory.stat")) // without it, no pages count as free
	inactive, _ := field(stat, g.inactive)
	return limit - usage + inactive, true
}

// number is the number in a file; false if it has none, such as "max".
func number(root fs.FS, name string) (int64, bool) {
	data, err := fs.ReadFile(root, name)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
	return n, err == nil
}

// field is the number after a name, in lines of names and numbers.
func field(data []byte, name string) (int64, bool) {
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) >= 2 && words[0] == name {
			n, err := strconv.ParseInt(words[1], 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}
