package scenarios

import (
	"maps"
	"reflect"
	"slices"
	"strings"
)

// document turns one YAML document into scenarios: one, or one for each row of its table.
type document struct {
	found       *problems
	expressions *Expressions
	root        *node

	// What lint wants to know, by place: columns and outputs, and which names of outputs are used.
	columns map[Position]*column
	outputs map[string]Position
	used    map[string]bool
}

// scenarios returns nil when anything is wrong with the document.
func (d *document) scenarios() []*Scenario {
	before := d.found.count
	d.columns, d.outputs, d.used = map[Position]*column{}, map[string]Position{}, map[string]bool{}
	d.collectOutputs()
	outer := &bindings{}
	rows := []row{{}}
	var columns map[string]*column
	if table := d.root.get("spec").get("cases"); table != nil {
		if rows, columns = d.expander(outer).table(table); rows == nil {
			return nil
		}
	}
	var all []*Scenario
	for _, r := range rows {
		b := &bindings{columns: d.register(columns), values: r.values, row: r.name}
		all = append(all, d.scenario(b, r))
	}
	if d.found.count > before {
		return nil
	}
	return all
}

func (d *document) expander(b *bindings) *expander {
	b.allOutputs, b.used = d.outputs, d.used
	return &expander{found: d.found, expressions: d.expressions, bindings: b}
}

// register makes the rows, which read a table again and again, share its columns.
func (d *document) register(columns map[string]*column) map[string]*column {
	for name, c := range columns {
		at := c.key.position()
		if known := d.columns[at]; known != nil {
			columns[name] = known
		} else {
			d.columns[at] = c
		}
	}
	return columns
}

func (d *document) collectOutputs() {
	steps := d.root.get("spec").get("steps")
	if steps == nil {
		return
	}
	for _, step := range steps.items {
		if outputs := step.get("outputs"); outputs != nil {
			for _, e := range outputs.entries {
				d.outputs[e.key.text] = e.key.position()
			}
		}
	}
}

// scenario makes the scenario of one row. A part that is wrong is reported once, and then not looked at any further.
func (d *document) scenario(b *bindings, r row) *Scenario {
	before := d.found.count
	x := d.expander(b)
	s := &Scenario{Position: d.root.position(), Text: d.root.file.text, Case: r.values, CaseName: r.name}
	s.ClusterPosition = d.root.at("spec").key("cluster").position()
	root := d.withoutSteps(x)
	(&decoder{found: d.found}).decode(root, reflect.ValueOf(s).Elem())
	sound := d.found.count == before

	v := &validator{problems: d.found, expressions: d.expressions}
	list := d.root.get("spec").get("steps")
	if list != nil && list.kind == sequence {
		steps := d.steps(x, list)
		s.Spec.Steps = make([]Step, len(steps))
		for i := range steps {
			d.step(v, &s.Spec.Steps[i], &steps[i])
		}
		for i := range steps {
			if steps[i].sound {
				v.step(s, i, steps[i].node)
			}
		}
		if len(list.items) == 0 {
			v.at(list, "", "a scenario without steps tests nothing")
		}
	}
	if sound {
		v.scenario(s, root)
	}
	s.besideFile()
	return s
}

// withoutSteps is the document, filled in, with an empty list of steps and no table.
func (d *document) withoutSteps(x *expander) *node {
	root := d.root.like(mapping)
	for _, e := range d.root.entries {
		if e.key.text == "spec" && e.value.kind == mapping {
			spec := withoutKey(e.value, "cases")
			e.value = spec.like(mapping)
			for _, part := range spec.entries {
				if part.key.text == "steps" && part.value.kind == sequence {
					part.value = part.value.like(sequence)
				}
				e.value.entries = append(e.value.entries, part)
			}
		}
		root.entries = append(root.entries, e)
	}
	return x.node(root, reflect.TypeFor[Scenario](), placeFixed)
}

type expandedStep struct {
	row
	node *node
	// sound says that nothing was found to be wrong yet.
	sound bool
	// uses are the outputs that its expressions name.
	uses map[string]bool
}

// step decodes one step.
func (d *document) step(v *validator, s *Step, from *expandedStep) {
	before := d.found.count
	s.Position, s.Case, s.CaseName = from.node.position(), from.values, from.name
	s.OutputsUsed = slices.Sorted(maps.Keys(from.uses))
	if from.node.kind == mapping && !v.shape(from.node) {
		from.sound = false
		return
	}
	(&decoder{found: d.found}).decode(from.node, reflect.ValueOf(s).Elem())
	if s.Parallel != nil {
		for i := range s.Parallel.Steps {
			s.Parallel.Steps[i].Position = from.node.at("parallel", "steps", i).position()
		}
	}
	from.sound = from.sound && d.found.count == before
}

func (d *document) steps(x *expander, n *node) []expandedStep {
	var steps []expandedStep
	outputs := map[string]bool{}
	for _, item := range n.items {
		table := item.get("cases")
		first := len(steps)
		variants := d.inEachWay(item)
		if variants == nil {
			continue
		}
		rows, columns := []row{{}}, map[string]*column(nil)
		if table != nil {
			if rows, columns = x.table(table); rows == nil {
				continue
			}
		}
		for _, r := range rows {
			b := *x.bindings
			b.outputs = maps.Clone(outputs)
			if table != nil {
				b.row = strings.Trim(b.row+", "+r.name, ", ")
				b.columns, b.values = maps.Clone(b.columns), maps.Clone(b.values)
				if b.columns == nil {
					b.columns, b.values = map[string]*column{}, map[string]any{}
				}
				maps.Copy(b.columns, d.register(columns))
				maps.Copy(b.values, r.values)
				r.values = b.values
			}
			for _, way := range variants {
				b, r := b, r
				b.results, b.loaded = verbNamed(verbOf(way.node)).results, way.node.get("during") != nil
				b.row = strings.Trim(b.row+", "+way.name, ", ")
				r.name = strings.Trim(r.name+", "+way.name, ", ")
				before := d.found.count
				x := d.expander(&b)
				x.used = map[string]bool{}
				n := x.node(withoutKey(way.node, "cases"), reflect.TypeFor[Step](), placeTemplate)
				maps.Copy(d.used, x.used)
				steps = append(steps, expandedStep{r, n, d.found.count == before, x.used})
			}
		}
		for _, s := range steps[first:] {
			if made := s.node.get("outputs"); made != nil {
				for _, e := range made.entries {
					outputs[e.key.text] = true
				}
			}
		}
	}
	return steps
}

// verbOf is the first verb that a step has, "" if it has none.
func verbOf(step *node) string {
	for _, f := range verbFields() {
		if step.get(f.name) != nil {
			return f.name
		}
	}
	return ""
}

func withoutKey(n *node, key string) *node {
	if n.get(key) == nil {
		return n
	}
	next := n.like(mapping)
	for _, e := range n.entries {
		if e.key.text != key {
			next.entries = append(next.entries, e)
		}
	}
	return next
}
