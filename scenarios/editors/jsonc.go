package editors

import (
	"encoding/json"
	"fmt"
	"strings"
)

// value is a value in a JSON text with comments and trailing commas, as in VS Code's settings: its position and
// content.
type value struct {
	from, to int
	kind     byte // the first character: { [ " or that of another word
	members  []member
	items    []value
}

type member struct {
	key   string
	value value
}

// member returns an object's member with a key.
func (v value) member(key string) (value, bool) {
	for _, m := range v.members {
		if m.key == key {
			return m.value, true
		}
	}
	return value{}, false
}

// reader reads a JSON text with comments and trailing commas.
type reader struct {
	text string
	at   int
}

// read reads the only value of a text.
func read(text string) (value, error) {
	r := reader{text: text}
	v, err := r.value()
	if err == nil {
		if err = r.blank(); err == nil && r.at < len(text) {
			err = r.wrong("unexpected text after the end")
		}
	}
	return v, err
}

func (r *reader) wrong(what string) error {
	return fmt.Errorf("line %d: %s", 1+strings.Count(r.text[:r.at], "\n"), what)
}

// blank skips blanks and comments.
func (r *reader) blank() error {
	for r.at < len(r.text) {
		rest := r.text[r.at:]
		switch {
		case strings.HasPrefix(rest, "//"):
			n := strings.IndexByte(rest, '\n')
			if n < 0 {
				n = len(rest)
			}
			r.at += n
		case strings.HasPrefix(rest, "/*"):
			n := strings.Index(rest, "*/")
			if n < 0 {
				return r.wrong("a comment does not end")
			}
			r.at += n + len("*/")
		case strings.ContainsRune(" \t\r\n\ufeff", []rune(rest)[0]):
			r.at += len(string([]rune(rest)[0]))
		default:
			return nil
		}
	}
	return nil
}

func (r *reader) value() (value, error) {
	if err := r.blank(); err != nil {
		return value{}, err
	}
	if r.at == len(r.text) {
		return value{}, r.wrong("the text ends too soon")
	}
	v := value{from: r.at, kind: r.text[r.at]}
	var err error
	switch v.kind {
	case '{', '[':
		err = r.inside(&v)
	case '"':
		_, err = r.word()
	default:
		end := strings.IndexAny(r.text[r.at:], ",]} \t\r\n/")
		if end < 0 {
			end = len(r.text) - r.at
		}
		if !json.Valid([]byte(r.text[r.at : r.at+end])) {
			return v, r.wrong("no value")
		}
		r.at += end
	}
	v.to = r.at
	return v, err
}

// inside reads what is between braces or brackets.
func (r *reader) inside(v *value) error {
	end := map[byte]byte{'{': '}', '[': ']'}[v.kind]
	for r.at++; ; {
		if err := r.blank(); err != nil {
			return err
		}
		if r.at == len(r.text) {
			return r.wrong("the text ends too soon")
		}
		if r.text[r.at] == end {
			r.at++
			return nil
		}
		if err := r.element(v); err != nil {
			return err
		}
		if err := r.blank(); err != nil {
			return err
		}
		switch {
		case r.at < len(r.text) && r.text[r.at] == ',':
			r.at++
		case r.at < len(r.text) && r.text[r.at] != end:
			return r.wrong("a comma is missing")
		}
	}
}

// element reads a member of an object, or an item of a list.
func (r *reader) element(v *value) error {
	if v.kind == '[' {
		item, err := r.value()
		v.items = append(v.items, item)
		return err
	}
	key, err := r.word()
	if err != nil {
		return err
	}
	if err := r.blank(); err != nil {
		return err
	}
	if r.at == len(r.text) || r.text[r.at] != ':' {
		return r.wrong("a colon is missing")
	}
	r.at++
	next, err := r.value()
	v.members = append(v.members, member{key, next})
	return err
}

// word reads a text in quotes.
func (r *reader) word() (string, error) {
	if r.text[r.at] != '"' {
		return "", r.wrong("a key in quotes is missing")
	}
	for end := r.at + 1; end < len(r.text); end++ {
		switch r.text[end] {
		case '\\':
			end++
		case '"':
			var word string
			if err := json.Unmarshal([]byte(r.text[r.at:end+1]), &word); err != nil {
				return "", r.wrong(err.Error())
			}
			r.at = end + 1
			return word, nil
		}
	}
	return "", r.wrong("a text does not end")
}
