package processes

import (
	"path/filepath"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

func TestLastLines(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	const text = `I1122 01:22:10.000000   28804 server.go:1] starting
E1122 01:22:13.270412   28804 watcher.go:575] no kind "Workload"
E1122 01:22:13.271221   28804 cacher.go:500] failed to list
panic: x
  frame
E1122 01:22:14.285554   28804 watcher.go:575] no kind "Workload"
  frame
E1122 01:22:15.332548   28804 watcher.go:575] no kind "Workload"
`
	golden.Write(t, log, text)
	for n, want := range map[int]string{
		5: `  E1122 01:22:13.271221   28804 cacher.go:500] failed to list
  panic: x
    frame
    frame
  E1122 01:22:15.332548   28804 watcher.go:575] no kind "Workload" (3 times)`,
		1: `  E1122 01:22:15.332548   28804 watcher.go:575] no kind "Workload" (3 times)`,
	} {
		if got := LastLines(log, n); got != want {
			t.Errorf("the last %d:\n%s\nwant:\n%s", n, got, want)
		}
	}
}
