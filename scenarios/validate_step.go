package scenarios

import (
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// writes lists the verbs that send a write to the API server.
func writes() []string {
	return []string{"create", "apply", "update", "patch", "delete", "evict", "scale"}
}

// shape checks what can be told before the step is decoded: that it has one verb, and expect only with a write.
func (v *validator) shape(n *node) bool {
	fields := fieldsOf(reflect.TypeFor[Step]())
	for _, e := range n.entries {
		if _, ok := fieldNamed(fields, e.key.text); !ok {
			return true // the decoder says it better
		}
	}
	verb, ok := v.verb(n)
	if !ok {
		return false
	}
	if verb == "parallel" && !v.parallelShape(n.get(verb)) {
		return false
	}
	write := slices.Contains(writes(), verb)
	if n.get("expect") != nil && !write {
		hint := "only a write has it: " + strings.Join(writes(), ", ")
		if slices.Contains([]string{"resolve", "metric", "command", "exec", "parallel", "transition"}, verb) {
			hint = verb + " has an expect of its own: indent it below " + verb
		}
		v.at(n.key("expect"), hint, "%s is no write: there is nothing to expect of it", verb)
		return false
	}
	if n.get("during") != nil && !slices.Contains(underLoad(), verb) {
		v.at(n.key("during"), "a load can go on during "+strings.Join(underLoad(), ", "), "%s is over in a moment: no load can go on meanwhile", verb)
		return false
	}
	for _, of := range [][2]string{{"dryRun", "there is no dry run of it"}, {"as", "it is sent as nobody"}, {"fieldValidation", "it sends no fields"}} {
		name, what := of[0], of[1]
		if n.get(name) == nil || write {
			continue
		}
		hint := ""
		if verb == "parallel" {
			hint = "each of its steps can have it"
		}
		v.at(n.key(name), hint, "%s is no write: %s", verb, what)
		return false
	}
	return true
}

func (v *validator) step(s *Scenario, i int, n *node) {
	step := &s.Spec.Steps[i]
	if step.Name == "" && n.get("name") != nil || strings.ContainsAny(step.Name, "\n\r") {
		v.at(n.at("name"), "", "the name of a step must be a text in one line")
	}
	verb := step.Verb()
	v.covers(step.Covers, n.at("covers"))
	v.among(step.Covers, s.Spec.Covers, n.at("covers"))
	v.expect(step, verb, n.at("expect"))
	v.fieldValidation(step, verb, n)
	v.user(step.As, n.at("as"))
	v.outputs(step, verb, n)
	if step.Continue != nil && *step.Continue && step.ChangesCluster() && len(step.During) == 0 {
		v.at(n.key("continue"), "continue is for checks, writes and loads",
			"a %s that fails leaves the cluster in an unknown state: it ends the scenario", verb)
	}
	v.during(s, i, n)
	v.verbBody(s, i, n.get(verb))
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

func (v *validator) verbBody(s *Scenario, i int, n *node) {
	step := &s.Spec.Steps[i]
	if slices.Contains(writes(), step.Verb()) {
		v.written(step, n, !refused(step))
		return
	}
	switch {
	case step.Parallel != nil:
		v.parallel(step, n)
	case step.Transition != nil:
		v.transition(s, i, n)
		v.systemChanges(s, i, step.Transition.Systems, n.at("systems"))
	case step.Restart != nil:
		v.controlled(s, i, step.Restart, n)
	case step.Kill != nil:
		v.controlled(s, i, step.Kill, n)
	case step.Eventually != nil:
		v.eventually(step.Eventually, n)
	case step.RolledOut != nil:
		v.selection(step.RolledOut.Selection, n)
	case step.Always != nil:
		v.lasting(s, i, step.Always, n)
	case step.Never != nil:
		v.lasting(s, i, step.Never, n)
	case step.Sequence != nil:
		v.sequence(s, i, n)
	case step.Unchanged != nil:
		v.unchanged(s, i, n)
	case step.Snapshot != nil:
		v.snapshot(s, i, n)
	case step.Restore != nil:
		v.restore(s, i, n)
	case step.Resolve != nil:
		v.resolve(step.Resolve, n)
	case step.Metric != nil:
		v.metric(s, i, n)
	case step.Command != nil:
		v.command(step.Command, n)
	case step.Exec != nil:
		v.exec(step.Exec, n)
	}
}

// written checks what is written; accepted says that it must come to be stored.
func (v *validator) written(step *Step, n *node, accepted bool) {
	switch {
	case step.Create != nil:
		v.object(step.Create, n, true, accepted)
	case step.Apply != nil:
		v.object(step.Apply, n, false, accepted)
	case step.Update != nil:
		v.object(step.Update, n, false, accepted)
	case step.Patch != nil:
		v.patch(step.Patch, n)
	case step.Delete != nil:
		v.delete(step.Delete, n)
	case step.Evict != nil:
		v.present(step.Evict.Name, n, "name")
	case step.Scale != nil:
		v.objectReference(step.Scale.ObjectReference, n)
		v.present(step.Scale.Name, n, "name")
	}
}

// outputs checks the names of the outputs, and that there is something to make them of.
func (v *validator) outputs(step *Step, verb string, n *node) {
	if n.get("outputs") == nil {
		return
	}
	for _, e := range n.get("outputs").entries {
		if !identifier(e.key.text) {
			v.at(e.key, "use letters, digits and _, so that outputs.name_of_output can be written", "%q cannot be the name of an output", short(e.key.text))
		}
	}
	at := n.key("outputs")
	switch {
	case len(step.Outputs) == 0:
		v.at(at, "", "no output is named")
	case resultsOf(verb) == nil && len(step.During) == 0:
		v.at(at, "", "%s returns nothing to make outputs of", verb)
	case step.Eventually != nil && nothing(step.Eventually), step.Always != nil && nothing(step.Always):
		v.at(at, "", "there is no object to make outputs of where none must match")
	case refused(step):
		v.at(at, "", "a write that is refused returns no object to make outputs of")
	}
}

// nothing says whether an assertion holds only when no object matches.
func nothing(a *Assertion) bool {
	return a.Absent || a.Count != nil && a.Count.Max != nil && *a.Count.Max == 0
}

func (v *validator) expect(step *Step, verb string, n *node) {
	e := step.Expect
	if e == nil {
		return
	}
	if e.Rejected == nil && e.Match == nil && e.CEL == "" && len(e.Warnings) == 0 && len(e.Dropped) == 0 {
		v.at(n, "give rejected, warnings, dropped, match or cel", "nothing is expected here")
	}
	returned := e.Match != nil || n.get("cel") != nil
	switch {
	case returned && e.Rejected != nil:
		v.at(n, "", "a write that is refused returns no object to match")
	case returned && (verb == "delete" || verb == "evict"):
		v.at(n, "look at the object in a step of its own", "%s returns no object to match", verb)
	}
	v.dropped(step, verb, n)
	v.partial(e.Match, n.at("match"))
	for i := range e.Warnings {
		v.text(&e.Warnings[i], n.at("warnings", i))
	}
	if e.Rejected != nil {
		v.rejection(e.Rejected, n.get("rejected"))
	}
}

// dropped checks that there is something that can be dropped, and the paths.
func (v *validator) dropped(step *Step, verb string, n *node) {
	if n.get("dropped") == nil {
		return
	}
	at := n.key("dropped")
	switch {
	case step.Expect.Rejected != nil:
		v.at(at, "", "a write that is rejected stores nothing of which something could be dropped")
	case verb == "delete" || verb == "evict":
		v.at(at, "", "%s sends no fields", verb)
	case step.FieldValidation == IgnoreFields:
		v.at(at, "say fieldValidation: Warn", "with fieldValidation: Ignore dropped fields are not looked at")
	case len(step.Expect.Dropped) == 0:
		v.at(at, "", "no path is listed")
	}
	for i, text := range step.Expect.Dropped {
		if _, err := ParseFieldPath(text); err != nil && !strings.Contains(text, "${") {
			v.at(n.at("dropped", i), `such as spec.template.spec.containers[0].image or metadata.labels["a.b/c"]`, "%v", err)
		}
	}
}

// fieldValidation checks the value, and that the write sends fields.
func (v *validator) fieldValidation(step *Step, verb string, n *node) {
	v.oneOf(step.FieldValidation, []string{StrictFields, WarnFields, IgnoreFields}, n.at("fieldValidation"), "field validation")
	if at := n.get("fieldValidation"); at != nil && (verb == "delete" || verb == "evict" || verb == "scale") {
		v.at(n.key("fieldValidation"), "", "%s sends no fields that could be unknown", verb)
	}
}

// user checks that a write is sent as somebody, and by names that can be sent.
func (v *validator) user(u *User, n *node) {
	if u == nil {
		return
	}
	v.userName(u.User, n.at("user"), "user")
	for i, group := range u.Groups {
		v.userName(group, n.at("groups", i), "group")
	}
}

func (v *validator) userName(name string, n *node, what string) {
	if strings.TrimSpace(name) == "" || strings.ContainsFunc(name, unicode.IsControl) {
		v.at(n, "", "want the name of a %s, in one line", what)
	}
}

func (v *validator) rejection(r *Rejection, n *node) {
	if n.get("code") != nil && (r.Code < 400 || r.Code > 599) {
		v.at(n.at("code"), "422 is Invalid, 403 Forbidden, 409 Conflict", "no refusal has the code %d", r.Code)
	}
	v.text(r.Message, n.at("message"))
	v.oneOf(r.By, Refusers(), n.at("by"), "refuser")
	if n.get("causes") != nil && len(r.Causes) == 0 {
		v.at(n.at("causes"), "", "no cause is listed")
	}
	for i, c := range r.Causes {
		if c.Reason == "" && c.Field == "" && c.Message == nil {
			v.at(n.at("causes", i), "give reason, field or message", "any cause is like this one")
		}
		v.text(c.Message, n.at("causes", i, "message"))
	}
	if n.get("anyOf") != nil && len(r.AnyOf) < 2 {
		v.at(n.at("anyOf"), "one answer is said without it", "want two alternatives or more")
	}
	for i := range r.AnyOf {
		v.alternative(r, i, n.at("anyOf", i))
	}
}

// alternative checks one of several answers: it must say something, and not what is said beside them.
func (v *validator) alternative(r *Rejection, i int, n *node) {
	if len(n.entries) == 0 {
		v.at(n, "", "any refusal is like this alternative")
	}
	for _, e := range n.entries {
		switch {
		case e.key.text == "anyOf":
			v.at(e.key, "list the alternatives in one anyOf", "an alternative has no alternatives")
			return
		case e.key.text == "code" && r.Code != 0 && r.Code != r.AnyOf[i].Code, e.key.text == "reason" && r.Reason != "" && r.Reason != r.AnyOf[i].Reason,
			e.key.text == "by" && r.By != "" && r.By != r.AnyOf[i].By:
			v.at(e.key, "", "this alternative can't be met: beside anyOf there is another %s", e.key.text)
		}
	}
	v.rejection(&r.AnyOf[i], n)
}

// partial checks a partial object: an empty one says nothing.
func (v *validator) partial(m map[string]any, n *node) {
	if m != nil && len(m) == 0 {
		v.at(n, "", "every object matches this: there is nothing to compare")
	}
}

// present demands a field that only this verb needs.
func (v *validator) present(text string, n *node, name string) {
	if text == "" {
		v.at(n.at(name), "", "the field %q is missing", name)
	}
}
