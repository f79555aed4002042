package page

import (
	"regexp"
	"strings"

	"github.com/rehearse-dev/rehearse/reports/internal/plain"
)

// difference is one field that differs from the wanted one. Object is the object that has it, if the message names one.
type difference struct {
	Object string `json:"o,omitempty"`
	Field  string `json:"f"`
	Wanted string `json:"w"`
	Seen   string `json:"s"`
}

// The forms of differences in messages (harness/matching, harness/writes).
var (
	oneLined  = regexp.MustCompile(`^\s*([^\s:][^:]*?): wanted (.+?), (is .+|not there|not in .+)$`)
	forbidden = regexp.MustCompile(`^\s*([^\s:][^:]*?): must be absent, is (.+)$`)
	subject   = regexp.MustCompile(`^(\S+):$`)
	titled    = regexp.MustCompile(`^\s*([\w.\[\]"-]+):$`)
	wantLine  = regexp.MustCompile(`^\s+(?:want|wanted)\s+(.+)$`)
	gotLine   = regexp.MustCompile(`^\s+(?:got|is)\s+(.+)$`)
)

// mostDifferences is how many differences the page shows for a message.
const mostDifferences = 40

// differences returns the differences in a message. If it has none of these forms, the page shows all of it.
func differences(message string) []difference {
	var all []difference
	lines := strings.Split(plain.Clean(message), "\n")
	about := ""
	for i, line := range lines {
		if line != "" && line[0] != ' ' {
			about = ""
			if m := subject.FindStringSubmatch(line); m != nil {
				about = m[1]
			}
		}
		if m := oneLined.FindStringSubmatch(line); m != nil {
			all = append(all, difference{about, m[1], m[2], strings.TrimPrefix(m[3], "is ")})
		} else if m := forbidden.FindStringSubmatch(line); m != nil {
			all = append(all, difference{about, m[1], "absent", m[2]})
		} else if m := titled.FindStringSubmatch(line); m != nil && i+2 < len(lines) {
			want, got := wantLine.FindStringSubmatch(lines[i+1]), gotLine.FindStringSubmatch(lines[i+2])
			if want != nil && got != nil {
				if line[0] != ' ' {
					about = "" // the line is the field itself
				}
				all = append(all, difference{about, m[1], want[1], got[1]})
			}
		}
		if len(all) == mostDifferences {
			break
		}
	}
	return all
}

// excerpt returns the lines of one step in a file, without their common indent. The position is file:line:column.
func excerpt(sources map[string]string, position string) (text string, line int) {
	file, line, ok := plain.Position(position)
	if !ok {
		return "", 0
	}
	lines := strings.Split(sources[file], "\n")
	if line < 1 || line > len(lines) || sources[file] == "" {
		return "", 0
	}
	first := lines[line-1]
	margin := len(first) - len(strings.TrimLeft(first, " "))
	end := line
	for ; end < len(lines); end++ {
		next := lines[end]
		indent := len(next) - len(strings.TrimLeft(next, " "))
		if strings.TrimSpace(next) != "" && (indent < margin || indent == margin) {
			break
		}
	}
	part := lines[line-1 : end]
	for len(part) > 0 && strings.TrimSpace(part[len(part)-1]) == "" {
		part = part[:len(part)-1]
	}
	var b strings.Builder
	for _, l := range part {
		b.WriteString(strings.TrimRight(l[min(margin, len(l)):], " \r") + "\n")
	}
	return b.String(), line
}
