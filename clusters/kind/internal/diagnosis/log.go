package diagnosis

import (
	"regexp"
	"strings"
)

// Plain is a log without what containerd wrote before each line.
func Plain(log string) string {
	var lines []string
	for line := range strings.Lines(log) {
		lines = append(lines, said(line))
	}
	return strings.Join(lines, "\n")
}

var (
	// criPrefix is what containerd writes before each line of a log.
	criPrefix = regexp.MustCompile(`^\S+ (?:stdout|stderr) [FP] `)
	// fatalLine is what a component says last; errorLine may be of something that it lives with.
	fatalLine = regexp.MustCompile(`^(?:Error:|error:|F\d{4} |panic:|.*"command failed")`)
	errorLine = regexp.MustCompile(`^E\d{4} `)
)

// said is a line of a log without what containerd wrote before it.
func said(line string) string {
	return strings.TrimSpace(criPrefix.ReplaceAllString(strings.TrimRight(line, "\n"), ""))
}

// hasFatal says whether a log's end has a line that a component says last.
func hasFatal(log string) bool {
	for line := range strings.Lines(log) {
		if fatalLine.MatchString(said(line)) {
			return true
		}
	}
	return false
}

// decisive is the line of a log's end that says why: the last fatal one, or else the last error, or else the last line.
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
