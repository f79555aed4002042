package scenarios

import (
	"fmt"
	"maps"
	"slices"
)

// The places of expressions, as the expression tags name them; each has its own variables.
const (
	placeTemplate  = ""          // ${...} in a text
	placeFixed     = "fixed"     // ${...} in what must be known before the run
	placeTable     = "table"     // ${...} in the values of a table
	placeAssertion = "assertion" // cel of eventually, always and never
	placeWrite     = "write"     // cel of expect
	placeMetric    = "metric"    // cel of a metric's expect
	placeEvent     = "event"     // cel of a sequence's event
	placeBefore    = "before"    // before of a sequence's event
	placeOutput    = "output"    // outputs; what there is depends on the verb
)

// bindings are what the expressions of a step, or of what is before the steps, can refer to.
type bindings struct {
	// columns of the tables that apply, nil without any; values are those of the row.
	columns map[string]*column
	values  map[string]any
	row     string
	// outputs of the earlier steps, and of all of them with their places.
	outputs    map[string]bool
	allOutputs map[string]Position
	// used collects the outputs that are referred to.
	used map[string]bool
	// results are the variables that the step's outputs have.
	results []string
	// loaded says that loads go on during the step.
	loaded bool
	// copied says that this is in a copy of a step, which has an index.
	copied bool
}

// column of a table.
type column struct {
	key  *node
	used bool
}

// variables lists what a place knows.
func (b *bindings) variables(place string) []string {
	var names []string
	if b.columns != nil {
		names = append(names, "case")
	}
	if place == placeFixed || place == placeTable {
		return names
	}
	names = append(names, "namespace", "outputs", "scenario")
	if b.copied {
		names = append(names, "index")
	}
	switch place {
	case placeAssertion:
		names = append(names, "object", "objects")
	case placeWrite, placeBefore:
		names = append(names, "object")
	case placeEvent:
		names = append(names, "object", "before")
	case placeMetric:
		names = append(names, "value", "delta")
	case placeOutput:
		names = append(names, b.results...)
		if b.loaded {
			names = append(names, "loads")
		}
	}
	return names
}

// check says what is wrong with the use of a variable at a place; "" if nothing is.
func (b *bindings) check(u use, place string) (message, hint string) {
	known := b.variables(place)
	if !slices.Contains(known, u.variable) {
		return b.unknown(u.variable, place, known)
	}
	if u.variable == "outputs" {
		b.used[u.field] = true
	}
	switch {
	case u.field == "":
		for _, c := range b.columns {
			c.used = c.used || u.variable == "case"
		}
	case u.variable == "case":
		c := b.columns[u.field]
		if c == nil {
			return fmt.Sprintf("the table has no column %q", u.field), suggest(u.field, slices.Collect(maps.Keys(b.columns)),
				"its columns")
		}
		c.used = true
	case u.variable == "outputs" && !b.outputs[u.field]:
		if later, ok := b.allOutputs[u.field]; ok {
			return fmt.Sprintf("the output %q is not there yet", u.field),
				fmt.Sprintf("the step that makes it, in line %d, is not before this one", later.Line)
		}
		return fmt.Sprintf("no earlier step has an output %q", u.field),
			suggest(u.field, slices.Collect(maps.Keys(b.outputs)), "outputs so far")
	case u.variable == "scenario" && u.field != "id" && u.field != "name":
		return fmt.Sprintf("scenario has no field %q", u.field), suggest(u.field, []string{"id", "name"}, "it has")
	}
	return "", ""
}

func (b *bindings) unknown(name, place string, known []string) (message, hint string) {
	message = fmt.Sprintf("%s is not known here", name)
	switch {
	case name == "case":
		return message, "there is no table: give the scenario or the step cases"
	case place == placeTable:
		return message, "the values of a table are plain; write the expression where the value is used"
	case place == placeFixed:
		return message, "this must be known before the run: only ${case.x} can stand here"
	case name == "index":
		return message, "only the steps of parallel, and the loads of during, have an index"
	case place == placeTemplate && name != "namespace" && name != "scenario" && name != "outputs":
		return message, fmt.Sprintf("%s is known only in cel and outputs of a step that has it", name)
	}
	return message, suggest(name, known, "known here")
}
