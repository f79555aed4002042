package scenarios

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

type kind int

const (
	scalar kind = iota
	mapping
	sequence
)

// The short tags of the values that a document may hold.
const (
	tagString = "!!str"
	tagInt    = "!!int"
	tagFloat  = "!!float"
	tagBool   = "!!bool"
	tagNull   = "!!null"
)

// node is a value in a file, with its place. Aliases and merge keys are already replaced by what they stand for.
type node struct {
	kind kind
	// tag of a scalar, and its text as written (unescaped).
	tag, text string
	// plain says that a scalar is written without quotes.
	plain bool
	// entries of a mapping, in order.
	entries []entry
	// items of a sequence.
	items []*node

	file         *source
	line, column int
	// row is the name of the table row that this value comes from.
	row string
	// literal marks a text that comes out of a table: ${ has no meaning in it.
	literal bool
	// broken marks a value that is already complained of.
	broken bool
}

type entry struct {
	key, value *node
}

// get returns the value of a key, or nil.
func (n *node) get(key string) *node {
	if n == nil || n.kind != mapping {
		return nil
	}
	for _, e := range n.entries {
		if e.key.text == key {
			return e.value
		}
	}
	return nil
}

// key returns the node of a key itself, or the mapping if there is none such.
func (n *node) key(key string) *node {
	if n != nil && n.kind == mapping {
		for _, e := range n.entries {
			if e.key.text == key {
				return e.key
			}
		}
	}
	return n
}

// at follows keys (string) and indexes (int) as far as there are nodes.
func (n *node) at(path ...any) *node {
	for _, p := range path {
		var next *node
		switch p := p.(type) {
		case string:
			next = n.get(p)
		case int:
			if n.kind == sequence && p < len(n.items) {
				next = n.items[p]
			}
		}
		if next == nil {
			return n
		}
		n = next
	}
	return n
}

func (n *node) position() Position {
	return Position{File: n.file.name, Line: n.line, Column: n.column}
}

// like makes a node of another kind at the same place.
func (n *node) like(k kind) *node {
	return &node{kind: k, file: n.file, line: n.line, column: n.column, row: n.row}
}

// what names the kind of value for a person.
func (n *node) what() string {
	switch n.kind {
	case mapping:
		return "a mapping"
	case sequence:
		return "a list"
	}
	switch n.tag {
	case tagInt, tagFloat:
		return "the number " + short(n.text)
	case tagBool:
		return "the boolean " + short(n.text)
	case tagNull:
		return "nothing"
	}
	return fmt.Sprintf("the text %q", short(n.text))
}

// short cuts a long text for a message.
func short(text string) string {
	if runes := []rune(text); len(runes) > 60 {
		return string(runes[:57]) + "..."
	}
	return text
}

// withText returns a copy with another text.
func (n *node) withText(text string) *node {
	next := *n
	next.text = text
	return &next
}

// asBroken returns a copy that is not looked at again.
func (n *node) asBroken() *node {
	next := *n
	next.broken = true
	return &next
}

// locate finds the line and the column of a piece of the node's text, given what comes before it there. Escapes and
// folded lines can hide it; then it is where the node begins.
func (n *node) locate(piece, before string) (line, column int, found bool) {
	piece, _, _ = strings.Cut(piece, "\n")
	if piece == "" || n.literal {
		return n.line, n.column, false
	}
	skip := strings.Count(before, piece)
	last := n.line + 1 + strings.Count(n.text, "\n")
	for i := n.line; i <= last; i++ {
		text, from := n.file.line(i), 0
		if i == n.line {
			runes := []rune(text)
			from = len(string(runes[:min(n.column-1, len(runes))]))
		}
		for at := strings.Index(text[from:], piece); at >= 0; at = strings.Index(text[from:], piece) {
			if skip == 0 {
				return i, 1 + utf8.RuneCountInString(text[:from+at]), true
			}
			skip--
			from += at + len(piece)
		}
	}
	return n.line, n.column, false
}

// locateIn finds a place of an expression (line from 1, column from 0) that is in the node's text after what is before
// it.
func (n *node) locateIn(expression, before string, line, column int) (atLine, atColumn int) {
	lines := strings.Split(expression, "\n")
	if line > len(lines) {
		return n.line, n.column
	}
	if line > 1 {
		before = "" // how often the text of a later line came before cannot be told
	}
	trimmed := strings.TrimLeft(lines[line-1], " \t")
	atLine, atColumn, found := n.locate(trimmed, before)
	if found {
		atColumn += max(0, column-(len(lines[line-1])-len(trimmed)))
	}
	return atLine, atColumn
}
