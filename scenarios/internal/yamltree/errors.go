package yamltree

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/scenarios/internal/words"
)

// Error is a mistake at a position in a scenario file.
type Error struct {
	// Position of what is wrong.
	Position Position
	// Message says what is wrong.
	Message string
	// Hint says what to do, if known.
	Hint string
	// Line is the source text of the position's line.
	Line string
}

// Error is file:line:column: message, then the line with a caret under the column, then the hint.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", e.Position, e.Message)
	if strings.TrimSpace(e.Line) != "" {
		line, caret := excerpt(e.Line, e.Position.Column)
		fmt.Fprintf(&b, "\n    %s\n    %s", line, caret)
	}
	if e.Hint != "" {
		fmt.Fprintf(&b, "\n  %s", e.Hint)
	}
	return b.String()
}

// The maximal width of a line in an error, in characters, and how many of them are before the column.
const (
	excerptWidth  = 120
	excerptBefore = 60
)

// excerpt cuts a long line to the part around a column, and returns it with the line of the caret.
func excerpt(line string, column int) (text, caret string) {
	runes := []rune(strings.TrimRight(line, "\r\n"))
	for i, r := range runes {
		if r < ' ' && r != '\t' || r == 0x7f || r == '\ufeff' {
			runes[i] = '\ufffd' // no control characters on the terminal
		}
	}
	at := min(max(column-1, 0), len(runes))
	if len(runes) > excerptWidth {
		from := max(0, min(at-excerptBefore, len(runes)-excerptWidth))
		to := min(len(runes), from+excerptWidth)
		cut := append([]rune(nil), runes[from:to]...)
		at -= from
		if from > 0 {
			cut, at = append([]rune("..."), cut...), at+3
		}
		if to < len(runes) {
			cut = append(cut, []rune("...")...)
		}
		runes = cut
	}
	pad := make([]rune, at)
	for i := range pad {
		pad[i] = ' '
		if runes[i] == '\t' {
			pad[i] = '\t'
		}
	}
	return string(runes), string(pad) + "^"
}

// Problems collects errors in the order in which they are found. It keeps each once: the rows of a table repeat them.
type Problems struct {
	List []*Error
	seen map[string]bool
	// Count of all errors, including repeated ones.
	Count int
}

// Add adds an error, unless it is already in the list.
func (p *Problems) Add(e *Error) {
	p.Count++
	key := e.Position.String() + e.Message
	if p.seen[key] {
		return
	}
	if p.seen == nil {
		p.seen = map[string]bool{}
	}
	p.seen[key] = true
	p.List = append(p.List, e)
}

// At adds an error at a node.
func (p *Problems) At(n *Node, hint, format string, args ...any) {
	p.Within(n, n.line, n.column, hint, fmt.Sprintf(format, args...))
}

// Within adds an error at a position of a node's text.
func (p *Problems) Within(n *Node, line, column int, hint, message string) {
	if n.Row != "" {
		message = fmt.Sprintf("case %q: %s", n.Row, message)
	}
	p.Add(n.File.ErrorAt(line, column, hint, message))
}

// JoinErrors joins errors outside of the files and errors in them. It returns nil if there are none.
func JoinErrors(outside []error, inside []*Error) error {
	errs := slices.Clone(outside)
	for _, e := range inside {
		errs = append(errs, e)
	}
	return errors.Join(errs...)
}

// Position is a place in a file; the line and the column count from 1.
type Position struct {
	File         string
	Line, Column int
}

// String is file:line:column.
func (p Position) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column) }

// OneOf checks that a word is one of the known ones. An empty word is allowed.
func (p *Problems) OneOf(text string, known []string, n *Node, what string) {
	if text != "" && !slices.Contains(known, text) {
		p.At(n, words.Suggest(text, known, "there are"), "no %s is called %q", what, words.Short(text))
	}
}
