package scenarios

import "strings"

// Expect is what is expected of a write.
type Expect struct {
	// Rejected: the API server refuses the write. A transport error, a time-out or a 5xx is no refusal (unless that very
	// code is asked for).
	Rejected *Rejection `json:"rejected,omitempty"`
	// Warnings that the API server must send, each at least once.
	Warnings []Text `json:"warnings,omitempty"`
	// Dropped lists the paths of fields that are sent and that the API server drops: a feature gate is off, say. Each must
	// be dropped, and nothing else may be. They are written like the paths of unchanged.
	Dropped []string `json:"dropped,omitempty"`
	// Match is a partial object that what is returned must match.
	Match map[string]any `json:"match,omitempty"`
	// CEL is an expression that is true of the "object" returned.
	CEL string `json:"cel,omitempty" expression:"write"`
}

// Values of Step.FieldValidation.
const (
	StrictFields = "Strict"
	WarnFields   = "Warn"
	IgnoreFields = "Ignore"
)

// Rejection is how the API server must refuse a write; each field that is set must be so. See [Who
// refuses](#who-refuses) for by.
type Rejection struct {
	// Code of the HTTP response: 422.
	Code int `json:"code,omitempty"`
	// Reason of the Status: Invalid, Forbidden, Conflict, ...
	Reason string `json:"reason,omitempty"`
	// Field that a cause names: metadata.name.
	Field string `json:"field,omitempty"`
	// Message of the cause that names the field or, without a field, of the Status.
	Message *Text `json:"message,omitempty"`
	// Causes that must all be there, and no others.
	Causes []Cause `json:"causes,omitempty"`
	// By is who refuses: schema, webhook, policy, rbac or admission. A refusal that does not tell who it is from is by
	// none of them.
	By string `json:"by,omitempty" fixed:"true"`
	// AnyOf holds alternatives, where a specification allows several answers: one of them must be met whole, besides the
	// other fields. The report says which one was.
	AnyOf []Rejection `json:"anyOf,omitempty"`
}

// Who can refuse a write, as Rejection.By names them.
const (
	// BySchema: what the kind itself demands of an object.
	BySchema = "schema"
	// ByWebhook: an admission webhook.
	ByWebhook = "webhook"
	// ByPolicy: an admission policy in CEL.
	ByPolicy = "policy"
	// ByRBAC: the API server's authorizers.
	ByRBAC = "rbac"
	// ByAdmission: an admission plugin that is built into the API server.
	ByAdmission = "admission"
)

// Refusers lists who can refuse a write.
func Refusers() []string { return []string{BySchema, ByWebhook, ByPolicy, ByRBAC, ByAdmission} }

// Codes are those that a refusal may be asked to have.
func (r *Rejection) Codes() []int {
	var codes []int
	if r.Code != 0 {
		codes = append(codes, r.Code)
	}
	for i := range r.AnyOf {
		codes = append(codes, r.AnyOf[i].Codes()...)
	}
	return codes
}

// Cause is one of a refusal's details (metav1.StatusCause).
type Cause struct {
	// Reason of the cause: FieldValueInvalid, ...
	Reason string `json:"reason,omitempty"`
	// Field that the cause names.
	Field string `json:"field,omitempty"`
	// Message of the cause.
	Message *Text `json:"message,omitempty"`
}

// Text is a condition on a text; as a plain string it is "contains". Each field that is set must hold, and one must be
// set.
type Text struct {
	// Contains this.
	Contains string `json:"contains,omitempty"`
	// Lacks this: it is nowhere in the text.
	Lacks string `json:"lacks,omitempty"`
	// Equals this. An empty text is written as matches: "^$".
	Equals string `json:"equals,omitempty"`
	// Matches this regular expression (RE2).
	Matches string `json:"matches,omitempty"`
}

// UnmarshalScalar reads a plain string as "contains".
func (t *Text) UnmarshalScalar(text string) error {
	t.Contains = text
	return nil
}

func (v *validator) expect(step *Step, n *node) {
	e, verb := step.Expect, step.verb()
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
	case returned && verb.results == nil:
		v.at(n, "look at the object in a step of its own", "%s returns no object to match", verb.name)
	}
	v.dropped(step, n)
	v.partial(e.Match, n.at("match"))
	for i := range e.Warnings {
		v.text(&e.Warnings[i], n.at("warnings", i))
	}
	if e.Rejected != nil {
		v.rejection(e.Rejected, n.get("rejected"))
	}
}

// dropped checks that there is something that can be dropped, and the paths.
func (v *validator) dropped(step *Step, n *node) {
	if n.get("dropped") == nil {
		return
	}
	at := n.key("dropped")
	switch {
	case step.Expect.Rejected != nil:
		v.at(at, "", "a write that is rejected stores nothing of which something could be dropped")
	case step.verb().sends == noFields:
		v.at(at, "", "%s sends no fields", step.Verb())
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
func (v *validator) fieldValidation(step *Step, n *node) {
	v.oneOf(step.FieldValidation, []string{StrictFields, WarnFields, IgnoreFields}, n.at("fieldValidation"),
		"field validation")
	if at := n.get("fieldValidation"); at != nil && step.verb().sends != objectFields {
		v.at(n.key("fieldValidation"), "", "%s sends no fields that could be unknown", step.Verb())
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
		case e.key.text == "code" && r.Code != 0 && r.Code != r.AnyOf[i].Code, e.key.text == "reason" && r.Reason != "" &&
			r.Reason != r.AnyOf[i].Reason,
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

func refused(step *Step) bool { return step.Expect != nil && step.Expect.Rejected != nil }
