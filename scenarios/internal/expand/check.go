package expand

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"

	"github.com/rehearse-dev/rehearse/scenarios/expressions"
	"github.com/rehearse-dev/rehearse/scenarios/internal/yamltree"
)

// expression checks a text that is CEL as a whole.
func (x *Expander) expression(n *yamltree.Node, place string) *yamltree.Node {
	if strings.TrimSpace(n.Text) == "" {
		x.Found.At(n, "", "an empty expression")
		return n.AsBroken()
	}
	outside, inside := expressions.Braces(n.Text)
	if len(outside) > 0 {
		line, column, _ := n.Locate("${", n.Text[:outside[0]])
		x.Found.Within(n, line, column, "write the expression without the braces: object.metadata.name == case.name",
			"this is already an expression; omit ${")
		return n.AsBroken()
	}
	c, ok := x.check(n, n.Text, "", place)
	for _, at := range inside {
		ok = ok && x.keptAsText(n, at)
	}
	if !ok {
		return n.AsBroken()
	}
	if place != placeOutput && !c.Type.IsExactType(cel.BoolType) && !c.Type.IsExactType(cel.DynType) {
		x.Found.At(n, "compare it with a value", "want an expression that is true or false, not a %s", c.Type)
		return n.AsBroken()
	}
	return n
}

// keptAsText checks that a ${ inside of a string of an expression, at a byte of the node's text, is meant as text. It
// is not meant as text if what follows is an expression that could be evaluated here.
func (x *Expander) keptAsText(n *yamltree.Node, at int) bool {
	parts, wrong := expressions.Split(n.Text[at:])
	if wrong != nil {
		return true
	}
	expression := parts[0].Text
	c := x.Expressions.Check(expression)
	if c.Err != nil || len(c.Mistakes) > 0 || len(c.Uses) == 0 {
		return true
	}
	for _, u := range c.Uses {
		if !slices.Contains(x.variables(PlaceTemplate), u.Variable) {
			return true
		}
	}
	line, column, _ := n.Locate("${", n.Text[:at])
	x.Found.Within(n, line, column, fmt.Sprintf("write %s without quotes and ${; the text itself is \"$\" + \"{%s}\"",
		expression, expression), "a ${ inside of an expression's string is not evaluated")
	return false
}

// check compiles an expression in a node's text and checks the variables that it uses.
func (x *Expander) check(n *yamltree.Node, expression, before, place string) (*expressions.Checked, bool) {
	c := x.Expressions.Check(expression)
	if c.Err != nil {
		x.Found.At(n, "", "%v", c.Err)
		return c, false
	}
	for _, m := range c.Mistakes {
		line, column := n.LocateIn(expression, before, m.Line, m.Column)
		if m.Hint == "" && before != "" {
			m.Hint = "write $${ for a literal ${"
		}
		x.Found.Within(n, line, column, m.Hint, m.Message)
	}
	ok := len(c.Mistakes) == 0
	for _, u := range c.Uses {
		if message, hint := x.Bindings.check(u, place); message != "" {
			line, column := n.LocateIn(expression, before, u.Line, u.Column)
			x.Found.Within(n, line, column, hint, message)
			ok = false
		}
	}
	return c, ok
}

// inRow marks a node as coming from the current row.
func (x *Expander) inRow(n *yamltree.Node) *yamltree.Node {
	next := *n
	next.Row = x.Row
	return &next
}

// valueNode returns a node with a plain value, at the position of the node that the value was computed for.
func (x *Expander) valueNode(at *yamltree.Node, value any) *yamltree.Node {
	n := x.inRow(at)
	n.Plain, n.Literal = false, true
	switch value := value.(type) {
	case map[string]any:
		n.Kind = yamltree.Mapping
		for _, key := range slices.Sorted(maps.Keys(value)) {
			n.Entries = append(n.Entries, yamltree.Entry{Key: x.valueNode(at, key), Value: x.valueNode(at, value[key])})
		}
	case []any:
		n.Kind = yamltree.Sequence
		for _, item := range value {
			n.Items = append(n.Items, x.valueNode(at, item))
		}
	default:
		n.Kind = yamltree.Scalar
		n.Tag, n.Text = scalarText(value)
	}
	return n
}

// scalarText is the tag and the text of a plain scalar.
func scalarText(value any) (tag, text string) {
	if value == nil {
		return yamltree.TagNull, ""
	}
	text, _ = expressions.Format(value)
	switch value.(type) {
	case bool:
		return yamltree.TagBool, text
	case int64:
		return yamltree.TagInt, text
	case float64:
		return yamltree.TagFloat, text
	}
	return yamltree.TagString, text
}
