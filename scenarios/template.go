package scenarios

import (
	"fmt"
	"strings"
)

// part of a text with ${...} in it: either plain text or an expression.
type part struct {
	text string
	// expression, where isExpression; begin and end are its bytes in the text, without ${ and }.
	isExpression bool
	begin, end   int
	// late is an expression that waits for the run.
	late bool
}

// templateError is a mistake in the ${...} of a text.
type templateError struct {
	offset        int
	message, hint string
}

// Error implements error.
func (e *templateError) Error() string { return e.message }

// splitTemplate takes a text apart; $${ is a plain ${.
func splitTemplate(text string) ([]part, *templateError) {
	if !strings.Contains(text, "${") {
		return []part{{text: text}}, nil
	}
	var parts []part
	var plain strings.Builder
	for i := 0; i < len(text); {
		switch {
		case strings.HasPrefix(text[i:], "$${"):
			plain.WriteString("${")
			i += 3
		case strings.HasPrefix(text[i:], "${"):
			end := expressionEnd(text, i+2)
			if end < 0 {
				return nil, &templateError{
					i, "the expression that ${ begins is never closed",
					"close it with }, or write $${ for a plain ${",
				}
			}
			if strings.TrimSpace(text[i+2:end]) == "" {
				return nil, &templateError{i, "an empty expression", "write $${ for a plain ${"}
			}
			if plain.Len() > 0 {
				parts = append(parts, part{text: plain.String()})
				plain.Reset()
			}
			parts = append(parts, part{text: text[i+2 : end], isExpression: true, begin: i + 2, end: end})
			i = end + 1
		default:
			plain.WriteByte(text[i])
			i++
		}
	}
	if plain.Len() > 0 {
		parts = append(parts, part{text: plain.String()})
	}
	return parts, nil
}

// escapeTemplate makes a text of which nothing is taken for an expression.
func escapeTemplate(text string) string { return strings.ReplaceAll(text, "${", "$${") }

// fill evaluates the parts of a text. A text that is one expression and no more keeps the value's type.
func fill(parts []part, eval func(expression string) (any, error)) (any, error) {
	if len(parts) == 1 && parts[0].isExpression {
		value, err := eval(parts[0].text)
		if err != nil {
			return nil, fmt.Errorf("${%s}: %w", parts[0].text, err)
		}
		return value, nil
	}
	var b strings.Builder
	for _, p := range parts {
		if !p.isExpression {
			b.WriteString(p.text)
			continue
		}
		value, err := eval(p.text)
		if err != nil {
			return nil, fmt.Errorf("${%s}: %w", p.text, err)
		}
		text, err := format(value)
		if err != nil {
			return nil, fmt.Errorf("${%s}: %w", p.text, err)
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

// joinTemplate is splitTemplate's reverse.
func joinTemplate(parts []part) string {
	var b strings.Builder
	plain := ""
	for _, p := range parts {
		if !p.isExpression {
			plain += p.text
			continue
		}
		if text, dollar := strings.CutSuffix(plain, "$"); dollar { // or it would escape what follows
			b.WriteString(escapeTemplate(text) + `${"$"}`)
		} else {
			b.WriteString(escapeTemplate(plain))
		}
		plain = ""
		b.WriteString("${" + p.text + "}")
	}
	return b.String() + escapeTemplate(plain)
}
