package terminal

import (
	"regexp"
	"strings"

	"github.com/rehearse-dev/rehearse/reports/internal/plain"
)

// stretch is a part of a line, in bytes, and its colour.
type stretch struct {
	from, to int
	color    string
}

// The forms of wanted and actual values in messages (harness/matching, harness/writes).
var (
	wantedAndSeen = regexp.MustCompile(`: (wanted .+?), ((?:is |not ).+)$`)
	notAbsent     = regexp.MustCompile(`: (must be absent), (is .+)$`)
	wantedLine    = regexp.MustCompile(`^\s+(want(?:ed)?(?::| ).+)$`)
	seenLine      = regexp.MustCompile(`^\s+((?:got(?::| )|is  ).+)$`)
)

// stretches returns the parts of a line with the wanted and the actual value.
func stretches(line string) []stretch {
	for _, both := range []*regexp.Regexp{wantedAndSeen, notAbsent} {
		if m := both.FindStringSubmatchIndex(line); m != nil {
			return []stretch{{m[2], m[3], green}, {m[4], m[5], red}}
		}
	}
	if m := wantedLine.FindStringSubmatchIndex(line); m != nil {
		return []stretch{{m[2], m[3], green}}
	}
	if m := seenLine.FindStringSubmatchIndex(line); m != nil {
		return []stretch{{m[2], m[3], red}}
	}
	return nil
}

// explained wraps one of our texts, and colours wanted and actual values.
func (l lines) explained(text string) string {
	if !l.style.color {
		return plain.Wrap(text, l.width)
	}
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		parts := stretches(line)
		at := 0
		for part := range strings.SplitSeq(plain.Wrap(line, l.width), "\n") {
			bare := strings.TrimLeft(part, " ")
			at += max(strings.Index(line[at:], bare), 0)
			out = append(out, part[:len(part)-len(bare)]+l.colored(bare, at, parts))
			at += len(bare)
		}
	}
	return strings.Join(out, "\n")
}

// colored paints the parts of a text. at is the byte at which the text begins in its line.
func (l lines) colored(text string, at int, parts []stretch) string {
	var b strings.Builder
	done := 0
	for _, p := range parts {
		from, to := min(max(p.from-at, done), len(text)), min(max(p.to-at, done), len(text))
		b.WriteString(text[done:from] + l.style.paint(p.color, text[from:to]))
		done = to
	}
	return b.String() + text[done:]
}
