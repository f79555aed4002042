package yamltree

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	yaml "go.yaml.in/yaml/v3"
)

var (
	parserLine    = regexp.MustCompile(`^line (\d+): `)
	unknownAnchor = regexp.MustCompile(`unknown anchor '(.*)' referenced`)
)

// mistake is an error of the parser. The parser names the line where the surrounding block begins, or no line.
type mistake struct {
	file    *Source
	message string
	// named is the line that the parser names, read is the last line that it has read, and line is the line with the
	// mistake, as far as it is known.
	named, read, line int
}

func newMistake(file *Source, err error, read int) mistake {
	m := mistake{file: file, message: messageOf(err), named: parserLineOf(err), read: min(read, len(file.lines))}
	switch {
	case strings.HasPrefix(m.message, "did not find expected"):
		m.line = m.firstThatFails()
	default:
		m.line = min(max(m.named, 1), len(file.lines))
	}
	return m
}

func messageOf(err error) string {
	return parserLine.ReplaceAllString(strings.TrimPrefix(err.Error(), "yaml: "), "")
}

func parserLineOf(err error) int {
	line := 0
	if m := parserLine.FindStringSubmatch(strings.TrimPrefix(err.Error(), "yaml: ")); m != nil {
		line, _ = strconv.Atoi(m[1])
	}
	return line
}

// mostTries is how often a file is parsed again to find a mistake.
const mostTries = 20

// firstThatFails returns the first line up to which the file has the mistake. The parser may have read some lines more.
func (m mistake) firstThatFails() int {
	line := m.read
	for range mostTries {
		if line <= 1 || !m.failsWithin(line-1) {
			break
		}
		line--
	}
	return line
}

// failsWithin reports whether the first lines of the file have the mistake by themselves.
func (m mistake) failsWithin(lines int) bool {
	decoder := yaml.NewDecoder(strings.NewReader(strings.Join(m.file.lines[:lines], "\n") + "\n"))
	for {
		var document yaml.Node
		if err := decoder.Decode(&document); err != nil {
			return messageOf(err) == m.message
		}
	}
}

// error describes the mistake, at the place where the author must look.
func (m mistake) error() *Error {
	if anchor := unknownAnchor.FindStringSubmatch(m.message); anchor != nil {
		return unknownAlias(m.file, anchor[1], m.read)
	}
	if tab := m.tab(); tab > 0 {
		column := 1 + strings.IndexByte(m.file.line(tab), '\t')
		return m.file.ErrorAt(tab, column, "YAML is indented with spaces", "a tab in the indentation")
	}
	message := "not valid YAML: " + m.message
	if at, column, hint := m.unquoted(); at > 0 {
		return m.file.ErrorAt(at, column, hint, message)
	}
	line := m.line
	for line > 1 && strings.TrimSpace(m.file.line(line)) == "" {
		line--
	}
	text := m.file.line(line)
	column := 1 + len(text) - len(strings.TrimLeft(text, " "))
	return m.file.ErrorAt(line, column, syntaxHint(m.message), message)
}

// tab returns the line that is indented with a tab, if that is the mistake. Tabs inside of a block scalar are no
// mistake.
func (m mistake) tab() int {
	from := m.line
	if strings.Contains(m.message, "a tab character") {
		for i := min(m.read+1, len(m.file.lines)); i >= from; i-- { // the parser names the begin of the block scalar
			if indentedWithTab(m.file.line(i)) {
				return i
			}
		}
		return 0
	}
	if text := m.file.line(from); indentedWithTab(text) && strings.TrimSpace(text) != "" {
		return from
	}
	return 0
}

func indentedWithTab(text string) bool {
	return strings.Contains(text[:len(text)-len(strings.TrimLeft(text, " \t"))], "\t")
}

// QuoteCEL is the hint for an expression that YAML splits.
const QuoteCEL = "put the expression in quotes: inside {...} YAML interprets its commas, brackets and braces"

// quoteTag is the hint for an expression that YAML takes for a tag.
const quoteTag = "put it in quotes: YAML reads ! as a tag"

// unquotedTexts match texts that need quotes, each from the first group on.
var unquotedTexts = []struct {
	text *regexp.Regexp
	// inFlow: only a mistake inside of {...} or [...]. plain: not a mistake inside of quotes.
	inFlow, plain bool
	hint          string
}{
	{text: regexp.MustCompile(`(?:^|[{\[,:-])\s*(![^\s!]*\()`), plain: true, hint: quoteTag},
	{text: regexp.MustCompile(`:\s+(![A-Za-z_])`), plain: true, hint: quoteTag},
	{
		text: regexp.MustCompile(`\b(?:cel|before):\s+((?:"(?:[^"\\]|\\.)*"|'[^']*')\s*[^\s,}#])`),
		hint: "put the whole expression in single quotes",
	},
	{
		text: regexp.MustCompile(`[\w-]:\s+((?:"(?:[^"\\]|\\.)*"|'[^']*')\s*[^\s,}\]#:'])`),
		hint: "put the whole value in quotes",
	},
	{text: regexp.MustCompile(`(?:[{,]|^)\s*(cel:\s+[^"'\s&*|>][^"']*?[\[\](){}])`), inFlow: true, hint: QuoteCEL},
	{
		text: regexp.MustCompile(`[{\[,:]\s*([^"'\s{}\[\],:]*\$\{)`), inFlow: true, plain: true,
		hint: `put a text with an expression in quotes: "${namespace}"`,
	},
}

// quotedText matches a text in quotes.
var quotedText = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|'[^']*'`)

// unquoted finds the last text in the line with the mistake that needs quotes, and returns what to do.
func (m mistake) unquoted() (line, column int, hint string) {
	inFlow := strings.Contains(m.message, "',' or") || strings.Contains(m.message, "node content")
	if !inFlow && !slices.ContainsFunc([]string{"expected key", "alphabetic or numeric", "whitespace or line break"},
		func(what string) bool { return strings.Contains(m.message, what) }) {
		return 0, 0, ""
	}
	text := m.file.line(m.line)
	plain := quotedText.ReplaceAllStringFunc(text, func(quoted string) string { return strings.Repeat("_", len(quoted)) })
	for _, u := range unquotedTexts {
		in := text
		if u.plain {
			in = plain
		}
		if at := u.text.FindAllStringSubmatchIndex(in, -1); at != nil && (inFlow || !u.inFlow) {
			return m.line, 1 + utf8.RuneCountInString(text[:at[len(at)-1][2]]), u.hint
		}
	}
	return 0, 0, ""
}

func syntaxHint(message string) string {
	switch {
	case strings.Contains(message, "mapping values are not allowed"):
		return "a value with \": \" in it needs quotes; otherwise look at the indentation"
	case strings.Contains(message, "did not find expected key"), strings.Contains(message, "'-' indicator"):
		return "look at the indentation of this line and the one before"
	case strings.Contains(message, "',' or"):
		return "a brace or bracket is not closed, or a comma is missing"
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
