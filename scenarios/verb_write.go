package scenarios

import (
	"slices"
	"strings"
)

// writeVerb is that of a step that becomes one step for each way of writing when it is loaded.
func writeVerb() verb {
	return verb{
		name: "write", replaced: true,
		about: func(s *Step) string { return s.Write.subject() },
		check: func(*validator, stepCheck) {}, // each way is checked as the verb that it becomes
	}
}

// oneWay is a step with one way of writing.
type oneWay struct {
	// name of the way; "" for a step without each.
	name string
	node *node
}

// inEachWay makes a step with each into one for each way, before anything is put into it. It returns nil when something
// is wrong.
func (d *document) inEachWay(step *node) []oneWay {
	each, object := step.get("each"), step.get("write")
	if each == nil && object == nil && step.get("existing") == nil {
		return []oneWay{{node: step}}
	}
	v := &validator{problems: d.found, expressions: d.expressions}
	if !v.each(step, each, object) {
		return nil
	}
	rest := withoutKey(withoutKey(step, "each"), "existing")
	var all []oneWay
	for _, item := range each.items {
		next := rest.like(mapping)
		for _, e := range rest.entries {
			if e.key.text == "write" {
				e = entry{key: e.key.withText(item.text), value: verbNamed(item.text).way(object, step.get("existing"))}
			}
			next.entries = append(next.entries, e)
		}
		all = append(all, oneWay{item.text, next})
	}
	return all
}

// each checks that the ways, the object and what exists go together.
func (v *validator) each(step, each, object *node) bool {
	before := v.problems.count
	switch {
	case each == nil && object != nil:
		v.at(step.key("write"), "each: ["+strings.Join(ways(), ", ")+"]", "say with each in which ways the object is written")
	case each == nil:
		v.at(step.key("existing"), "", "existing belongs to write, with each")
	case object == nil:
		v.at(step.key("each"), "write: the object", "each is for write: it needs the object that is written in each way")
	case object.kind != mapping:
		v.at(object, "", "want an object, not %s", object.what())
	case each.kind != sequence || len(each.items) == 0:
		v.at(each, "such as ["+strings.Join(ways(), ", ")+"]", "want a list of ways to write")
	default:
		v.waysOf(step, each)
	}
	return v.problems.count == before
}

func (v *validator) waysOf(step, each *node) {
	var names []string
	for _, item := range each.items {
		switch {
		case item.kind != scalar || !slices.Contains(ways(), item.text):
			v.at(item, suggest(item.text, ways(), "there are"), "no way of writing is called %q", short(item.text))
			return
		case slices.Contains(names, item.text):
			v.at(item, "", "%s is listed twice", item.text)
			return
		}
		names = append(names, item.text)
	}
	for _, f := range verbFields() {
		if f.name != "write" && step.get(f.name) != nil {
			v.at(step.key(f.name), "make two steps of it", "a step has one verb; this one has write and %s", f.name)
			return
		}
	}
	mayMake := func(name string) bool { return verbNamed(name).makes != nil }
	makes := slices.ContainsFunc(names, mayMake)
	changes := slices.ContainsFunc(names, func(name string) bool { return !mayMake(name) })
	existing := step.get("existing")
	switch refused := step.get("expect").get("rejected") != nil; {
	case existing != nil && !changes:
		v.at(step.key("existing"), "update and patch change what exists", "nothing that exists is changed here")
	case existing != nil && (existing.kind != scalar || existing.tag != tagString || existing.text == ""):
		v.at(existing, "", "want the name of an object, not %s", existing.what())
	case existing == nil && refused && makes && changes:
		v.at(step.key("each"), "name with existing what was stored before, for update and patch to change",
			"what create and apply must not make cannot be there for update and patch")
	}
}

// withEntry returns a copy of a mapping with another value under a key.
func withEntry(n *node, key string, value *node) *node {
	next := n.like(mapping)
	found := false
	for _, e := range n.entries {
		if e.key.text == key {
			e.value, found = value, true
		}
		next.entries = append(next.entries, e)
	}
	if !found {
		next.entries = append(next.entries, entry{key: n.keyNode(key), value: value})
	}
	return next
}

// keyNode makes the node of a key that is not written in the file.
func (n *node) keyNode(text string) *node {
	key := n.like(scalar)
	key.tag, key.text, key.literal = tagString, text, true
	return key
}

// orMapping is the node, or an empty mapping at the place of another one.
func (n *node) orMapping(at *node) *node {
	if n != nil && n.kind == mapping {
		return n
	}
	return at.like(mapping)
}

// ways lists the ways of writing that each can name.
func ways() []string { return verbNames(func(v verb) bool { return v.way != nil }) }
