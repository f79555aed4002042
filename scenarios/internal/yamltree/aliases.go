package yamltree

import (
	"fmt"
	"strings"

	yaml "go.yaml.in/yaml/v3"

	"github.com/rehearse-dev/rehearse/scenarios/internal/words"
)

// Limits of a document: how many values its aliases may add, and how deep it may nest.
const (
	maxAliasValues = 100_000
	maxDepth       = 500
)

// resolver converts the parser's tree to nodes. Aliases and merge keys become copies of what they name; keys are
// unique.
type resolver struct {
	file  *Source
	found *Problems

	depth   int
	open    map[*yaml.Node]bool // anchored values that are being resolved
	aliases int                 // how many aliases are being followed
	aliased int                 // how many values aliases have added so far
	outer   *Node               // the outermost alias that is being followed
	stopped bool
}

// resolve returns nil if the document cannot be used; the reason is among the problems.
func (r *resolver) resolve(y *yaml.Node) *Node {
	r.open = map[*yaml.Node]bool{}
	n := r.node(y)
	if r.stopped {
		return nil
	}
	return n
}

func (r *resolver) stop(n *Node, hint, format string, args ...any) *Node {
	if !r.stopped {
		r.found.At(n, hint, format, args...)
	}
	r.stopped = true
	return n
}

func (r *resolver) node(y *yaml.Node) *Node {
	n := &Node{File: r.file, line: y.Line, column: y.Column}
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
				"the aliases of this document expand to more than %d values", maxAliasValues)
		}
	}
	switch y.Kind {
	case yaml.AliasNode:
		return r.alias(n, y)
	case yaml.MappingNode:
		return r.mapping(n, y)
	case yaml.SequenceNode:
		n.Kind = Sequence
		r.tag(n, y, "!!seq")
		for _, item := range y.Content {
			n.Items = append(n.Items, r.node(item))
		}
		return n
	}
	return r.scalar(n, y)
}

func (r *resolver) alias(n *Node, y *yaml.Node) *Node {
	if r.open[y.Alias] {
		return r.stop(n, "", "the alias *%s refers to a value that contains it", y.Value)
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

func (r *resolver) mapping(n *Node, y *yaml.Node) *Node {
	n.Kind = Mapping
	r.tag(n, y, "!!map")
	var merged []*Node
	mergeKey := false
	first := map[string]*Node{}
	for i := 0; i+1 < len(y.Content); i += 2 {
		key, value := y.Content[i], y.Content[i+1]
		if key.Kind == yaml.ScalarNode && key.Tag == "!!merge" {
			at := &Node{File: r.file, line: key.Line, column: key.Column}
			if mergeKey {
				r.found.At(at, "merge a list instead: <<: [*a, *b]", "a second merge key in one mapping")
			}
			mergeKey = true
			merged = append(merged, r.merged(at, value)...)
			continue
		}
		e := Entry{Key: r.key(key), Value: r.node(value)}
		if r.stopped {
			return n
		}
		if before := first[e.Key.Text]; before != nil {
			r.found.At(e.Key, "", "the key %q is repeated; the first is in line %d", words.Short(e.Key.Text),
				before.line)
			continue
		}
		first[e.Key.Text] = e.Key
		n.Entries = append(n.Entries, e)
	}
	for _, m := range merged { // explicit keys win, then the earlier merged mapping
		for _, e := range m.Entries {
			if first[e.Key.Text] == nil {
				first[e.Key.Text] = e.Key
				n.Entries = append(n.Entries, e)
			}
		}
	}
	return n
}

// merged returns the mappings that a merge key names.
func (r *resolver) merged(at *Node, y *yaml.Node) []*Node {
	value := r.node(y)
	list := []*Node{value}
	if value.Kind == Sequence {
		list = value.Items
	}
	for _, m := range list {
		if m.Kind != Mapping && !r.stopped {
			r.found.At(at, "", "<< merges mappings, but this is %s", m.What())
			return nil
		}
	}
	return list
}

// key reads the key of a mapping, which is always a text here.
func (r *resolver) key(y *yaml.Node) *Node {
	n := r.node(y)
	switch {
	case r.stopped:
	case n.Kind != Scalar:
		r.found.At(n, "an expression that begins a value needs quotes: \"${...}\"", "a key must be a string, not %s",
			n.What())
		n.Kind = Scalar
		n.Text = fmt.Sprintf("\x00%d:%d", n.line, n.column) // equal to no other key
	case n.Tag == TagNull:
		r.found.At(n, "put the key in quotes", "a key must be a string, not %s", n.What())
	}
	n.Tag = TagString
	return n
}

func (r *resolver) scalar(n *Node, y *yaml.Node) *Node {
	n.Tag, n.Text = y.ShortTag(), y.Value
	n.Plain = y.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle|
		yaml.TaggedStyle) == 0
	switch n.Tag {
	case TagString, TagNull:
	case TagInt, TagFloat, TagBool:
		if !fits(y, n.Tag) {
			r.found.At(n, "", "%q is no %s", words.Short(n.Text), strings.TrimPrefix(n.Tag, "!!"))
			n.Tag = TagString
		}
	case "!!timestamp", "!!merge":
		n.Tag = TagString // JSON has no dates, and so the API server has none
	default:
		r.tag(n, y, "")
		n.Tag = TagString
	}
	return n
}

// tag rejects the tags for which Kubernetes has no values.
func (r *resolver) tag(n *Node, y *yaml.Node, want string) {
	tag, hint := y.ShortTag(), ""
	if tag == want {
		return
	}
	if !strings.HasPrefix(tag, "!!") {
		hint = quoteTag
	}
	r.found.At(n, hint, "the tag %s has no meaning here", words.Short(tag))
	n.Broken = true
}

// fits reports whether a scalar has the type of its tag. An explicit tag can be wrong: !!int x.
func fits(y *yaml.Node, tag string) bool {
	if tag == TagBool {
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
