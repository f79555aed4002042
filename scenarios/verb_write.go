package scenarios

import (
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/scenarios/internal/states"
	"github.com/rehearse-dev/rehearse/scenarios/internal/words"
	"github.com/rehearse-dev/rehearse/scenarios/internal/yamltree"
)

// writeVerb describes a step that the loader replaces with one step for each verb in each.
func writeVerb() verb {
	return verb{
		name: "write", replaced: true,
		about: func(s *Step) string { return s.Write.subject() },
		check: func(*validator, stepCheck) {}, // each new step is checked by its own verb
	}
}

// oneWay is a step that writes with one verb.
type oneWay struct {
	// name of the verb; "" for a step without each.
	name string
	node *yamltree.Node
}

// inEachWay replaces a step that has each with one step for each verb, before any values are filled in. It returns nil
// if there is an error.
func (d *document) inEachWay(step *yamltree.Node) []oneWay {
	each, object := step.Get("each"), step.Get("write")
	if each == nil && object == nil && step.Get("existing") == nil {
		return []oneWay{{node: step}}
	}
	v := &validator{Check: states.Check{Problems: d.found}, expressions: d.expressions}
	if !checkEach(v, step, each, object) {
		return nil
	}
	rest := withoutKey(withoutKey(step, "each"), "existing")
	var all []oneWay
	for _, item := range each.Items {
		next := rest.Like(yamltree.Mapping)
		for _, e := range rest.Entries {
			if e.Key.Text == "write" {
				e = yamltree.Entry{Key: e.Key.WithText(item.Text), Value: verbNamed(item.Text).way(object, step.Get("existing"))}
			}
			next.Entries = append(next.Entries, e)
		}
		all = append(all, oneWay{item.Text, next})
	}
	return all
}

// checkEach checks that each, write and existing are valid together.
func checkEach(v *validator, step, each, object *yamltree.Node) bool {
	before := v.Problems.Count
	switch {
	case each == nil && object != nil:
		v.At(step.Key("write"), "each: ["+strings.Join(ways(), ", ")+"]", "list the verbs in each")
	case each == nil:
		v.At(step.Key("existing"), "", "existing belongs to write, with each")
	case object == nil:
		v.At(step.Key("each"), "write: the object", "each needs write: the object to write with each verb")
	case object.Kind != yamltree.Mapping:
		v.At(object, "", "want an object, not %s", object.What())
	case each.Kind != yamltree.Sequence || len(each.Items) == 0:
		v.At(each, "such as ["+strings.Join(ways(), ", ")+"]", "want a list of write verbs")
	default:
		checkWays(v, step, each)
	}
	return v.Problems.Count == before
}

func checkWays(v *validator, step, each *yamltree.Node) {
	var names []string
	for _, item := range each.Items {
		switch {
		case item.Kind != yamltree.Scalar || !slices.Contains(ways(), item.Text):
			v.At(item, words.Suggest(item.Text, ways(), "there are"), "there is no write verb %q",
				words.Short(item.Text))
			return
		case slices.Contains(names, item.Text):
			v.At(item, "", "%s is listed twice", item.Text)
			return
		}
		names = append(names, item.Text)
	}
	for _, f := range verbFields() {
		if f.Name != "write" && step.Get(f.Name) != nil {
			v.At(step.Key(f.Name), "make two steps of it", "a step has one verb; this one has write and %s", f.Name)
			return
		}
	}
	mayMake := func(name string) bool { return verbNamed(name).makes != nil }
	makes := slices.ContainsFunc(names, mayMake)
	changes := slices.ContainsFunc(names, func(name string) bool { return !mayMake(name) })
	existing, metadata := step.Get("existing"), step.Get("write").Get("metadata")
	switch rejected := step.Get("expect").Get("rejected") != nil; {
	case existing != nil && !changes:
		v.At(step.Key("existing"), "update and patch change what exists", "no verb here changes an existing object")
	case existing != nil && (existing.Kind != yamltree.Scalar || existing.Tag != yamltree.TagString ||
		existing.Text == ""):
		v.At(existing, "", "want the name of an object, not %s", existing.What())
	case existing != nil && metadata != nil && metadata.Kind != yamltree.Mapping:
		v.At(metadata, "write a mapping; its values may be expressions",
			"metadata must be a mapping here: update and patch replace its name")
	case existing == nil && rejected && makes && changes:
		v.At(step.Key("each"), "set existing to the name of a stored object, which update and patch change",
			"update and patch need an object that exists, but create and apply must be rejected here")
	}
}

// withEntry returns a copy of a mapping with another value under a key.
func withEntry(n *yamltree.Node, key string, value *yamltree.Node) *yamltree.Node {
	next := n.Like(yamltree.Mapping)
	found := false
	for _, e := range n.Entries {
		if e.Key.Text == key {
			e.Value, found = value, true
		}
		next.Entries = append(next.Entries, e)
	}
	if !found {
		next.Entries = append(next.Entries, yamltree.Entry{Key: keyNode(n, key), Value: value})
	}
	return next
}

// keyNode returns the node of a key that is not in the file, at the position of n.
func keyNode(n *yamltree.Node, text string) *yamltree.Node {
	key := n.Like(yamltree.Scalar)
	key.Tag, key.Text, key.Literal = yamltree.TagString, text, true
	return key
}

// orMapping returns n if it is a mapping; otherwise an empty mapping at the position of at.
func orMapping(n *yamltree.Node, at *yamltree.Node) *yamltree.Node {
	if n != nil && n.Kind == yamltree.Mapping {
		return n
	}
	return at.Like(yamltree.Mapping)
}

// ways lists the verbs that each supports.
func ways() []string { return verbNames(func(v verb) bool { return v.way != nil }) }
