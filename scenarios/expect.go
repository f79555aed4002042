package scenarios

import (
	"net/http"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/scenarios/fieldpath"
	"github.com/rehearse-dev/rehearse/scenarios/internal/yamltree"
)

// Expect is the expected result of a write.
type Expect struct {
	// Rejected: the API server rejects the write. A transport error, a time-out or a 5xx is not a rejection (except if
	// code is exactly that 5xx).
	Rejected *Rejection `json:"rejected,omitempty"`
	// Warnings that the API server must send, each at least once.
	Warnings []Text `json:"warnings,omitempty"`
	// Dropped lists the paths of sent fields that the API server must drop, for example because a feature gate is off.
	// It must drop no others. The syntax is that of the paths of unchanged.
	Dropped []string `json:"dropped,omitempty"`
	// Match is a partial object that the returned object must match.
	Match map[string]any `json:"match,omitempty"`
	// CEL is an expression that must be true for the returned "object".
	CEL string `json:"cel,omitempty" expression:"write"`
}

// Values of Step.FieldValidation.
const (
	StrictFields = "Strict"
	WarnFields   = "Warn"
	IgnoreFields = "Ignore"
)

// Rejection describes how the API server must reject a write; every field that is set must match. A kind that is not
// served is such a rejection only if code is 404 or reason is NotFound. See [Who rejects](#who-rejects) for by.
type Rejection struct {
	// Code of the HTTP response: 422.
	Code int `json:"code,omitempty"`
	// Reason of the Status: Invalid, Forbidden, Conflict, ...
	Reason string `json:"reason,omitempty" filled:"true"`
	// Field that a cause names: metadata.name.
	Field string `json:"field,omitempty" filled:"true"`
	// Message of the cause that names the field or, without a field, of the Status.
	Message *Text `json:"message,omitempty"`
	// Causes that must all be present, and no others.
	Causes []Cause `json:"causes,omitempty"`
	// By names the component that rejects: schema, webhook, policy, rbac or admission. A rejection that does not show
	// its origin matches none of them.
	By string `json:"by,omitempty" fixed:"true"`
	// AnyOf lists alternatives if a specification allows several answers: one of them must match completely, in
	// addition to the other fields. The report names the one that matched.
	AnyOf []Rejection `json:"anyOf,omitempty"`
}

// Sources of rejections: the values of Rejection.By.
const (
	// BySchema: the schema or the validation of the kind itself.
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

// RejectionSources lists the values of Rejection.By.
func RejectionSources() []string { return []string{BySchema, ByWebhook, ByPolicy, ByRBAC, ByAdmission} }

// codesOf returns the codes of all rejections by a source, as text and as numbers. It returns none for a source that
// chooses its own code.
func codesOf(by string) (text string, codes []int) {
	switch by {
	case ByRBAC, ByAdmission:
		return "403", []int{http.StatusForbidden}
	case BySchema:
		return "400, 422 or 500", []int{
			http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusInternalServerError,
		}
	}
	return "", nil
}

// Codes returns the HTTP status codes that the rejection and its alternatives name.
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

// Cause is one detail of a rejection (metav1.StatusCause).
type Cause struct {
	// Reason of the cause: FieldValueInvalid, ...
	Reason string `json:"reason,omitempty" filled:"true"`
	// Field that the cause names.
	Field string `json:"field,omitempty" filled:"true"`
	// Message of the cause.
	Message *Text `json:"message,omitempty"`
}

// Text is a condition on a text; a plain string means "contains". At least one field must be set, and every field that
// is set must match.
type Text struct {
	// Contains is a substring of the text.
	Contains string `json:"contains,omitempty" filled:"true"`
	// Lacks is a string that must not occur in the text.
	Lacks string `json:"lacks,omitempty" filled:"true"`
	// Equals is the whole text. Use matches: "^$" for an empty text.
	Equals string `json:"equals,omitempty" filled:"true"`
	// Matches is a regular expression (RE2) that must match.
	Matches string `json:"matches,omitempty" filled:"true"`
}

// UnmarshalScalar reads a plain string as "contains".
func (t *Text) UnmarshalScalar(text string) error {
	t.Contains = text
	return nil
}

func (v *validator) expect(step *Step, n *yamltree.Node) {
	e, verb := step.Expect, step.verb()
	if e == nil {
		return
	}
	if e.Rejected == nil && e.Match == nil && e.CEL == "" && len(e.Warnings) == 0 && len(e.Dropped) == 0 {
		v.At(n, "give rejected, warnings, dropped, match or cel", "expect is empty")
	}
	returned := e.Match != nil || n.Get("cel") != nil
	switch {
	case returned && e.Rejected != nil:
		v.At(n, "", "a rejected write returns no object to match")
	case returned && verb.results == nil:
		v.At(n, "check the object in a separate step", "%s returns no object to match", verb.name)
	}
	if at := n.Get("warnings"); at != nil && len(e.Warnings) == 0 {
		v.At(at, "leave it out: additional warnings are always allowed", "no warning is listed")
	}
	v.dropped(step, n)
	v.partial(e.Match, n.At("match"))
	for i := range e.Warnings {
		v.text(&e.Warnings[i], n.At("warnings", i))
	}
	if e.Rejected != nil {
		v.rejection(e.Rejected, n.Get("rejected"))
	}
}

// dropped checks that fields of the write can be dropped, and that the paths of expect.dropped are valid.
func (v *validator) dropped(step *Step, n *yamltree.Node) {
	if n.Get("dropped") == nil {
		return
	}
	at := n.Key("dropped")
	switch {
	case step.Expect.Rejected != nil:
		v.At(at, "", "a rejected write stores nothing, so nothing can be dropped")
	case step.verb().sends == noFields:
		v.At(at, "", "%s sends no fields", step.Verb())
	case step.FieldValidation == IgnoreFields:
		v.At(at, "say fieldValidation: Warn", "dropped fields are not checked with fieldValidation: Ignore")
	case len(step.Expect.Dropped) == 0:
		v.At(at, "", "no path is listed")
	}
	for i, text := range step.Expect.Dropped {
		if _, err := fieldpath.Parse(text); err != nil && !strings.Contains(text, "${") {
			v.At(n.At("dropped", i), `such as spec.template.spec.containers[0].image or metadata.labels["a.b/c"]`, "%v", err)
		}
	}
}

// fieldValidation checks the value of fieldValidation, and that the write sends fields of an object.
func (v *validator) fieldValidation(step *Step, n *yamltree.Node) {
	v.OneOf(step.FieldValidation, []string{StrictFields, WarnFields, IgnoreFields}, n.At("fieldValidation"),
		"field validation")
	if at := n.Get("fieldValidation"); at != nil && step.verb().sends != objectFields {
		v.At(n.Key("fieldValidation"), "", "%s sends no fields that could be unknown", step.Verb())
	}
}

func (v *validator) rejection(r *Rejection, n *yamltree.Node) {
	if n.Get("code") != nil && (r.Code < 400 || r.Code > 599) {
		v.At(n.At("code"), "422 is Invalid, 403 Forbidden, 409 Conflict", "no rejection has the code %d", r.Code)
	}
	v.notEmpty(n, "reason", "field", "by")
	v.source(r.By, r.Code, n.At("code"))
	v.text(r.Message, n.At("message"))
	v.OneOf(r.By, RejectionSources(), n.At("by"), "source of rejections")
	if n.Get("causes") != nil && len(r.Causes) == 0 {
		v.At(n.At("causes"), "", "no cause is listed")
	}
	for i, c := range r.Causes {
		if c.Reason == "" && c.Field == "" && c.Message == nil {
			v.At(n.At("causes", i), "give reason, field or message", "any cause would match")
		}
		v.notEmpty(n.At("causes", i), "reason", "field")
		v.text(c.Message, n.At("causes", i, "message"))
	}
	if n.Get("anyOf") != nil && len(r.AnyOf) < 2 {
		v.At(n.At("anyOf"), "omit anyOf for a single answer", "want at least two alternatives")
	}
	for i := range r.AnyOf {
		v.alternative(r, i, n.At("anyOf", i))
	}
}

// source checks that a source can reject with a code.
func (v *validator) source(by string, code int, n *yamltree.Node) {
	text, codes := codesOf(by)
	if code >= 400 && codes != nil && !slices.Contains(codes, code) {
		v.At(n, "", "this cannot match: a rejection by %s has the code %s, not %d", by, text, code)
	}
}

// alternative checks one alternative of anyOf. It must not be empty, contain another anyOf, or contradict a field
// beside anyOf.
func (v *validator) alternative(r *Rejection, i int, n *yamltree.Node) {
	if len(n.Entries) == 0 {
		v.At(n, "", "any rejection would match this alternative")
	}
	for _, e := range n.Entries {
		switch {
		case e.Key.Text == "anyOf":
			v.At(e.Key, "list the alternatives in one anyOf", "an alternative cannot have alternatives")
			return
		case e.Key.Text == "code" && r.Code != 0 && r.Code != r.AnyOf[i].Code, e.Key.Text == "reason" && r.Reason != "" &&
			r.Reason != r.AnyOf[i].Reason,
			e.Key.Text == "by" && r.By != "" && r.By != r.AnyOf[i].By:
			v.At(e.Key, "", "this alternative cannot match: anyOf has a different %s beside it", e.Key.Text)
		}
	}
	v.rejection(&r.AnyOf[i], n)
	switch own := r.AnyOf[i]; {
	case own.By == "" && r.Code == 0:
		v.source(r.By, own.Code, n.At("code"))
	case own.Code == 0 && r.By == "":
		v.source(own.By, r.Code, n.At("by"))
	}
}

// partial checks that a partial object is not empty. Every object would match an empty one.
func (v *validator) partial(m map[string]any, n *yamltree.Node) {
	if m != nil && len(m) == 0 {
		v.At(n, "", "every object would match")
	}
}

func rejected(step *Step) bool { return step.Expect != nil && step.Expect.Rejected != nil }
