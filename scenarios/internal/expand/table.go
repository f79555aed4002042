package expand

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/scenarios/expressions"
	"github.com/rehearse-dev/rehearse/scenarios/internal/decode"
	"github.com/rehearse-dev/rehearse/scenarios/internal/words"
	"github.com/rehearse-dev/rehearse/scenarios/internal/yamltree"
)

// Row of a table.
type Row struct {
	Name   string
	Values map[string]any
	// written and lost are those of Bindings.
	written map[string]any
	lost    map[string]string
}

// maxRowName is the maximal length, in characters, of a name that consists of a row's values.
const maxRowName = 40

// Table reads the rows of a table. Their values may use the surrounding table.
func (x *Expander) Table(n *yamltree.Node) (rows []Row, columns map[string]*Column) {
	switch {
	case n.Kind != yamltree.Sequence:
		x.Found.At(n, "", "want a list of rows, not %s", n.What())
		return nil, nil
	case len(n.Items) == 0:
		x.Found.At(n, "omit cases to run once", "a table without rows")
		return nil, nil
	}
	good := true
	for i, item := range n.Items {
		row, ok := x.rowValues(item)
		if ok && columns == nil {
			columns = columnsOf(item)
		}
		ok = ok && x.sameColumns(item, columns, i)
		good = good && ok
		rows = append(rows, row)
	}
	if !good || !x.nameRows(n, rows) || !x.rewriteRows(n, rows) {
		return nil, nil
	}
	return rows, columns
}

// rewriteRows reads the rows again with other texts. They keep their names, by which other places may refer to them.
func (x *Expander) rewriteRows(n *yamltree.Node, rows []Row) bool {
	if x.InTables == nil {
		return true
	}
	for i := range rows {
		name, ok := rows[i].Name, false
		if rows[i], ok = x.rowValues(x.rewritten(n.Items[i])); !ok {
			return false
		}
		rows[i].Name = name
	}
	return true
}

// rewritten returns a value in which other texts replace those that are written in it. A text with an expression stays:
// it is filled in from the surrounding table, where the texts are replaced already.
func (x *Expander) rewritten(n *yamltree.Node) *yamltree.Node {
	next := *n
	next.Entries, next.Items = slices.Clone(n.Entries), slices.Clone(n.Items)
	for i, e := range next.Entries {
		next.Entries[i].Value = x.rewritten(e.Value)
	}
	for i, item := range next.Items {
		next.Items[i] = x.rewritten(item)
	}
	if n.Kind == yamltree.Scalar && n.Tag == yamltree.TagString && !strings.Contains(n.Text, "${") {
		next.Text = x.InTables(n.Text)
	}
	return &next
}

func columnsOf(item *yamltree.Node) map[string]*Column {
	columns := map[string]*Column{}
	for _, e := range item.Entries {
		columns[e.Key.Text] = &Column{Key: e.Key}
	}
	return columns
}

func (x *Expander) rowValues(item *yamltree.Node) (row Row, ok bool) {
	if item.Kind != yamltree.Mapping || len(item.Entries) == 0 {
		x.Found.At(item, "", "want a row, a mapping of its columns, not %s", item.What())
		return Row{}, false
	}
	for _, e := range item.Entries {
		if !expressions.Identifier(e.Key.Text) {
			x.Found.At(e.Key, "use letters, digits and _, so that case.name_of_column can be written",
				"%q is not a valid column name", words.Short(e.Key.Text))
			return Row{}, false
		}
	}
	before := x.Found.Count
	filled := x.Node(item, reflect.TypeFor[map[string]any](), placeTable)
	(&decode.Decoder{Found: x.Found, Table: true}).Decode(filled, reflect.ValueOf(&row.Values).Elem())
	if x.Found.Count > before {
		return row, false
	}
	row.lost = map[string]string{}
	row.written, _ = asWritten(filled, row.Values, row.lost).(map[string]any)
	return row, true
}

func (x *Expander) sameColumns(item *yamltree.Node, columns map[string]*Column, i int) bool {
	for _, e := range item.Entries {
		if columns[e.Key.Text] == nil {
			x.Found.At(e.Key, words.Suggest(e.Key.Text, slices.Collect(maps.Keys(columns)), "columns of the first row"),
				"row %d has a column %q that the first row lacks", i+1, e.Key.Text)
			return false
		}
	}
	for _, name := range slices.Sorted(maps.Keys(columns)) {
		if item.Get(name) == nil {
			x.Found.At(item, "all rows have the same columns; write null where there is no value",
				"row %d has no column %q, which the first row has", i+1, name)
			return false
		}
	}
	return true
}

// nameRows uses the rows' own names, or composes names from their values.
func (x *Expander) nameRows(n *yamltree.Node, rows []Row) bool {
	if _, named := rows[0].Values["name"]; !named {
		nameByValues(rows, n.Items[0])
		return true
	}
	taken := map[string]bool{}
	for i := range rows {
		name, _ := rows[i].Values["name"].(string)
		at := n.Items[i].At("name")
		if strings.TrimSpace(name) != name || name == "" || strings.ContainsAny(name, "\n\r\t") {
			x.Found.At(at, "", "the name of a row must be a single-line string")
			return false
		}
		if taken[name] {
			x.Found.At(at, "", "an earlier row has the same name, %q", words.Short(name))
			return false
		}
		taken[name] = true
		rows[i].Name = name
	}
	return true
}

// nameByValues names the rows by as few columns as distinguish them, from the left; lists and maps come last. Names
// that are still the same get a number.
func nameByValues(rows []Row, first *yamltree.Node) {
	var plain, nested []string
	for _, e := range first.Entries {
		if e.Value.Kind == yamltree.Scalar {
			plain = append(plain, e.Key.Text)
		} else {
			nested = append(nested, e.Key.Text)
		}
	}
	for _, column := range append(plain, nested...) {
		if len(rows) > 1 && (distinct(rows) || same(rows, column)) {
			continue
		}
		for i := range rows {
			text, err := expressions.Format(rows[i].Values[column])
			if err != nil {
				text = "null"
			}
			text = strings.Join(strings.Fields(text), " ")
			rows[i].Name = cut(strings.Trim(rows[i].Name+", "+text, ", "))
		}
		if len(rows) == 1 {
			break
		}
	}
	taken := map[string]int{}
	for i := range rows {
		if taken[rows[i].Name]++; rows[i].Name == "" || taken[rows[i].Name] > 1 {
			rows[i].Name = strings.TrimSpace(fmt.Sprintf("%s #%d", rows[i].Name, i+1))
		}
	}
	if !distinct(rows) { // a value looks like such a number
		for i := range rows {
			rows[i].Name = fmt.Sprintf("#%d", i+1)
		}
	}
}

func distinct(rows []Row) bool {
	names := map[string]bool{}
	for _, r := range rows {
		names[r.Name] = true
	}
	return len(names) == len(rows)
}

// same reports whether all rows have the same value in a column.
func same(rows []Row, column string) bool {
	for _, r := range rows {
		if !reflect.DeepEqual(r.Values[column], rows[0].Values[column]) {
			return false
		}
	}
	return true
}

func cut(name string) string {
	if runes := []rune(name); len(runes) > maxRowName {
		return string(runes[:maxRowName-3]) + "..."
	}
	return name
}
