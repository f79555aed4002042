package scenarios

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/clusters"
)

// object checks what is needed to send an object at all. Its names may be wrong: that they are refused may be the test.
func (v *validator) object(o Object, n *node, create, accepted bool) {
	for _, name := range []string{"apiVersion", "kind"} {
		if text, _ := o[name].(string); text == "" {
			v.at(n.at(name), "", "the object needs %s, a text", name)
		} else if name == "apiVersion" {
			v.groupVersion(text, n.at(name))
		}
	}
	metadata, ok := o["metadata"].(map[string]any)
	if !ok && o["metadata"] != nil {
		v.at(n.at("metadata"), "", "want a mapping, not %s", n.at("metadata").what())
		return
	}
	name, named := metadata["name"].(string)
	_, generated := metadata["generateName"].(string)
	switch {
	case metadata["name"] != nil && !named:
		v.at(n.at("metadata", "name"), "put it in quotes", "metadata.name must be a text, not %s", n.at("metadata", "name").what())
	case create && (generated || !accepted):
	case name == "":
		v.at(n.at("metadata"), "", "the object needs metadata.name")
	}
}

func (v *validator) groupVersion(text string, n *node) {
	if strings.Contains(text, "${") {
		return
	}
	if _, err := schema.ParseGroupVersion(text); err != nil || text == "" {
		v.at(n, "such as v1 or apps/v1", "apiVersion %q is no group and version", short(text))
	}
}

func (v *validator) objectReference(r ObjectReference, n *node) {
	v.present(r.Kind, n, "kind")
	v.groupVersion(r.APIVersion, n.at("apiVersion"))
	for _, name := range []string{"name", "namespace"} {
		if at := n.get(name); at != nil && at.text == "" {
			v.at(at, "leave it out", "%s is empty", name)
		}
	}
}

func (v *validator) patch(p *Patch, n *node) {
	v.objectReference(p.ObjectReference, n)
	v.present(p.Name, n, "name")
	set := 0
	for _, name := range []string{"merge", "json", "strategic"} {
		if n.get(name) != nil {
			set++
		}
	}
	if set != 1 {
		v.at(n, "", "a patch has exactly one of merge, json and strategic; this one has %d", set)
	}
	for i, op := range p.JSON {
		v.operation(op, n.at("json", i))
	}
}

// operation checks one operation of a JSON patch.
func (v *validator) operation(op map[string]any, n *node) {
	needs := map[string][]string{
		"add": {"value"}, "replace": {"value"}, "test": {"value"}, "remove": nil, "move": {"from"}, "copy": {"from"},
	}
	name, _ := op["op"].(string)
	more, ok := needs[name]
	if !ok {
		v.at(n.at("op"), suggest(name, []string{"add", "replace", "test", "remove", "move", "copy"}, "there are"), "no operation of a JSON patch is called %q", short(name))
		return
	}
	for _, field := range append([]string{"path"}, more...) {
		if _, there := op[field]; !there {
			v.at(n, "", "the operation %s of a JSON patch needs %s", name, field)
		}
	}
	for _, field := range clusters.SortedKeys(op) {
		value := op[field]
		if !slices.Contains([]string{"op", "path", "from", "value"}, field) {
			v.at(n.key(field), suggest(field, []string{"op", "path", "from", "value"}, "there are"), "an operation of a JSON patch has no field %q", short(field))
		}
		if field != "path" && field != "from" {
			continue
		}
		if text, isText := value.(string); !isText || text != "" && text[0] != '/' && !strings.HasPrefix(text, "${") {
			v.at(n.at(field), "such as /metadata/labels/app", "%s of a JSON patch must be a JSON pointer", field)
		}
	}
}

func (v *validator) delete(d *Delete, n *node) {
	v.objectReference(d.ObjectReference, n)
	v.oneOf(d.Propagation, []string{"Background", "Foreground", "Orphan"}, n.at("propagation"), "propagation")
	switch byName, bySelector := d.Name != "", d.Selector != nil; {
	case byName == bySelector:
		v.at(n, "", "give either name or selector")
	case bySelector && len(d.Selector) == 0:
		v.at(n.at("selector"), "", "an empty selector would delete everything")
	}
}

func (v *validator) restart(s *Scenario, i int, r *ComponentReference, n *node) {
	v.oneOf(string(r.Component), restartable(stateBefore(s, i)), n.at("component"), "component that can be restarted")
}

func (v *validator) eventually(a *Assertion, n *node) {
	v.assertion(a, n)
	if n.get("for") != nil {
		v.at(n.key("for"), "eventually has within; always and never have for", "eventually does not last")
	}
	if n.get("throughout") != nil {
		v.at(n.key("throughout"), "always and never have it", "eventually does not last")
	}
	v.oneOf(a.Stale, []string{Allowed}, n.at("stale"), "value of stale")
}

func (v *validator) lasting(s *Scenario, i int, a *Assertion, n *node) {
	verb := s.Spec.Steps[i].Verb()
	v.assertion(a, n)
	if n.get("stale") != nil {
		v.at(n.key("stale"), "only eventually waits for a current status", "%s takes every status as it is", verb)
	}
	switch {
	case n.get("within") != nil:
		v.at(n.key("within"), "say how long with for", "%s has no within: it must hold from the first moment", verb)
	case n.get("for") != nil && n.get("throughout") != nil:
		v.at(n.key("for"), "for is from now on, throughout is a time that is over", "give either for or throughout")
	case n.get("throughout") != nil:
		v.throughout(s, i, n)
	case n.get("for") == nil:
		v.at(n, "", "%s needs for: how long it must hold; or throughout: [first step, last step]", verb)
	}
}

func (v *validator) selection(s Selection, n *node) {
	v.objectReference(s.ObjectReference, n)
	if s.Name != "" && s.Selector != nil {
		v.at(n.key("selector"), "", "give either name or selector")
	}
	if s.Namespace != "" && s.AllNamespaces {
		v.at(n.key("allNamespaces"), "", "give either namespace or allNamespaces")
	}
}

func (v *validator) assertion(a *Assertion, n *node) {
	v.selection(a.Selection, n)
	if a.Count != nil && a.Absent {
		v.at(n.key("absent"), "absent is count: 0", "give either count or absent")
	}
	v.partial(a.Match, n.at("match"))
	v.count(a.Count, n.at("count"))
	v.oneOf(a.Vacuous, []string{Allowed}, n.at("vacuous"), "value of vacuous")
	if a.Vacuous != "" && len(a.Match) == 0 && a.CEL == "" {
		v.at(n.key("vacuous"), "leave it out", "without match and cel there is no condition that could be vacuous")
	}
}

func (v *validator) count(c *Count, n *node) {
	if c == nil || c.All {
		return
	}
	switch {
	case c.Min == nil && c.Max == nil:
		v.at(n, "give min, max or both", "any number is as wanted")
	case c.Min != nil && *c.Min < 0, c.Max != nil && *c.Max < 0:
		v.at(n, "", "a count cannot be below zero")
	case c.Min != nil && c.Max != nil && *c.Min > *c.Max:
		v.at(n, "", "min %d is more than max %d", *c.Min, *c.Max)
	case c.Min != nil && *c.Min == 0 && c.Max == nil:
		v.at(n, "min: 1, or max: 0", "any number is as wanted")
	}
}
