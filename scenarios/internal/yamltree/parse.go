package yamltree

import (
	"errors"
	"io"
	"strings"

	yaml "go.yaml.in/yaml/v3"
)

// Parse reads the documents of a file; documents without content are left out.
func Parse(file *Source, found *Problems) []*Node {
	if line, column := controlCharacter(file.lines); line > 0 {
		found.Add(file.ErrorAt(line, column, "remove it, or write it as an escape in double quotes", "a control character"))
		return nil
	}
	reader := &lineReader{lines: file.lines}
	decoder := yaml.NewDecoder(reader)
	var documents []*Node
	for {
		var document yaml.Node
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return documents
		}
		if err != nil {
			found.Add(newMistake(file, err, reader.next).error())
			return documents
		}
		if len(document.Content) == 0 || blank(document.Content[0]) {
			continue
		}
		r := resolver{file: file, found: found}
		if n := r.resolve(document.Content[0]); n != nil {
			documents = append(documents, n)
		}
	}
}

// blank reports whether a document has no content at all.
func blank(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Tag == TagNull && n.Value == "" && n.Style == 0 && n.Anchor == ""
}

// lineReader returns one line at a time, so that it is known how far the parser came before it stopped.
type lineReader struct {
	lines []string
	next  int
	rest  string
}

// Read implements io.Reader.
func (r *lineReader) Read(p []byte) (int, error) {
	if r.rest == "" {
		if r.next >= len(r.lines) {
			return 0, io.EOF
		}
		r.rest = r.lines[r.next]
		if r.next++; r.next < len(r.lines) {
			r.rest += "\n"
		}
		if r.rest == "" {
			return 0, io.EOF
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

func controlCharacter(lines []string) (line, column int) {
	for i, text := range lines {
		for j, r := range []rune(strings.TrimSuffix(text, "\r")) {
			if r < ' ' && r != '\t' || r == 0x7f || r >= 0x80 && r < 0xa0 && r != 0x85 || r == 0xfeff || r == 0xfffe ||
				r == 0xffff {
				return i + 1, j + 1
			}
		}
	}
	return 0, 0
}
