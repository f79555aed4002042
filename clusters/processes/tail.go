package processes

import (
	"io"
	"os"
	"strings"
)

// tailWindow is how much of a log's end is looked at, in bytes.
const tailWindow = 64 << 10

// LastLines returns the last n lines of a log; usage texts, which flag errors drown in, are left out.
func LastLines(path string, n int) string {
	file, err := os.Open(path)
	if err != nil {
		return "(no log: " + err.Error() + ")"
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.Size() > tailWindow {
		_, _ = file.Seek(-tailWindow, io.SeekEnd)
	}
	data, err := io.ReadAll(file)
	if err != nil {
		return "(log not readable: " + err.Error() + ")"
	}
	lines := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	for i, line := range lines {
		lines[i] = "  " + line
	}
	return strings.Join(lines, "\n")
}
