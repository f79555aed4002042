package scenarios

import (
	"reflect"
	"strings"
)

// expander puts the values of tables into a document and checks every expression in it, guided by the Go types: they
// say what is an expression, what must be known before the run, and what is left for it.
type expander struct {
	found       *problems
	expressions *Expressions
	*bindings
}

// node returns the node that is to be decoded as the type: a copy where something was put in.
func (x *expander) node(n *node, t reflect.Type, place string) *node {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch n.kind {
	case mapping:
		return x.mapping(n, t, place)
	case sequence:
		next := n.like(sequence)
		for _, item := range n.items {
			var element reflect.Type
			if t != nil && t.Kind() == reflect.Slice {
				element = t.Elem()
			}
			next.items = append(next.items, x.node(item, element, place))
		}
		return next
	}
	if n.tag != tagString {
		return n
	}
	switch place {
	case placeAssertion, placeWrite, placeMetric, placeEvent, placeBefore, placeOutput:
		if t != nil && t.Kind() == reflect.String {
			return x.expression(n, place)
		}
		return x.text(n, t, placeFixed, place) // a map of expressions that comes out of a table
	case placeTemplate:
		if !holdsText(t) {
			return x.text(n, t, placeFixed, place)
		}
	}
	return x.text(n, t, place, place)
}

// holdsText says whether a scalar of the type is a text that may wait for the run.
func holdsText(t reflect.Type) bool {
	return t == nil || t.Kind() == reflect.String || t.Kind() == reflect.Interface || t == reflect.TypeFor[Text]()
}

func (x *expander) mapping(n *node, t reflect.Type, place string) *node {
	next := n.like(mapping)
	if t != nil && t.Kind() == reflect.Struct {
		fields := fieldsOf(t)
		for _, e := range n.entries {
			if f, ok := fieldNamed(fields, e.key.text); ok {
				e.value = x.field(e.value, f, place)
			}
			next.entries = append(next.entries, e)
		}
		return next
	}
	var element reflect.Type
	if t != nil && t.Kind() == reflect.Map {
		element = t.Elem()
	}
	before := map[string]bool{}
	for _, e := range n.entries {
		e.key = x.mapKey(e.key, place)
		e.value = x.node(e.value, element, place)
		if before[e.key.text] {
			x.found.at(e.key, "", "the key %q is here a second time", short(e.key.text))
		}
		before[e.key.text] = true
		next.entries = append(next.entries, e)
	}
	return next
}

// field is the node of a field.
func (x *expander) field(n *node, f field, place string) *node {
	if !f.tags.copied {
		return x.node(n, f.typ, placeOf(f, place))
	}
	copied := *x.bindings
	copied.copied = true
	return (&expander{found: x.found, expressions: x.expressions, bindings: &copied}).node(n, f.typ, placeOf(f, place))
}

// placeOf is the place of a field's texts: its own, or its parent's.
func placeOf(f field, parent string) string {
	switch {
	case parent == placeFixed || f.tags.fixed:
		return placeFixed
	case f.tags.expression != "":
		return f.tags.expression
	case f.tags.table:
		return placeTable
	}
	return parent
}

// mapKey fills in a key, which is always known before the run.
func (x *expander) mapKey(key *node, place string) *node {
	if !strings.Contains(key.text, "${") || key.literal {
		return key
	}
	if place == placeTemplate || place == placeOutput {
		place = placeFixed
	}
	filled := x.text(key, reflect.TypeFor[string](), place, place)
	if !filled.broken && (filled.kind != scalar || filled.tag != tagString) {
		x.found.at(key, "", "a key must be a text, not %s", filled.what())
		filled = key
	}
	return filled
}

// text fills in what is known of a text. inner is the place of what is in the list or mapping that may come out.
func (x *expander) text(n *node, t reflect.Type, place, inner string) *node {
	if n.literal {
		if place == placeTemplate {
			return n.withText(escapeTemplate(n.text))
		}
		return n
	}
	if !strings.Contains(n.text, "${") {
		return n
	}
	parts, wrong := splitTemplate(n.text)
	if wrong != nil {
		line, column, _ := n.locate(n.text[wrong.offset:], n.text[:wrong.offset])
		x.found.within(n, line, column, wrong.hint, wrong.message)
		return n.asBroken()
	}
	late, ok := x.checkParts(n, parts, place)
	if !ok {
		return n.asBroken()
	}
	if late == 0 {
		return x.fillAll(n, parts, t, place, inner)
	}
	return x.fillSome(n, parts)
}

// checkParts checks the expressions of a text and counts those that must wait for the run.
func (x *expander) checkParts(n *node, parts []part, place string) (late int, ok bool) {
	ok = true
	for i, p := range parts {
		if !p.isExpression {
			continue
		}
		c, good := x.check(n, p.text, n.text[:p.begin], place)
		ok = ok && good
		if good && !early(c) {
			late++
			parts[i].late = true
		}
	}
	return late, ok
}

// early says whether an expression needs nothing but the table.
func early(c *compiled) bool {
	for _, u := range c.uses {
		if u.variable != "case" {
			return false
		}
	}
	return true
}

func (x *expander) eval(expression string) (any, error) {
	return x.expressions.Eval(expression, Variables{"case": x.values})
}

// fillAll evaluates a text that needs nothing but the table. What comes out is a value of its own type.
func (x *expander) fillAll(n *node, parts []part, t reflect.Type, place, inner string) *node {
	value, err := fill(parts, x.eval)
	if err != nil {
		x.found.at(x.inRow(n), "", "%v", err)
		return n.asBroken()
	}
	filled := x.valueNode(n, value)
	if t != nil && t.Kind() == reflect.String && (filled.tag == tagInt || filled.tag == tagBool) {
		filled.tag = tagString // but no float: a bare 1.30 would be 1.3
	}
	if filled.kind == scalar {
		return x.text(filled, t, place, inner)
	}
	return x.node(filled, t, inner)
}

// fillSome evaluates the expressions that need nothing but the table and leaves the others.
func (x *expander) fillSome(n *node, parts []part) *node {
	for i, p := range parts {
		if !p.isExpression || p.late {
			continue
		}
		value, err := fill(parts[i:i+1], x.eval)
		if err == nil {
			parts[i].text, err = format(value)
			parts[i].isExpression = false
		}
		if err != nil {
			x.found.at(x.inRow(n), "", "%v", err)
			return n.asBroken()
		}
	}
	return x.inRow(n).withText(joinTemplate(parts))
}
