// Package yamltree parses YAML strictly into nodes with positions, and reports errors at a position.
package yamltree

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/scenarios/internal/words"
)

// Kind of a node.
type Kind int

// The kinds of nodes.
const (
	Scalar Kind = iota
	Mapping
	Sequence
)

// The short tags of the values that a document may hold.
const (
	TagString = "!!str"
	TagInt    = "!!int"
	TagFloat  = "!!float"
	TagBool   = "!!bool"
	TagNull   = "!!null"
)

// Node is a value in a file, with its position. Aliases and merge keys are already replaced by what they stand for.
type Node struct {
	Kind Kind
	// Tag of a scalar, and its text as written (unescaped).
	Tag, Text string
	// Plain says that a scalar is written without quotes and without a tag.
	Plain bool
	// Entries of a mapping, in order.
	Entries []Entry
	// Items of a sequence.
	Items []*Node

	// File that holds the value.
	File         *Source
	line, column int
	// Row is the name of the table row that this value comes from.
	Row string
	// Literal marks a text from a table: ${ has no meaning in it.
	Literal bool
	// Broken marks a value whose error is already reported.
	Broken bool
}

// Entry of a mapping.
type Entry struct {
	Key, Value *Node
}

// Get returns the value of a key, or nil.
func (n *Node) Get(key string) *Node {
	if n == nil || n.Kind != Mapping {
		return nil
	}
	for _, e := range n.Entries {
		if e.Key.Text == key {
			return e.Value
		}
	}
	return nil
}

// Key returns the node of a key itself, or the mapping if it has no such key.
func (n *Node) Key(key string) *Node {
	if n != nil && n.Kind == Mapping {
		for _, e := range n.Entries {
			if e.Key.Text == key {
				return e.Key
			}
		}
	}
	return n
}

// At follows keys (string) and indexes (int) as far as nodes exist, and returns the last node.
func (n *Node) At(path ...any) *Node {
	for _, p := range path {
		var next *Node
		switch p := p.(type) {
		case string:
			next = n.Get(p)
		case int:
			if n.Kind == Sequence && p < len(n.Items) {
				next = n.Items[p]
			}
		}
		if next == nil {
			return n
		}
		n = next
	}
	return n
}

// Position of the node in its file.
func (n *Node) Position() Position {
	return Position{File: n.File.name, Line: n.line, Column: n.column}
}

// Like makes a node of another kind at the same place.
func (n *Node) Like(k Kind) *Node {
	return &Node{Kind: k, File: n.File, line: n.line, column: n.column, Row: n.Row}
}

// What describes the value in messages.
func (n *Node) What() string {
	switch n.Kind {
	case Mapping:
		return "a mapping"
	case Sequence:
		return "a list"
	}
	switch n.Tag {
	case TagInt, TagFloat:
		return "the number " + words.Short(n.Text)
	case TagBool:
		return "the boolean " + words.Short(n.Text)
	case TagNull:
		return "nothing"
	}
	return fmt.Sprintf("the string %q", words.Short(n.Text))
}

// WithText returns a copy with another text.
func (n *Node) WithText(text string) *Node {
	next := *n
	next.Text = text
	return &next
}

// AsBroken returns a copy that is not checked again.
func (n *Node) AsBroken() *Node {
	next := *n
	next.Broken = true
	return &next
}

// Locate finds the line and the column of a piece of the node's text; before is the text before the piece. Escapes
// and folded lines can hide the piece: then Locate returns the start of the node.
func (n *Node) Locate(piece, before string) (line, column int, found bool) {
	piece, _, _ = strings.Cut(piece, "\n")
	if piece == "" || n.Literal {
		return n.line, n.column, false
	}
	skip := strings.Count(before, piece)
	last := n.line + 1 + strings.Count(n.Text, "\n")
	for i := n.line; i <= last; i++ {
		text, from := n.File.line(i), 0
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

// LocateIn finds the position of a place in an expression (line from 1, column from 0). The expression is in the
// node's text; before is the text before it.
func (n *Node) LocateIn(expression, before string, line, column int) (atLine, atColumn int) {
	lines := strings.Split(expression, "\n")
	if line > len(lines) {
		return n.line, n.column
	}
	if line > 1 {
		before = "" // it is unknown how often the text of a later line occurs before it
	}
	trimmed := strings.TrimLeft(lines[line-1], " \t")
	atLine, atColumn, found := n.Locate(trimmed, before)
	if found {
		atColumn += max(0, column-(len(lines[line-1])-len(trimmed)))
	}
	return atLine, atColumn
}
