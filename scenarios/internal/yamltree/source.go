package yamltree

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"
)

// maxFileSize is the maximal size of a scenario file, in bytes.
const maxFileSize = 10 << 20

// Source is one file: its name as the user gave it, and its text.
type Source struct {
	name  string
	data  []byte
	Text  string
	lines []string
}

// NewSource returns a file's bytes as a source, or an error that says why they cannot be a scenario file.
func NewSource(name string, data []byte) (*Source, *Error) {
	s := &Source{name: name, data: bytes.TrimPrefix(data, []byte("\ufeff"))}
	if len(data) > maxFileSize {
		return nil, s.ErrorAt(1, 1, "split it into several files", fmt.Sprintf("the file is larger than %d MB",
			maxFileSize>>20))
	}
	if at := invalidUTF8(s.data); at >= 0 {
		line := 1 + bytes.Count(s.data[:at], []byte("\n"))
		begin := bytes.LastIndexByte(s.data[:at], '\n') + 1
		return nil, s.ErrorAt(line, 1+utf8.RuneCount(s.data[begin:at]), "save the file as UTF-8",
			fmt.Sprintf("byte 0x%02x is no UTF-8", s.data[at]))
	}
	s.Text = string(s.data)
	s.lines = strings.Split(s.Text, "\n")
	return s, nil
}

// ReadSource reads a file. It never holds much more than maxFileSize of it.
func ReadSource(path string) (*Source, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading scenarios: %w", err)
	}
	defer file.Close()
	return ReadFrom(path, file)
}

// ReadFrom is ReadSource for an open file.
func ReadFrom(name string, from io.Reader) (*Source, error) {
	data, err := io.ReadAll(io.LimitReader(from, maxFileSize+1))
	if err != nil {
		return nil, fmt.Errorf("reading scenarios from %s: %w", name, err)
	}
	s, problem := NewSource(name, data)
	if problem != nil {
		return nil, problem
	}
	return s, nil
}

func invalidUTF8(data []byte) int {
	if utf8.Valid(data) {
		return -1
	}
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

// line returns the text of a line, counted from 1.
func (s *Source) line(n int) string {
	if n < 1 || n > len(s.lines) {
		return ""
	}
	return strings.TrimSuffix(s.lines[n-1], "\r")
}

// ErrorAt returns an error at a position of the file.
func (s *Source) ErrorAt(line, column int, hint, message string) *Error {
	return &Error{
		Position: Position{File: s.name, Line: max(line, 1), Column: max(column, 1)},
		Message:  message, Hint: hint, Line: s.line(line),
	}
}
