package terminal

import (
	"strings"

	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/internal/plain"
)

// style is how signs and emphasis are printed.
type style struct{ unicode, color bool }

// sign returns the mark of a status, one column wide.
func (s style) sign(status reports.Status) string {
	type pair struct{ ascii, color string }
	p := map[reports.Status]pair{
		reports.Passed:  {"+", green},
		reports.Failed:  {"x", red},
		reports.Error:   {"!", red},
		reports.Known:   {"~", yellow},
		reports.NotRun:  {"-", dim},
		reports.Skipped: {"o", yellow},
	}[status.OrNotRun()]
	return s.paint(p.color, s.either(reports.Sign(status), p.ascii))
}

// direction returns the sign of a transition.
func (s style) direction(d string) string {
	switch d {
	case "up":
		return s.either("↑", "^")
	case "down":
		return s.either("↓", "v")
	default:
		return s.arrow()
	}
}

func (s style) arrow() string    { return s.either("→", ">") }
func (s style) ellipsis() string { return s.either("…", "...") }

// plain replaces our own signs beyond ASCII if the terminal does not support them.
func (s style) plain(text string) string {
	if s.unicode {
		return text
	}
	return strings.ReplaceAll(text, "→", "->")
}

// spinner turns while something is in progress.
func (s style) spinner(frame int) string {
	frames := []rune(s.either("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", ".oOo"))
	return s.paint(cyan, string(frames[frame%len(frames)]))
}

func (s style) either(unicode, ascii string) string {
	if s.unicode {
		return unicode
	}
	return ascii
}

// The colours, as parameters of the control sequence that selects them.
const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

// paint adds a colour to a text, if colours are allowed.
func (s style) paint(color, text string) string {
	if !s.color || text == "" {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

// Clean returns a text without control sequences, which could change what a terminal shows. Texts of servers and
// programs may contain them.
func Clean(text string) string { return plain.Clean(text) }
