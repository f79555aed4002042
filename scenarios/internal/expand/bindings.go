package expand

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/scenarios/expressions"
	"github.com/rehearse-dev/rehearse/scenarios/internal/words"
	"github.com/rehearse-dev/rehearse/scenarios/internal/yamltree"
)

// The places of expressions, as the expression tags name them; each has its own variables.
const (
	PlaceTemplate  = ""          // ${...} in a text
	PlaceFixed     = "fixed"     // ${...} in what must be known before the run
	placeTable     = "table"     // ${...} in the values of a table
	placeAssertion = "assertion" // cel of eventually, always and never
	placeWrite     = "write"     // cel of expect
	placeMetric    = "metric"    // cel of a metric's expect
	placeEvent     = "event"     // cel of a sequence's event
	placeBefore    = "before"    // before of a sequence's event
	placeOutput    = "output"    // outputs; their variables depend on the verb
)

// Bindings are what the expressions in a step, or in the fields before the steps, can refer to.
type Bindings struct {
	// Columns of the tables that apply, nil if there are none. Values are those of the current row, and Row is its name.
	Columns map[string]*Column
	Values  map[string]any
	Row     string
	// written are the values as the table writes them. What YAML reads as something else, such as 1.30, is a text there.
	// lost are those texts, each with what YAML reads.
	written map[string]any
	lost    map[string]string
	// Outputs are those of the earlier steps. AllOutputs are those of all steps, with their positions.
	Outputs    map[string]bool
	AllOutputs map[string]yamltree.Position
	// Used collects the outputs that are referred to.
	Used map[string]bool
	// Results are the variables that the expressions of the step's outputs can use.
	Results []string
	// Loaded: loads run during the step.
	Loaded bool
	// copied: the step is a copy, which has an index.
	copied bool
}

// Add adds the columns and the values of a row. Columns of the same name replace those of the surrounding table.
func (b *Bindings) Add(r Row, columns map[string]*Column) {
	b.Row = strings.Trim(b.Row+", "+r.Name, ", ")
	b.Columns, b.Values = joined(b.Columns, columns), joined(b.Values, r.Values)
	b.written, b.lost = joined(b.written, r.written), joined(b.lost, r.lost)
}

// joined returns a copy of a map with the entries of another one added.
func joined[V any](a, b map[string]V) map[string]V {
	all := maps.Clone(a)
	if all == nil {
		return maps.Clone(b)
	}
	maps.Copy(all, b)
	return all
}

// Column of a table, by its key in the first row.
type Column struct {
	Key  *yamltree.Node
	Used bool
}

// variables lists the variables that are available at a place.
func (b *Bindings) variables(place string) []string {
	var names []string
	if b.Columns != nil {
		names = append(names, "case")
	}
	if place == PlaceFixed || place == placeTable {
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
		names = append(names, b.Results...)
		if b.Loaded {
			names = append(names, "loads")
		}
	}
	return names
}

// check returns what is wrong with the use of a variable at a place; "" if nothing is.
func (b *Bindings) check(u expressions.Use, place string) (message, hint string) {
	known := b.variables(place)
	if !slices.Contains(known, u.Variable) {
		return b.unknown(u.Variable, place, known)
	}
	if u.Variable == "outputs" {
		b.Used[u.Field] = true
	}
	switch {
	case u.Field == "":
		for _, c := range b.Columns {
			c.Used = c.Used || u.Variable == "case"
		}
	case u.Variable == "case":
		c := b.Columns[u.Field]
		if c == nil {
			return fmt.Sprintf("the table has no column %q", u.Field), words.Suggest(u.Field,
				slices.Collect(maps.Keys(b.Columns)),
				"its columns")
		}
		c.Used = true
	case u.Variable == "outputs" && !b.Outputs[u.Field]:
		if later, ok := b.AllOutputs[u.Field]; ok {
			return fmt.Sprintf("the output %q does not exist yet", u.Field),
				fmt.Sprintf("the step in line %d that creates it is not before this one", later.Line)
		}
		return fmt.Sprintf("no earlier step has an output %q", u.Field),
			words.Suggest(u.Field, slices.Collect(maps.Keys(b.Outputs)), "outputs so far")
	case u.Variable == "scenario" && u.Field != "id" && u.Field != "name":
		return fmt.Sprintf("scenario has no field %q", u.Field), words.Suggest(u.Field, []string{"id", "name"}, "it has")
	}
	return "", ""
}

func (b *Bindings) unknown(name, place string, known []string) (message, hint string) {
	message = fmt.Sprintf("%s is not available here", name)
	switch {
	case name == "case":
		return message, "there is no table: add cases to the scenario or the step"
	case place == placeTable:
		return message, "table values cannot be expressions; write the expression where the value is used"
	case place == PlaceFixed:
		return message, "this must be known before the run: only ${case.x} is allowed here"
	case name == "index":
		return message, "only steps of parallel and loads of during have an index"
	case place == PlaceTemplate && name != "namespace" && name != "scenario" && name != "outputs":
		return message, fmt.Sprintf("%s is available only in cel and outputs of a step that has it", name)
	}
	return message, words.Suggest(name, known, "known here")
}
