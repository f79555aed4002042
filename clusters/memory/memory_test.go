package memory

import (
	"testing"
	"testing/fstest"
)

func TestAvailable(t *testing.T) {
	const meminfo = "MemTotal: 24000 kB\nMemAvailable:   8192 kB\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"no limit": {map[string]string{}, 8 << 20},
		"a group's limit": {map[string]string{
			"proc/self/cgroup":             "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max": "4194304\n", "sys/fs/cgroup/a/b/memory.current": "1048576\n",
		}, 3 << 20},
		"files make room": {map[string]string{
			"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.max": "4194304\n",
			"sys/fs/cgroup/a/memory.current": "2097152\n", "sys/fs/cgroup/a/memory.stat": "anon 5\ninactive_file 1048576\n",
		}, 3 << 20},
		"the group around": {map[string]string{
			"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "max\n",
			"sys/fs/cgroup/a/memory.max": "2097152", "sys/fs/cgroup/a/memory.current": "0",
		}, 2 << 20},
		"a container's": {map[string]string{
			"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "1048576",
			"sys/fs/cgroup/memory.current": "0",
		}, 1 << 20},
		"the older groups": {map[string]string{
			"proc/self/cgroup": "3:cpu:/x\n2:hugetlb,memory:/x\n",
			"sys/fs/cgroup/memory/x/memory.limit_in_bytes": "1048576", "sys/fs/cgroup/memory/x/memory.usage_in_bytes": "524288",
		}, 1 << 19},
		"more than there is": {map[string]string{
			"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.max": "999999999999",
			"sys/fs/cgroup/a/memory.current": "0",
		}, 8 << 20},
		"nothing is left": {map[string]string{
			"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.max": "10",
			"sys/fs/cgroup/a/memory.current": "20",
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			root := fstest.MapFS{"proc/meminfo": {Data: []byte(meminfo)}}
			for file, text := range c.files {
				root[file] = &fstest.MapFile{Data: []byte(text)}
			}
			if got, err := available(root); err != nil || got != c.want {
				t.Errorf("got %d (%v), want %d", got, err, c.want)
			}
		})
	}
	if _, err := available(fstest.MapFS{}); err == nil {
		t.Error("what cannot be read is no number")
	}
}
