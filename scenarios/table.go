package scenarios

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// row of a table.
type row struct {
	name   string
	values map[string]any
}

// maxRowName is the most characters of a name that is made of a row's values.
const maxRowName = 40

// table reads the rows of a table, whose values may use the table around it.
func (x *expander) table(n *node) (rows []row, columns map[string]*column) {
	switch {
	case n.kind != sequence:
		x.found.at(n, "", "want a list of rows, not %s", n.what())
		return nil, nil
	case len(n.items) == 0:
		x.found.at(n, "leave cases out to run once", "a table without rows: nothing would run")
		return nil, nil
	}
	good := true
	for i, item := range n.items {
		values, ok := x.rowValues(item)
		if ok && columns == nil {
			columns = columnsOf(item)
		}
		ok = ok && x.sameColumns(item, columns, i)
		good = good && ok
		rows = append(rows, row{values: values})
	}
	if !good || !x.nameRows(n, rows) {
		return nil, nil
	}
	return rows, columns
}

func columnsOf(item *node) map[string]*column {
	columns := map[string]*column{}
	for _, e := range item.entries {
		columns[e.key.text] = &column{key: e.key}
	}
	return columns
}

func (x *expander) rowValues(item *node) (map[string]any, bool) {
	if item.kind != mapping || len(item.entries) == 0 {
		x.found.at(item, "", "want a row, a mapping of its columns, not %s", item.what())
		return nil, false
	}
	for _, e := range item.entries {
		if !identifier(e.key.text) {
			x.found.at(e.key, "use letters, digits and _, so that case.name_of_column can be written",
				"%q cannot be the name of a column", short(e.key.text))
			return nil, false
		}
	}
	before := x.found.count
	filled := x.node(item, reflect.TypeFor[map[string]any](), placeTable)
	var values map[string]any
	(&decoder{found: x.found, table: true}).decode(filled, reflect.ValueOf(&values).Elem())
	return values, before == x.found.count
}

func (x *expander) sameColumns(item *node, columns map[string]*column, i int) bool {
	for _, e := range item.entries {
		if columns[e.key.text] == nil {
			x.found.at(e.key, suggest(e.key.text, slices.Collect(maps.Keys(columns)), "columns of the first row"),
				"row %d has a column %q that the first row has not", i+1, e.key.text)
			return false
		}
	}
	for _, name := range slices.Sorted(maps.Keys(columns)) {
		if item.get(name) == nil {
			x.found.at(item, "all rows have the same columns; write null where there is no value",
				"row %d has no column %q, which the first row has", i+1, name)
			return false
		}
	}
	return true
}

// nameRows takes the rows' own names, or makes names of their values.
func (x *expander) nameRows(n *node, rows []row) bool {
	if _, named := rows[0].values["name"]; !named {
		nameByValues(rows, n.items[0])
		return true
	}
	taken := map[string]bool{}
	for i := range rows {
		name, _ := rows[i].values["name"].(string)
		at := n.items[i].at("name")
		if strings.TrimSpace(name) != name || name == "" || strings.ContainsAny(name, "\n\r\t") {
			x.found.at(at, "", "the name of a row must be a text in one line")
			return false
		}
		if taken[name] {
			x.found.at(at, "", "an earlier row is called %q too", short(name))
			return false
		}
		taken[name] = true
		rows[i].name = name
	}
	return true
}

// nameByValues names the rows by as few of the columns as tell them apart, from the left; lists and maps come last.
// What is still the same gets its number.
func nameByValues(rows []row, first *node) {
	var plain, nested []string
	for _, e := range first.entries {
		if e.value.kind == scalar {
			plain = append(plain, e.key.text)
		} else {
			nested = append(nested, e.key.text)
		}
	}
	for _, column := range append(plain, nested...) {
		if len(rows) > 1 && (distinct(rows) || same(rows, column)) {
			continue
		}
		for i := range rows {
			text, err := format(rows[i].values[column])
			if err != nil {
				text = "null"
			}
			text = strings.Join(strings.Fields(text), " ")
			rows[i].name = cut(strings.Trim(rows[i].name+", "+text, ", "))
		}
		if len(rows) == 1 {
			break
		}
	}
	taken := map[string]int{}
	for i := range rows {
		if taken[rows[i].name]++; rows[i].name == "" || taken[rows[i].name] > 1 {
			rows[i].name = strings.TrimSpace(fmt.Sprintf("%s #%d", rows[i].name, i+1))
		}
	}
	if !distinct(rows) { // a value looks like such a number
		for i := range rows {
			rows[i].name = fmt.Sprintf("#%d", i+1)
		}
	}
}

func distinct(rows []row) bool {
	names := map[string]bool{}
	for _, r := range rows {
		names[r.name] = true
	}
	return len(names) == len(rows)
}

// same says whether a column tells no row from another.
func same(rows []row, column string) bool {
	for _, r := range rows {
		if !reflect.DeepEqual(r.values[column], rows[0].values[column]) {
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

// identifier says whether a name can follow a dot in CEL.
func identifier(name string) bool {
	for i := range len(name) {
		if !isLetter(name[i]) && (i == 0 || !isDigit(name[i])) {
			return false
		}
	}
	switch name {
	case "", "true", "false", "null", "in":
		return false
	}
	return true
}
