package scenarios

import (
	"maps"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
)

// expression checks a text that is CEL as a whole.
func (x *expander) expression(n *node, place string) *node {
	if strings.TrimSpace(n.text) == "" {
		x.found.at(n, "", "an empty expression")
		return n.asBroken()
	}
	if strings.Contains(n.text, "${") {
		line, column, _ := n.locate("${", "")
		x.found.within(n, line, column, "write what is in the braces without them: object.metadata.name == case.name",
			"this is an expression already; ${ has no meaning in it")
		return n.asBroken()
	}
	c, ok := x.check(n, n.text, "", place)
	if !ok {
		return n.asBroken()
	}
	if place != placeOutput && !c.typ.IsExactType(cel.BoolType) && !c.typ.IsExactType(cel.DynType) {
		x.found.at(n, "compare it with something", "want an expression that is true or false; this is a %s", c.typ)
		return n.asBroken()
	}
	return n
}

// check compiles an expression in a node's text and looks at the variables that it uses.
func (x *expander) check(n *node, expression, before, place string) (*compiled, bool) {
	c := x.expressions.cache.get(expression)
	if c.err != nil {
		x.found.at(n, "", "%v", c.err)
		return c, false
	}
	for _, m := range c.mistakes {
		line, column := n.locateIn(expression, before, m.line, m.column)
		x.found.within(n, line, column, m.hint, m.message)
	}
	ok := len(c.mistakes) == 0
	for _, u := range c.uses {
		if message, hint := x.bindings.check(u, place); message != "" {
			line, column := n.locateIn(expression, before, u.line, u.column)
			x.found.within(n, line, column, hint, message)
			ok = false
		}
	}
	return c, ok
}

// inRow marks a node as coming from the present row.
func (x *expander) inRow(n *node) *node {
	next := *n
	next.row = x.row
	return &next
}

// valueNode makes a node of a plain value, in place of the one it was computed for.
func (x *expander) valueNode(at *node, value any) *node {
	n := x.inRow(at)
	n.plain, n.literal = false, true
	switch value := value.(type) {
	case map[string]any:
		n.kind = mapping
		for _, key := range slices.Sorted(maps.Keys(value)) {
			n.entries = append(n.entries, entry{key: x.valueNode(at, key), value: x.valueNode(at, value[key])})
		}
	case []any:
		n.kind = sequence
		for _, item := range value {
			n.items = append(n.items, x.valueNode(at, item))
		}
	default:
		n.kind = scalar
		n.tag, n.text = scalarText(value)
	}
	return n
}

// scalarText is the tag and the text of a plain scalar.
func scalarText(value any) (tag, text string) {
	if value == nil {
		return tagNull, ""
	}
	text, _ = format(value)
	switch value.(type) {
	case bool:
		return tagBool, text
	case int64:
		return tagInt, text
	case float64:
		return tagFloat, text
	}
	return tagString, text
}
