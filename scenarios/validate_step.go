package scenarios

import (
	"reflect"
	"strings"
)

// shape checks what can be told before the step is decoded: that it has one verb, and expect only with a write.
func (v *validator) shape(n *node) bool {
	fields := fieldsOf(reflect.TypeFor[Step]())
	for _, e := range n.entries {
		if _, ok := fieldNamed(fields, e.key.text); !ok {
			return true // the decoder says it better
		}
	}
	name, ok := v.verb(n)
	if !ok {
		return false
	}
	verb := verbNamed(name)
	if verb.shape != nil && !verb.shape(v, n.get(name)) {
		return false
	}
	if n.get("expect") != nil && !verb.write {
		hint := "only a write has it: " + strings.Join(Writes(), ", ")
		if verb.ownExpect {
			hint = name + " has an expect of its own: indent it below " + name
		}
		v.at(n.key("expect"), hint, "%s is no write: there is nothing to expect of it", name)
		return false
	}
	if n.get("during") != nil && !verb.takesTime {
		v.at(n.key("during"), "a load can go on during "+strings.Join(underLoad(), ", "),
			"%s is over in a moment: no load can go on meanwhile", name)
		return false
	}
	for _, of := range [][2]string{
		{"dryRun", "there is no dry run of it"},
		{"as", "it is sent as nobody"},
		{"fieldValidation", "it sends no fields"},
	} {
		field, what := of[0], of[1]
		if n.get(field) == nil || verb.write {
			continue
		}
		hint := ""
		if verb.ofSteps {
			hint = "each of its steps can have it"
		}
		v.at(n.key(field), hint, "%s is no write: %s", name, what)
		return false
	}
	return true
}

func (v *validator) step(s *Scenario, i int, n *node) {
	step := &s.Spec.Steps[i]
	if step.Name == "" && n.get("name") != nil || strings.ContainsAny(step.Name, "\n\r") {
		v.at(n.at("name"), "", "the name of a step must be a text in one line")
	}
	verb := step.verb()
	v.covers(step.Covers, n.at("covers"))
	v.among(step.Covers, s.Spec.Covers, n.at("covers"))
	v.expect(step, n.at("expect"))
	v.fieldValidation(step, n)
	v.user(step.As, n.at("as"))
	v.via(s, i, n)
	v.outputs(step, n)
	if step.Continue != nil && *step.Continue && step.ChangesCluster() && len(step.During) == 0 {
		v.at(n.key("continue"), "continue is for checks, writes and loads",
			"a %s that fails leaves the cluster in an unknown state: it ends the scenario", verb.name)
	}
	v.during(s, i, n)
	verb.check(v, stepCheck{scenario: s, i: i, step: step, node: n.get(verb.name), accepted: !refused(step)})
}

// verb finds the one verb of a step.
func (v *validator) verb(n *node) (string, bool) {
	var verbs []string
	for _, f := range verbFields() {
		if n.get(f.name) != nil {
			verbs = append(verbs, f.name)
		}
	}
	switch len(verbs) {
	case 1:
		return verbs[0], true
	case 0:
		var all []string
		for _, f := range verbFields() {
			all = append(all, f.name)
		}
		v.at(n, "the verbs: "+strings.Join(all, ", "), "a step without a verb")
		return "", false
	}
	v.at(n.key(verbs[1]), "make two steps of it", "a step has one verb; this one has %s", strings.Join(verbs, " and "))
	return "", false
}

// outputs checks the names of the outputs, and that there is something to make them of.
func (v *validator) outputs(step *Step, n *node) {
	if n.get("outputs") == nil {
		return
	}
	for _, e := range n.get("outputs").entries {
		if !identifier(e.key.text) {
			v.at(e.key, "use letters, digits and _, so that outputs.name_of_output can be written",
				"%q cannot be the name of an output", short(e.key.text))
		}
	}
	at, verb := n.key("outputs"), step.verb()
	switch {
	case len(step.Outputs) == 0:
		v.at(at, "", "no output is named")
	case verb.results == nil && len(step.During) == 0:
		v.at(at, "", "%s returns nothing to make outputs of", verb.name)
	case verb.empty != nil && verb.empty(step):
		v.at(at, "", "there is no object to make outputs of where none must match")
	case refused(step):
		v.at(at, "", "a write that is refused returns no object to make outputs of")
	}
}
