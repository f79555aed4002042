package yamltree

import (
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

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
			found.Add(syntaxError(file, err, reader.next))
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

var (
	parserLine    = regexp.MustCompile(`^line (\d+): `)
	unknownAnchor = regexp.MustCompile(`unknown anchor '(.*)' referenced`)
)

// syntaxError finds the position of the parser's error. The parser names the line where the surrounding block begins,
// or no line.
func syntaxError(file *Source, err error, read int) *Error {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	line := parserLineOf(err)
	first := line
	message = parserLine.ReplaceAllString(message, "")
	if m := unknownAnchor.FindStringSubmatch(message); m != nil {
		return unknownAlias(file, m[1], read)
	}
	if tab := tabIndent(file, max(line-1, 1), read+1); tab > 0 {
		column := 1 + strings.IndexByte(file.line(tab), '\t')
		return file.ErrorAt(tab, column, "YAML is indented with spaces", "a tab in the indentation")
	}
	switch {
	case strings.HasPrefix(message, "did not find expected"):
		line = read
	case line == 0:
		line = 1
	}
	line = min(line, len(file.lines))
	if at, column := unquotedCEL(file, max(first, 1), min(read, len(file.lines))); at > 0 {
		return file.ErrorAt(at, column, QuoteCEL, "not valid YAML: "+message)
	}
	for line > 1 && strings.TrimSpace(file.line(line)) == "" {
		line--
	}
	text := file.line(line)
	column := 1 + len(text) - len(strings.TrimLeft(text, " "))
	return file.ErrorAt(line, column, syntaxHint(message), "not valid YAML: "+message)
}

// QuoteCEL is the hint for an expression that YAML splits.
const QuoteCEL = "put the expression in quotes: inside {...} YAML interprets its commas, brackets and braces"

// celInFlow matches an expression without quotes in a flow mapping, with a character that has a meaning in YAML.
var celInFlow = regexp.MustCompile(`[{,]\s*(cel:\s+[^"'\s&*|>][^"']*?[\[\](){}])`)

// unquotedCEL finds the last such expression in some lines.
func unquotedCEL(file *Source, from, to int) (line, column int) {
	for i := to; i >= from; i-- {
		text := file.line(i)
		if at := celInFlow.FindAllStringSubmatchIndex(text, -1); at != nil {
			return i, 1 + utf8.RuneCountInString(text[:at[len(at)-1][2]])
		}
	}
	return 0, 0
}

func parserLineOf(err error) int {
	line := 0
	if m := parserLine.FindStringSubmatch(strings.TrimPrefix(err.Error(), "yaml: ")); m != nil {
		line, _ = strconv.Atoi(m[1])
	}
	return line
}

func syntaxHint(message string) string {
	switch {
	case strings.Contains(message, "mapping values are not allowed"):
		return "a value with \": \" in it needs quotes; otherwise look at the indentation"
	case strings.Contains(message, "did not find expected key"), strings.Contains(message, "'-' indicator"):
		return "look at the indentation of this line and the one before"
	case strings.Contains(message, "cannot start any token"):
		return "a value that begins with @, `, % or a tab needs quotes"
	case strings.Contains(message, "end of stream"):
		return "a quote that opens here is not closed"
	case strings.Contains(message, "could not find expected ':'"):
		return "write key: value, with a space after the colon"
	}
	return ""
}

func unknownAlias(file *Source, name string, read int) *Error {
	for i := min(read, len(file.lines)); i > 0; i-- {
		if at := strings.LastIndex(file.line(i), "*"+name); at >= 0 {
			column := 1 + len([]rune(file.line(i)[:at]))
			return file.ErrorAt(i, column, "an anchor is defined before it is used, in the same document: &"+name,
				"no anchor "+name+" for this alias")
		}
	}
	return file.ErrorAt(read, 1, "", "no anchor "+name+" for an alias")
}

// tabIndent finds the first line that is indented with a tab.
func tabIndent(file *Source, from, to int) int {
	for i := from; i <= min(to, len(file.lines)); i++ {
		text := file.line(i)
		indent := text[:len(text)-len(strings.TrimLeft(text, " \t"))]
		if strings.Contains(indent, "\t") && len(indent) < len(text) {
			return i
		}
	}
	return 0
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
