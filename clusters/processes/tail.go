package processes

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
)

// tailWindow is the size of the end of a log that is read, in bytes.
const tailWindow = 64 << 10

// klogHeader matches the start of a log line, which differs in repeated messages: severity, time and process.
var klogHeader = regexp.MustCompile(`^[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ `)

// LastLines returns the last n lines of a log. A repeated message is shown once, at its last place, with the number
// of repetitions.
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

// folded returns the last n lines. It keeps only the last one of repeated messages.
func folded(lines []string, n int) []string {
	times := map[string]int{}
	var kept []string
	for _, line := range slices.Backward(lines) {
		// Lines without a header may be a stack trace, which needs all its lines.
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
