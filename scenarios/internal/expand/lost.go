package expand

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/scenarios/expressions"
	"github.com/rehearse-dev/rehearse/scenarios/internal/yamltree"
)

// asWritten returns a copy of a table's value, in which a number or a boolean is the text in the file if YAML reads
// that text as something else: 1.30 as 1.3. It adds each such text to lost.
func asWritten(n *yamltree.Node, value any, lost map[string]string) any {
	switch value := value.(type) {
	case map[string]any:
		m := make(map[string]any, len(value))
		for key := range value {
			m[key] = asWritten(n.Get(key), value[key], lost)
		}
		return m
	case []any:
		list := make([]any, len(value))
		for i := range value {
			list[i] = asWritten(n.Items[i], value[i], lost)
		}
		return list
	case nil, string:
		return value
	}
	text, err := expressions.Format(value)
	if err != nil || text == n.Text {
		return value
	}
	lost[n.Text] = text
	return n.Text
}

// keeps reports whether the value of an expression, written into a text, is what the author wrote in the table. If it
// is not, keeps reports an error.
func (x *Expander) keeps(n *yamltree.Node, expression string, value any) bool {
	written := x.evalWritten(expression)
	if written == nil {
		return true
	}
	got, err1 := expressions.Format(value)
	want, err2 := expressions.Format(written)
	if err1 != nil || err2 != nil || got == want {
		return true
	}
	for _, text := range clusters.SortedKeys(x.lost) {
		if strings.Contains(want, text) {
			x.Found.At(x.inRow(n), fmt.Sprintf("put it in quotes in the table: %q", text), "YAML reads %s as %s", text,
				x.lost[text])
			return false
		}
	}
	return true
}

// evalWritten evaluates an expression with the values as the table writes them. It returns nil if none differs from
// what YAML reads, or if the expression calculates with a number.
func (x *Expander) evalWritten(expression string) any {
	if len(x.lost) == 0 {
		return nil
	}
	written, err := x.Expressions.Eval(expression, expressions.Variables{"case": x.written})
	if err != nil {
		return nil
	}
	return written
}

// keepsAll is keeps for all expressions of a text that needs only the table. A text that is only one expression keeps
// the value's type, unless a text is wanted.
func (x *Expander) keepsAll(n *yamltree.Node, parts []expressions.Part, value any, t reflect.Type) bool {
	if len(parts) == 1 {
		wantsText := t != nil && (t.Kind() == reflect.String || t == x.Texts)
		return !wantsText || x.keeps(n, parts[0].Text, value)
	}
	for _, p := range parts {
		if !p.IsExpression {
			continue
		}
		if value, err := x.eval(p.Text); err == nil && !x.keeps(n, p.Text, value) {
			return false
		}
	}
	return true
}

// withTexts sets the texts of numbers and booleans to those that a surrounding table writes.
func (x *Expander) withTexts(n *yamltree.Node, written any) {
	switch written := written.(type) {
	case map[string]any:
		for key := range written {
			if value := n.Get(key); value != nil {
				x.withTexts(value, written[key])
			}
		}
	case []any:
		for i := range min(len(written), len(n.Items)) {
			x.withTexts(n.Items[i], written[i])
		}
	case string:
		if read, ok := x.lost[written]; ok && n.Kind == yamltree.Scalar && n.Tag != yamltree.TagString && n.Text == read {
			n.Text = written
		}
	}
}
