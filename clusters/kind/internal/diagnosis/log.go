package diagnosis

import (
	"regexp"
	"strings"
)

// Plain returns a log without containerd's prefix of each line.
func Plain(log string) string {
	var lines []string
	for line := range strings.Lines(log) {
		lines = append(lines, said(line))
	}
	return strings.Join(lines, "\n")
}

var (
	// criPrefix is containerd's prefix of each line of a log.
	criPrefix = regexp.MustCompile(`^\S+ (?:stdout|stderr) [FP] `)
	// fatalLine matches what a component logs last. errorLine may match an error that a component survives.
	fatalLine = regexp.MustCompile(`^(?:Error:|error:|F\d{4} |panic:|.*"command failed")`)
	errorLine = regexp.MustCompile(`^E\d{4} `)
)

// said returns a line of a log without containerd's prefix.
func said(line string) string {
	return strings.TrimSpace(criPrefix.ReplaceAllString(strings.TrimRight(line, "\n"), ""))
}

// hasFatal reports whether a log's end has a fatal line.
func hasFatal(log string) bool {
	for line := range strings.Lines(log) {
		if fatalLine.MatchString(said(line)) {
			return true
		}
	}
	return false
}

// decisive returns the line of a log that says why: the last fatal, otherwise the last error, otherwise the last line.
func decisive(log string) string {
	last, failed, fatal := "", "", ""
	for line := range strings.Lines(log) {
		if line = said(line); line == "" {
			continue
		}
		last = line
		switch {
		case fatalLine.MatchString(line):
			fatal = line
		case errorLine.MatchString(line):
			failed = line
		}
	}
	for _, line := range []string{fatal, failed} {
		if line != "" {
			return line
		}
	}
	return last
}
