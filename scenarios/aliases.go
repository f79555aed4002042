package scenarios

import (
	"fmt"
	"strings"

	yaml "go.yaml.in/yaml/v3"
)

// Bounds of a document: how many values its aliases may add, and how deep it may nest.
const (
	maxAliasValues = 100_000
	maxDepth       = 500
)

// resolver turns the parser's tree into ours: aliases and merge keys become copies of what they name, keys are unique.
type resolver struct {
	file  *source
	found *problems

	depth   int
	open    map[*yaml.Node]bool // anchored values that are being resolved
	aliases int                 // how many aliases are being followed
	aliased int                 // how many values they stood for so far
	outer   *node               // the outermost alias that is being followed
	stopped bool
}

// resolve returns nil when the document cannot be used; why is among the problems.
func (r *resolver) resolve(y *yaml.Node) *node {
	r.open = map[*yaml.Node]bool{}
	n := r.node(y)
	if r.stopped {
		return nil
	}
	return n
}

func (r *resolver) stop(n *node, hint, format string, args ...any) *node {
	if !r.stopped {
		r.found.at(n, hint, format, args...)
	}
	r.stopped = true
	return n
}

func (r *resolver) node(y *yaml.Node) *node {
	n := &node{file: r.file, line: y.Line, column: y.Column}
	if r.stopped {
		return n
	}
	if r.depth++; r.depth > maxDepth {
		return r.stop(n, "", "nested more than %d deep", maxDepth)
	}
	defer func() { r.depth-- }()
	if y.Anchor != "" {
		r.open[y] = true
		defer delete(r.open, y)
	}
	if r.aliases > 0 {
		if r.aliased++; r.aliased > maxAliasValues {
			return r.stop(r.outer, "write the values out, or use fewer aliases of aliases",
				"the aliases of this document stand for more than %d values", maxAliasValues)
		}
	}
	switch y.Kind {
	case yaml.AliasNode:
		return r.alias(n, y)
	case yaml.MappingNode:
		return r.mapping(n, y)
	case yaml.SequenceNode:
		n.kind = sequence
		r.tag(n, y, "!!seq")
		for _, item := range y.Content {
			n.items = append(n.items, r.node(item))
		}
		return n
	}
	return r.scalar(n, y)
}

func (r *resolver) alias(n *node, y *yaml.Node) *node {
	if r.open[y.Alias] {
		return r.stop(n, "", "the alias *%s stands for something that holds it", y.Value)
	}
	if r.aliases == 0 {
		r.outer = n
	}
	r.aliases++
	defer func() { r.aliases-- }()
	copied := r.node(y.Alias)
	copied.line, copied.column = y.Line, y.Column // the place where it is used
	return copied
}

func (r *resolver) mapping(n *node, y *yaml.Node) *node {
	n.kind = mapping
	r.tag(n, y, "!!map")
	var merged []*node
	mergeKey := false
	first := map[string]*node{}
	for i := 0; i+1 < len(y.Content); i += 2 {
		key, value := y.Content[i], y.Content[i+1]
		if key.Kind == yaml.ScalarNode && key.Tag == "!!merge" {
			at := &node{file: r.file, line: key.Line, column: key.Column}
			if mergeKey {
				r.found.at(at, "merge a list instead: <<: [*a, *b]", "a second merge key in one mapping")
			}
			mergeKey = true
			merged = append(merged, r.merged(at, value)...)
			continue
		}
		e := entry{key: r.key(key), value: r.node(value)}
		if r.stopped {
			return n
		}
		if before := first[e.key.text]; before != nil {
			r.found.at(e.key, "", "the key %q is here a second time; the first is in line %d", short(e.key.text), before.line)
			continue
		}
		first[e.key.text] = e.key
		n.entries = append(n.entries, e)
	}
	for _, m := range merged { // what is written out wins, then the earlier of the merged
		for _, e := range m.entries {
			if first[e.key.text] == nil {
				first[e.key.text] = e.key
				n.entries = append(n.entries, e)
			}
		}
	}
	return n
}

// merged returns the mappings that a merge key names.
func (r *resolver) merged(at *node, y *yaml.Node) []*node {
	value := r.node(y)
	list := []*node{value}
	if value.kind == sequence {
		list = value.items
	}
	for _, m := range list {
		if m.kind != mapping && !r.stopped {
			r.found.at(at, "", "<< merges mappings, but this is %s", m.what())
			return nil
		}
	}
	return list
}

// key reads the key of a mapping, which is always a text here.
func (r *resolver) key(y *yaml.Node) *node {
	n := r.node(y)
	switch {
	case r.stopped:
	case n.kind != scalar:
		r.found.at(n, "an expression that begins a value needs quotes: \"${...}\"", "a key must be a text, not %s", n.what())
		n.kind = scalar
		n.text = fmt.Sprintf("\x00%d:%d", n.line, n.column) // equal to no other key
	case n.tag == tagNull:
		r.found.at(n, "put the key in quotes", "a key must be a text, not %s", n.what())
	}
	n.tag = tagString
	return n
}

func (r *resolver) scalar(n *node, y *yaml.Node) *node {
	n.tag, n.text = y.ShortTag(), y.Value
	n.plain = y.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0
	switch n.tag {
	case tagString, tagNull:
	case tagInt, tagFloat, tagBool:
		if !fits(y, n.tag) {
			r.found.at(n, "", "%q is no %s", short(n.text), strings.TrimPrefix(n.tag, "!!"))
			n.tag = tagString
		}
	case "!!timestamp", "!!merge":
		n.tag = tagString // JSON, and so the API server, knows no dates
	default:
		r.tag(n, y, "")
		n.tag = tagString
	}
	return n
}

// tag refuses the tags for which Kubernetes has no values.
func (r *resolver) tag(n *node, y *yaml.Node, want string) {
	if tag := y.ShortTag(); tag != want {
		r.found.at(n, "", "the tag %s has no meaning here", short(tag))
	}
}

// fits says whether a scalar is what its tag says; an explicit one may lie: !!int x.
func fits(y *yaml.Node, tag string) bool {
	if tag == tagBool {
		return strings.EqualFold(y.Value, "true") || strings.EqualFold(y.Value, "false")
	}
	var value any
	if err := y.Decode(&value); err != nil {
		return false
	}
	switch value.(type) {
	case int, int64, uint64, float64:
		return true
	}
	return false
}
