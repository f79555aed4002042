package expressions

import (
	"fmt"
	"strings"
)

// Part of a text with ${...} in it: either plain text or an expression.
type Part struct {
	Text string
	// IsExpression: the part is an expression, from byte Begin to byte end of the text, without ${ and }.
	IsExpression bool
	Begin, end   int
	// Late marks an expression that must wait for the run.
	Late bool
}

// TemplateError is a mistake in the ${...} of a text.
type TemplateError struct {
	Offset        int
	Message, Hint string
}

// Error implements error.
func (e *TemplateError) Error() string { return e.Message }

// Split splits a text into parts. $${ is a literal ${.
func Split(text string) ([]Part, *TemplateError) {
	if !strings.Contains(text, "${") {
		return []Part{{Text: text}}, nil
	}
	var parts []Part
	var plain strings.Builder
	for i := 0; i < len(text); {
		switch {
		case strings.HasPrefix(text[i:], "$${"):
			plain.WriteString("${")
			i += 3
		case strings.HasPrefix(text[i:], "${"):
			end := expressionEnd(text, i+2)
			if end < 0 {
				return nil, &TemplateError{
					i, "the expression after ${ is never closed",
					"close it with }, or write $${ for a literal ${",
				}
			}
			if strings.TrimSpace(text[i+2:end]) == "" {
				return nil, &TemplateError{i, "an empty expression", "write $${ for a literal ${"}
			}
			if plain.Len() > 0 {
				parts = append(parts, Part{Text: plain.String()})
				plain.Reset()
			}
			parts = append(parts, Part{Text: text[i+2 : end], IsExpression: true, Begin: i + 2, end: end})
			i = end + 1
		default:
			plain.WriteByte(text[i])
			i++
		}
	}
	if plain.Len() > 0 {
		parts = append(parts, Part{Text: plain.String()})
	}
	return parts, nil
}

// Braces returns the indexes of the ${ in a CEL expression: those outside of its strings, which CEL does not know, and
// those inside.
func Braces(expression string) (outside, inside []int) {
	for i := 0; i < len(expression); {
		t := nextToken(expression, i)
		if t.kind == tokenString {
			for at := i; at < t.end; at++ {
				if strings.HasPrefix(expression[at:t.end], "${") {
					inside = append(inside, at)
				}
			}
		} else if t.kind == tokenOther && strings.HasPrefix(expression[i:], "${") {
			outside = append(outside, i)
		}
		i = t.end
	}
	return outside, inside
}

// Escape returns the text with every ${ escaped, so that no part of it is an expression.
func Escape(text string) string { return strings.ReplaceAll(text, "${", "$${") }

// Fill evaluates the parts of a text. A text that is only one expression keeps the value's type.
func Fill(parts []Part, eval func(expression string) (any, error)) (any, error) {
	if len(parts) == 1 && parts[0].IsExpression {
		value, err := eval(parts[0].Text)
		if err != nil {
			return nil, fmt.Errorf("${%s}: %w", parts[0].Text, err)
		}
		return value, nil
	}
	var b strings.Builder
	for _, p := range parts {
		if !p.IsExpression {
			b.WriteString(p.Text)
			continue
		}
		value, err := eval(p.Text)
		if err != nil {
			return nil, fmt.Errorf("${%s}: %w", p.Text, err)
		}
		text, err := Format(value)
		if err != nil {
			return nil, fmt.Errorf("${%s}: %w", p.Text, err)
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

// Join is the reverse of Split.
func Join(parts []Part) string {
	var b strings.Builder
	plain := ""
	for _, p := range parts {
		if !p.IsExpression {
			plain += p.Text
			continue
		}
		if text, dollar := strings.CutSuffix(plain, "$"); dollar { // otherwise it would escape the ${ that follows
			b.WriteString(Escape(text) + `${"$"}`)
		} else {
			b.WriteString(Escape(plain))
		}
		plain = ""
		b.WriteString("${" + p.Text + "}")
	}
	return b.String() + Escape(plain)
}
