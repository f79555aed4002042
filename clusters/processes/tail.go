package processes

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
)

// tailWindow is how much of a log's end is looked at, in bytes.
const tailWindow = 64 << 10

// klogHeader is what differs when a Kubernetes component says the same thing again: time, process and place.
var klogHeader = regexp.MustCompile(`^[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ `)

// LastLines returns the last n lines of a log. What a component says over and over is shown once, where it last was
// said, with the number of times.
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
	var text strings.Builder
	for _, line := range folded(lines, n) {
		text.WriteString("\n  " + line)
	}
	return strings.TrimPrefix(text.String(), "\n")
}

// folded are the last n lines, of equal ones the last.
func folded(lines []string, n int) []string {
	times := map[string]int{}
	var kept []string
	for _, line := range slices.Backward(lines) {
		// Lines without a header may be a stack, which is nothing without any of its lines.
		if said := klogHeader.ReplaceAllString(line, ""); said != line {
			if times[said]++; times[said] > 1 {
				continue
			}
		}
		if len(kept) < n {
			kept = append(kept, line)
		}
	}
	slices.Reverse(kept)
	for i, line := range kept {
		if n := times[klogHeader.ReplaceAllString(line, "")]; n > 1 {
			kept[i] = fmt.Sprintf("%s (%d times)", line, n)
		}
	}
	return kept
}
