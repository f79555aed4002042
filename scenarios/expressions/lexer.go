package expressions

import (
	"strings"
)

// namespaceVariable replaces "namespace", which CEL reserves, in compiled expressions. It has the same length, so
// that columns stay correct.
const namespaceVariable = "_nmspace_"

// token is a piece of a CEL expression, as far as this package needs it.
type token struct {
	kind       tokenKind
	start, end int
}

type tokenKind int

const (
	tokenOther tokenKind = iota
	tokenSpace
	tokenIdent
	tokenString
)

// nextToken returns the token that begins at i. A string that is not closed goes to the end.
func nextToken(text string, i int) token {
	c := text[i]
	switch {
	case c == ' ' || c == '\t' || c == '\n' || c == '\r':
		return token{tokenSpace, i, i + 1}
	case strings.HasPrefix(text[i:], "//"):
		end := len(text)
		if at := strings.IndexByte(text[i:], '\n'); at >= 0 {
			end = i + at
		}
		return token{tokenSpace, i, end}
	case c == '"' || c == '\'':
		return token{tokenString, i, stringEnd(text, i, false)}
	case isLetter(c):
		end := i + 1
		for end < len(text) && (isLetter(text[end]) || isDigit(text[end])) {
			end++
		}
		if end < len(text) && (text[end] == '"' || text[end] == '\'') {
			if raw, prefix := stringPrefix(text[i:end]); prefix {
				return token{tokenString, i, stringEnd(text, end, raw)}
			}
		}
		return token{tokenIdent, i, end}
	case c == '`': // a field whose name is no identifier
		end := len(text)
		if at := strings.IndexByte(text[i+1:], '`'); at >= 0 {
			end = i + at + 2
		}
		return token{tokenOther, i, end}
	case isDigit(c):
		end := i + 1
		for end < len(text) && (isLetter(text[end]) || isDigit(text[end])) {
			end++
		}
		return token{tokenOther, i, end}
	}
	return token{tokenOther, i, i + 1}
}

// stringPrefix reports whether the word is the r, b or both of a raw or byte string.
func stringPrefix(word string) (raw, prefix bool) {
	switch strings.ToLower(word) {
	case "r", "rb", "br":
		return true, true
	case "b":
		return false, true
	}
	return false, false
}

// stringEnd returns the end of the string whose quote is at i.
func stringEnd(text string, i int, raw bool) int {
	quote := text[i : i+1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(text[i:], triple) {
		quote = triple
	}
	for j := i + len(quote); j < len(text); j++ {
		if text[j] == '\\' && !raw {
			j++
			continue
		}
		if strings.HasPrefix(text[j:], quote) {
			return j + len(quote)
		}
	}
	return len(text)
}

func isLetter(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

// expressionEnd returns the index of the brace that closes an expression which begins at i, or -1.
func expressionEnd(text string, i int) int {
	depth := 0
	for i < len(text) {
		t := nextToken(text, i)
		if t.kind == tokenOther {
			switch text[t.start] {
			case '{':
				depth++
			case '}':
				if depth == 0 {
					return t.start
				}
				depth--
			}
		}
		i = t.end
	}
	return -1
}

// withoutReserved replaces the variable "namespace" by one that CEL does not reserve. A field of that name stays.
func withoutReserved(expression string) string {
	var b strings.Builder
	afterDot := false
	for i := 0; i < len(expression); {
		t := nextToken(expression, i)
		word := expression[t.start:t.end]
		if t.kind == tokenIdent && word == "namespace" && !afterDot {
			word = namespaceVariable
		}
		b.WriteString(word)
		if t.kind != tokenSpace {
			afterDot = word == "." || afterDot && word == "?" // .? selects an optional field
		}
		i = t.end
	}
	return b.String()
}

// Identifier reports whether a name can follow a dot in CEL.
func Identifier(name string) bool {
	for i := range len(name) {
		if !isLetter(name[i]) && (i == 0 || !isDigit(name[i])) {
			return false
		}
	}
	switch name {
	case "", "true", "false", "null", "in":
		return false
	}
	return true
}
