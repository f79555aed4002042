// Package expand expands tables in YAML, and checks every expression in it.
package expand

import (
	"reflect"
	"strings"

	"github.com/rehearse-dev/rehearse/scenarios/expressions"
	"github.com/rehearse-dev/rehearse/scenarios/internal/tags"
	"github.com/rehearse-dev/rehearse/scenarios/internal/words"
	"github.com/rehearse-dev/rehearse/scenarios/internal/yamltree"
)

// Expander fills the values of tables into a document and checks every expression in it. The Go types say what is an
// expression, what must be known before the run, and what may wait for it.
type Expander struct {
	Found       *yamltree.Problems
	Expressions *expressions.Evaluator
	// Texts is a type that can be written as a text that may wait for the run; nil if there is none.
	Texts reflect.Type
	// InTables returns what replaces a text that a table contains; nil if tables are read as they are written.
	InTables func(text string) string
	*Bindings
}

// Node returns the node to decode as the type, with the values of tables filled in.
func (x *Expander) Node(n *yamltree.Node, t reflect.Type, place string) *yamltree.Node {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch n.Kind {
	case yamltree.Mapping:
		return x.mapping(n, t, place)
	case yamltree.Sequence:
		next := n.Like(yamltree.Sequence)
		for _, item := range n.Items {
			var element reflect.Type
			if t != nil && t.Kind() == reflect.Slice {
				element = t.Elem()
			}
			next.Items = append(next.Items, x.Node(item, element, place))
		}
		return next
	}
	if n.Tag != yamltree.TagString || n.Broken {
		return n
	}
	switch place {
	case placeAssertion, placeWrite, placeMetric, placeEvent, placeBefore, placeOutput:
		if t != nil && t.Kind() == reflect.String {
			return x.expression(n, place)
		}
		return x.text(n, t, PlaceFixed, place) // a map of expressions from a table
	case PlaceTemplate:
		if !x.holdsText(t) {
			return x.text(n, t, PlaceFixed, place)
		}
	}
	return x.text(n, t, place, place)
}

// holdsText reports whether a scalar of the type is a text that may wait for the run.
func (x *Expander) holdsText(t reflect.Type) bool {
	return t == nil || t.Kind() == reflect.String || t.Kind() == reflect.Interface || t == x.Texts
}

func (x *Expander) mapping(n *yamltree.Node, t reflect.Type, place string) *yamltree.Node {
	next := n.Like(yamltree.Mapping)
	if t != nil && t.Kind() == reflect.Struct {
		fields := tags.Of(t)
		for _, e := range n.Entries {
			if f, ok := tags.Named(fields, e.Key.Text); ok {
				e.Value = x.field(e.Value, f, place)
			}
			next.Entries = append(next.Entries, e)
		}
		return next
	}
	var element reflect.Type
	if t != nil && t.Kind() == reflect.Map {
		element = t.Elem()
	}
	before := map[string]bool{}
	for _, e := range n.Entries {
		e.Key = x.mapKey(e.Key, place)
		e.Value = x.Node(e.Value, element, place)
		if before[e.Key.Text] {
			x.Found.At(e.Key, "", "the key %q is repeated", words.Short(e.Key.Text))
		}
		before[e.Key.Text] = true
		next.Entries = append(next.Entries, e)
	}
	return next
}

// field expands the node of a field.
func (x *Expander) field(n *yamltree.Node, f tags.Field, place string) *yamltree.Node {
	if !f.Tags.Copied {
		return x.Node(n, f.Type, placeOf(f, place))
	}
	copied := *x.Bindings
	copied.copied = true
	return (&Expander{Found: x.Found, Expressions: x.Expressions, Texts: x.Texts, Bindings: &copied}).Node(n, f.Type,
		placeOf(f, place))
}

// placeOf is the place of a field's texts: its own, or its parent's.
func placeOf(f tags.Field, parent string) string {
	switch {
	case parent == PlaceFixed || f.Tags.Fixed:
		return PlaceFixed
	case f.Tags.Expression != "":
		return f.Tags.Expression
	case f.Tags.Table:
		return placeTable
	}
	return parent
}

// mapKey fills in a key, which is always known before the run.
func (x *Expander) mapKey(key *yamltree.Node, place string) *yamltree.Node {
	if !strings.Contains(key.Text, "${") || key.Literal {
		return key
	}
	if place == PlaceTemplate || place == placeOutput {
		place = PlaceFixed
	}
	filled := x.text(key, reflect.TypeFor[string](), place, place)
	if !filled.Broken && (filled.Kind != yamltree.Scalar || filled.Tag != yamltree.TagString) {
		x.Found.At(key, "", "a key must be a string, not %s", filled.What())
		filled = key
	}
	return filled
}

// text fills in what is known of a text. If the result is a list or a mapping, inner is the place of the texts in it.
func (x *Expander) text(n *yamltree.Node, t reflect.Type, place, inner string) *yamltree.Node {
	if n.Literal {
		if place == PlaceTemplate {
			return n.WithText(expressions.Escape(n.Text))
		}
		return n
	}
	if !strings.Contains(n.Text, "${") {
		return n
	}
	parts, wrong := expressions.Split(n.Text)
	if wrong != nil {
		line, column, _ := n.Locate(n.Text[wrong.Offset:], n.Text[:wrong.Offset])
		x.Found.Within(n, line, column, wrong.Hint, wrong.Message)
		return n.AsBroken()
	}
	late, ok := x.checkParts(n, parts, place)
	if !ok {
		return n.AsBroken()
	}
	if late == 0 {
		return x.fillAll(n, parts, t, place, inner)
	}
	return x.fillSome(n, parts)
}

// checkParts checks the expressions of a text and counts those that must wait for the run.
func (x *Expander) checkParts(n *yamltree.Node, parts []expressions.Part, place string) (late int, ok bool) {
	ok = true
	for i, p := range parts {
		if !p.IsExpression {
			continue
		}
		c, good := x.check(n, p.Text, n.Text[:p.Begin], place)
		ok = ok && good
		if good && !early(c) {
			late++
			parts[i].Late = true
		}
	}
	return late, ok
}

// early reports whether an expression needs only the table.
func early(c *expressions.Checked) bool {
	for _, u := range c.Uses {
		if u.Variable != "case" {
			return false
		}
	}
	return true
}

func (x *Expander) eval(expression string) (any, error) {
	return x.Expressions.Eval(expression, expressions.Variables{"case": x.Values})
}

// fillAll evaluates a text that needs only the table. The result keeps its own type.
func (x *Expander) fillAll(n *yamltree.Node, parts []expressions.Part, t reflect.Type, place,
	inner string,
) *yamltree.Node {
	value, err := expressions.Fill(parts, x.eval)
	if err != nil {
		x.Found.At(x.inRow(n), "", "%v", err)
		return n.AsBroken()
	}
	if !x.keepsAll(n, parts, value, t) {
		return n.AsBroken()
	}
	filled := x.valueNode(n, value)
	if place == placeTable && len(parts) == 1 {
		x.withTexts(filled, x.evalWritten(parts[0].Text))
	}
	if t != nil && t.Kind() == reflect.String && (filled.Tag == yamltree.TagInt || filled.Tag == yamltree.TagBool) {
		filled.Tag = yamltree.TagString // but not a float: an unquoted 1.30 would become 1.3
	}
	if filled.Kind == yamltree.Scalar {
		return x.text(filled, t, place, inner)
	}
	return x.Node(filled, t, inner)
}

// fillSome evaluates the expressions that need only the table, and keeps the others.
func (x *Expander) fillSome(n *yamltree.Node, parts []expressions.Part) *yamltree.Node {
	for i, p := range parts {
		if !p.IsExpression || p.Late {
			continue
		}
		value, err := expressions.Fill(parts[i:i+1], x.eval)
		if err == nil && !x.keeps(n, p.Text, value) {
			return n.AsBroken()
		}
		if err == nil {
			parts[i].Text, err = expressions.Format(value)
			parts[i].IsExpression = false
		}
		if err != nil {
			x.Found.At(x.inRow(n), "", "%v", err)
			return n.AsBroken()
		}
	}
	return x.inRow(n).WithText(expressions.Join(parts))
}
