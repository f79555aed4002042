package scenarios

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/scenarios/expressions"
	"github.com/rehearse-dev/rehearse/scenarios/internal/decode"
	"github.com/rehearse-dev/rehearse/scenarios/internal/tags"
	"github.com/rehearse-dev/rehearse/scenarios/internal/words"
	"github.com/rehearse-dev/rehearse/scenarios/internal/yamltree"
)

// checkShape checks a step before it is decoded: it must have exactly one verb, and only fields that this verb
// supports. It returns false after an error; the step is then not decoded.
func checkShape(v *validator, n *yamltree.Node) bool {
	fields := tags.Of(reflect.TypeFor[Step]())
	for _, e := range n.Entries {
		if _, ok := tags.Named(fields, e.Key.Text); !ok {
			return true // the decoder has a better message
		}
	}
	name, ok := checkVerb(v, n)
	if !ok {
		return false
	}
	verb := verbNamed(name)
	if verb.shape != nil && !verb.shape(v, n.Get(name)) {
		return false
	}
	if n.Get("expect") != nil && !verb.write {
		hint := "only a write has it: " + strings.Join(Writes(), ", ")
		if verb.ownExpect {
			hint = name + " has its own expect: indent it below " + name
		}
		v.At(n.Key("expect"), hint, "%s is not a write, so it cannot have expect", name)
		return false
	}
	if n.Get("during") != nil && !verb.takesTime {
		v.At(n.Key("during"), "a load can go on during "+strings.Join(underLoad(), ", "),
			"%s takes no time: no load can run during it", name)
		return false
	}
	for _, of := range [][2]string{
		{"dryRun", "it has no dry run"},
		{"as", "it is not sent as a user"},
		{"fieldValidation", "it sends no fields"},
	} {
		field, what := of[0], of[1]
		if n.Get(field) == nil || verb.write {
			continue
		}
		hint := ""
		if verb.ofSteps {
			hint = "each of its steps can have it"
		}
		v.At(n.Key(field), hint, "%s is no write: %s", name, what)
		return false
	}
	return true
}

func checkStep(v *validator, s *Scenario, i int, n *yamltree.Node) {
	step := &s.Spec.Steps[i]
	if step.Name == "" && n.Get("name") != nil || strings.ContainsAny(step.Name, "\n\r") {
		v.At(n.At("name"), "", "the name of a step must be a single-line string")
	}
	verb := step.verb()
	v.covers(step.Covers, n.At("covers"))
	v.among(step.Covers, s.Spec.Covers, n.At("covers"))
	v.expect(step, n.At("expect"))
	v.fieldValidation(step, n)
	v.user(step.As, n.At("as"))
	checkVia(v, s, i, n)
	checkOutputs(v, step, n)
	if step.Continue != nil && *step.Continue && step.ChangesCluster() && len(step.During) == 0 {
		v.At(n.Key("continue"), "continue is for checks, writes and loads",
			"a failed %s leaves the cluster in an unknown state and ends the scenario", verb.name)
	}
	checkDuring(v, s, i, n)
	verb.check(v, stepCheck{scenario: s, i: i, step: step, node: n.Get(verb.name), accepted: !rejected(step)})
	checkRecorded(v, step, n.Get(verb.name))
}

// checkRecorded reports a check of a field that is not recorded. It would be judged as if no object had the field.
func checkRecorded(v *validator, step *Step, n *yamltree.Node) {
	for _, watch := range step.Watches() {
		uses, _ := watch.Fields(v.expressions) // what cannot be read is reported by the check of the verb
		if slices.ContainsFunc(uses, func(use FieldUse) bool {
			return len(use.Path) > 1 && use.Path[0] == "metadata" && use.Path[1] == "managedFields"
		}) {
			v.At(n, "check the answer of a write with expect, or use a command",
				"metadata.managedFields is not recorded, so it cannot be checked here")
			return
		}
	}
}

// checkVerb returns the one verb of a step. If there is not exactly one, it reports an error and returns false.
func checkVerb(v *validator, n *yamltree.Node) (string, bool) {
	var verbs []string
	for _, f := range verbFields() {
		if n.Get(f.Name) != nil {
			verbs = append(verbs, f.Name)
		}
	}
	switch len(verbs) {
	case 1:
		return verbs[0], true
	case 0:
		var all []string
		for _, f := range verbFields() {
			all = append(all, f.Name)
		}
		v.At(n, "the verbs: "+strings.Join(all, ", "), "a step without a verb")
		return "", false
	}
	v.At(n.Key(verbs[1]), "make two steps of it", "a step has one verb; this one has %s", strings.Join(verbs, " and "))
	return "", false
}

// checkOutputs checks the names of the outputs, and that the step has results for them.
func checkOutputs(v *validator, step *Step, n *yamltree.Node) {
	if n.Get("outputs") == nil {
		return
	}
	for _, e := range n.Get("outputs").Entries {
		if !expressions.Identifier(e.Key.Text) {
			v.At(e.Key, "use letters, digits and _, so that outputs.name_of_output can be written",
				"%q is not a valid output name", words.Short(e.Key.Text))
		}
	}
	checkFigures(v, step, n.Get("outputs"))
	at, verb := n.Key("outputs"), step.verb()
	switch {
	case len(step.Outputs) == 0:
		v.At(at, "", "no output is named")
	case verb.results == nil && len(step.During) == 0:
		v.At(at, "", "%s returns nothing for outputs", verb.name)
	case step.Metric != nil && verb.empty(step):
		v.At(at, "", "no series must match, so there is no value for outputs")
	case verb.empty != nil && verb.empty(step):
		v.At(at, "", "no object must match, so there is none for outputs")
	case rejected(step):
		v.At(at, "", "a rejected write returns no object for outputs")
	}
}

// wording returns the texts in the loader's errors for the types of the language.
func wording() decode.Language {
	return decode.Language{
		Wanted: map[reflect.Type]string{
			reflect.TypeFor[Duration](): "a duration such as 5s",
			reflect.TypeFor[Count]():    "a number, \"all\", or {min: 1, max: 3}",
			reflect.TypeFor[Text]():     "a text, or {contains, equals, matches, lacks}",
		},
		Unknown: func(t reflect.Type, key string, fields []string) (message, hint string) {
			switch {
			case t == reflect.TypeFor[Step]():
				return fmt.Sprintf("a step has no verb or field %q", words.Short(key)),
					words.Suggest(key, fields, "verbs and fields of a step")
			case t == reflect.TypeFor[Transition]() && key == "controlPlanes":
				return "the number of control planes cannot change", "set it in spec.cluster"
			}
			return "", ""
		},
	}
}
