package scenarios

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/scenarios/expressions"
	"github.com/rehearse-dev/rehearse/scenarios/internal/decode"
	"github.com/rehearse-dev/rehearse/scenarios/internal/expand"
	"github.com/rehearse-dev/rehearse/scenarios/internal/states"
	"github.com/rehearse-dev/rehearse/scenarios/internal/yamltree"
)

// document turns one YAML document into scenarios: one, or one for each row of its table.
type document struct {
	found       *yamltree.Problems
	expressions *expressions.Evaluator
	root        *yamltree.Node

	// columns are the columns of all tables, by position. outputs are the positions of all outputs, by name. used are the
	// names of the outputs that expressions use; "" stands for outputs as a whole. Lint finds unused columns and outputs
	// with them.
	columns map[Position]*expand.Column
	outputs map[string]Position
	used    map[string]bool
	// definitions are the files that systems name, by their paths.
	definitions map[string]*yamltree.Node
	// refill is set when a scenario of the document is read again.
	refill *refill
}

// scenarios returns the scenarios of the document; nil if the document has an error.
func (d *document) scenarios() []*Scenario {
	before := d.found.Count
	var all []*Scenario
	rows, columns := d.rows()
	for i, r := range rows {
		all = append(all, d.scenarioOf(i, r, columns))
	}
	if d.found.Count > before {
		return nil
	}
	return all
}

// rows returns the rows of the document's table, or one without values if it has no table; nil if the table has an
// error.
func (d *document) rows() ([]expand.Row, map[string]*expand.Column) {
	d.columns, d.outputs, d.used = map[Position]*expand.Column{}, map[string]Position{}, map[string]bool{}
	d.collectOutputs()
	if table := d.root.Get("spec").Get("cases"); table != nil {
		return d.expander(&expand.Bindings{}).Table(table)
	}
	return []expand.Row{{}}, nil
}

// scenarioOf makes the scenario of the i-th row.
func (d *document) scenarioOf(i int, r expand.Row, columns map[string]*expand.Column) *Scenario {
	b := &expand.Bindings{}
	b.Add(r, d.register(columns))
	s := d.scenario(b, r)
	s.origin = &origin{document: d, row: i}
	return s
}

func (d *document) expander(b *expand.Bindings) *expand.Expander {
	b.AllOutputs, b.Used = d.outputs, d.used
	x := &expand.Expander{Found: d.found, Expressions: d.expressions, Texts: reflect.TypeFor[Text](), Bindings: b}
	if d.refill != nil {
		x.InTables = d.refill.replaced
	}
	return x
}

// register replaces each column that is already known with the known one. The table of a step is read again for each
// row of the scenario's table. With shared columns, a column counts as used if any row uses it.
func (d *document) register(columns map[string]*expand.Column) map[string]*expand.Column {
	for name, c := range columns {
		at := c.Key.Position()
		if known := d.columns[at]; known != nil {
			columns[name] = known
		} else {
			d.columns[at] = c
		}
	}
	return columns
}

func (d *document) collectOutputs() {
	steps := d.root.Get("spec").Get("steps")
	if steps == nil {
		return
	}
	for _, step := range steps.Items {
		if outputs := step.Get("outputs"); outputs != nil {
			for _, e := range outputs.Entries {
				d.outputs[e.Key.Text] = e.Key.Position()
			}
		}
	}
}

// scenario makes the scenario of one row. It does not check a part with an error any further, so that each error is
// reported once.
func (d *document) scenario(b *expand.Bindings, r expand.Row) *Scenario {
	before := d.found.Count
	x := d.expander(b)
	s := &Scenario{Position: d.root.Position(), Text: d.root.File.Text, Case: r.Values, CaseName: r.Name}
	s.ClusterPosition = d.root.At("spec").Key("cluster").Position()
	root := replaced(d.withoutSteps(x), "spec", func(spec *yamltree.Node) *yamltree.Node {
		return replaced(spec, "cluster", func(cluster *yamltree.Node) *yamltree.Node {
			return replaced(cluster, "systems", d.defined)
		})
	})
	(&decode.Decoder{Found: d.found, Language: wording()}).Decode(root, reflect.ValueOf(s).Elem())
	sound := d.found.Count == before

	v := &validator{Check: states.Check{Problems: d.found}, expressions: d.expressions}
	list := d.root.Get("spec").Get("steps")
	if list != nil && list.Kind == yamltree.Sequence {
		steps := d.steps(x, list)
		for i := range steps {
			steps[i].node = replaced(steps[i].node, "transition", func(transition *yamltree.Node) *yamltree.Node {
				return replaced(transition, "systems", d.defined)
			})
		}
		s.Spec.Steps = make([]Step, len(steps))
		for i := range steps {
			d.step(v, &s.Spec.Steps[i], &steps[i])
		}
		if d.refill != nil && d.found.Count == before {
			d.refill.apply(s)
		}
		for i := range steps {
			if steps[i].sound {
				checkStep(v, s, i, steps[i].node)
			}
		}
		if len(list.Items) == 0 {
			v.At(list, "", "a scenario without steps tests nothing")
		}
	}
	if sound {
		v.scenario(s, root)
	}
	s.besideFile()
	for _, path := range slices.Sorted(maps.Keys(d.definitions)) {
		s.Definitions += d.definitions[path].File.Text
		s.DefinitionFiles = append(s.DefinitionFiles, path)
	}
	return s
}

// withoutSteps returns the document with the values of the table filled in, without the table and with an empty list of
// steps.
func (d *document) withoutSteps(x *expand.Expander) *yamltree.Node {
	root := d.root.Like(yamltree.Mapping)
	for _, e := range d.root.Entries {
		if e.Key.Text == "spec" && e.Value.Kind == yamltree.Mapping {
			spec := withoutKey(e.Value, "cases")
			e.Value = spec.Like(yamltree.Mapping)
			for _, part := range spec.Entries {
				if part.Key.Text == "steps" && part.Value.Kind == yamltree.Sequence {
					part.Value = part.Value.Like(yamltree.Sequence)
				}
				e.Value.Entries = append(e.Value.Entries, part)
			}
		}
		root.Entries = append(root.Entries, e)
	}
	return x.Node(root, reflect.TypeFor[Scenario](), expand.PlaceFixed)
}

type expandedStep struct {
	expand.Row
	node *yamltree.Node
	// sound is true as long as the step has no error. broken: the step could not be expanded, so its rows are unknown.
	sound, broken bool
	// uses are the names of the outputs that the step's expressions use.
	uses map[string]bool
}

// step decodes one step. A step with an error is decoded as far as possible: others refer to it.
func (d *document) step(v *validator, s *Step, from *expandedStep) {
	before := d.found.Count
	s.Position, s.Case, s.CaseName = from.node.Position(), from.Values, from.Name
	s.OutputsUsed = slices.Sorted(maps.Keys(from.uses))
	found := d.found
	if from.broken || from.node.Kind == yamltree.Mapping && !checkShape(v, from.node) {
		found, from.sound = &yamltree.Problems{}, false // an error is already reported
	}
	(&decode.Decoder{Found: found, Language: wording()}).Decode(from.node, reflect.ValueOf(s).Elem())
	if s.Parallel != nil {
		for i := range s.Parallel.Steps {
			s.Parallel.Steps[i].Position = from.node.At("parallel", "steps", i).Position()
		}
	}
	from.sound = from.sound && d.found.Count == before
	v.unnamed = v.unnamed || from.broken || from.node.Get("name") != nil && s.Name == ""
}

func (d *document) steps(x *expand.Expander, n *yamltree.Node) []expandedStep {
	var steps []expandedStep
	outputs := map[string]bool{}
	for _, item := range n.Items {
		first := len(steps)
		steps = append(steps, d.rowsOf(x, item, outputs)...)
		for _, s := range steps[first:] {
			if made := s.node.Get("outputs"); made != nil {
				for _, e := range made.Entries {
					outputs[e.Key.Text] = true
				}
			}
		}
	}
	return steps
}

// rowsOf expands one step: for each row of its table, and for each verb of each. outputs are those of the steps before.
func (d *document) rowsOf(x *expand.Expander, item *yamltree.Node, outputs map[string]bool) []expandedStep {
	table, variants := item.Get("cases"), d.inEachWay(item)
	rows, columns := []expand.Row{{}}, map[string]*expand.Column(nil)
	if table != nil && variants != nil {
		rows, columns = x.Table(table)
	}
	if variants == nil || rows == nil {
		return []expandedStep{brokenStep(x, item)}
	}
	var steps []expandedStep
	for _, r := range rows {
		b := *x.Bindings
		b.Outputs = maps.Clone(outputs)
		if table != nil {
			b.Add(r, d.register(columns))
			r.Values = b.Values
		}
		for _, way := range variants {
			steps = append(steps, d.expanded(b, r, way))
		}
	}
	return steps
}

// expanded expands a step for one row and one verb.
func (d *document) expanded(b expand.Bindings, r expand.Row, way oneWay) expandedStep {
	b.Results, b.Loaded = verbNamed(verbOf(way.node)).results, way.node.Get("during") != nil
	b.Row = strings.Trim(b.Row+", "+way.name, ", ")
	r.Name = strings.Trim(r.Name+", "+way.name, ", ")
	before := d.found.Count
	x := d.expander(&b)
	x.Used = map[string]bool{}
	n := x.Node(withoutKey(way.node, "cases"), reflect.TypeFor[Step](), expand.PlaceTemplate)
	maps.Copy(d.used, x.Used)
	return expandedStep{Row: r, node: n, sound: d.found.Count == before, uses: x.Used}
}

// brokenStep expands a step whose table or verbs have an error, without reporting others.
func brokenStep(x *expand.Expander, item *yamltree.Node) expandedStep {
	quiet := *x
	b := *x.Bindings
	b.Used = map[string]bool{}
	quiet.Found, quiet.Bindings = &yamltree.Problems{}, &b
	n := quiet.Node(withoutKey(item, "cases"), reflect.TypeFor[Step](), expand.PlaceTemplate)
	return expandedStep{node: n, broken: true}
}

// verbOf returns the first verb of a step; "" if it has none.
func verbOf(step *yamltree.Node) string {
	for _, f := range verbFields() {
		if step.Get(f.Name) != nil {
			return f.Name
		}
	}
	return ""
}

func withoutKey(n *yamltree.Node, key string) *yamltree.Node {
	if n.Get(key) == nil {
		return n
	}
	next := n.Like(yamltree.Mapping)
	for _, e := range n.Entries {
		if e.Key.Text != key {
			next.Entries = append(next.Entries, e)
		}
	}
	return next
}
