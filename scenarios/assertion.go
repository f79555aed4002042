package scenarios

import (
	"fmt"
	"strconv"

	"github.com/rehearse-dev/rehearse/scenarios/internal/yamltree"
)

// Assertion is a condition on the selected objects. Without count and absent, at least one of them must match.
type Assertion struct {
	Selection `json:",inline"`
	// Match is a partial object: maps are compared by key; lists are compared by their map keys, or else must contain
	// the given items. A number is not equal to a text. Where nothing may match (never, absent, a maximum), the step is
	// an error if 0, false or "" is wanted and only that field is absent, if only the types of the values differ, or if
	// equal quantities are written differently (0.5 and 500m).
	Match map[string]any `json:"match,omitempty"`
	// CEL is an expression that is true for a matching object: "object" is the object, "objects" are all selected
	// objects.
	CEL string `json:"cel,omitempty" expression:"assertion"`
	// Count of matching objects: a number, {min, max}, or "all" (all selected objects, at least one).
	Count *Count `json:"count,omitempty"`
	// Absent: no selected object matches.
	Absent bool `json:"absent,omitempty"`
	// Vacuous: "allowed" lets an assertion pass even if no object was ever selected, so that match or cel was never
	// checked. Default: it fails. To require that there is no object, omit match and cel.
	Vacuous string `json:"vacuous,omitempty" fixed:"true"`
	// Within is the maximum time. Default: the step's timeout. Only for eventually.
	Within Duration `json:"within,omitempty"`
	// Stale: allowed accepts a status of an earlier generation. By default, if match or cel uses the status and the
	// kind has the field, eventually waits until status.observedGeneration equals metadata.generation, and ignores
	// conditions with an older observedGeneration. An assertion that names observedGeneration compares it itself. Only
	// for eventually.
	Stale string `json:"stale,omitempty" fixed:"true"`
	// For is how long always or never must hold from now on. Always and never need either for or throughout; eventually
	// supports neither.
	For Duration `json:"for,omitempty"`
	// Throughout names two steps: always or never must hold at every moment from the beginning of the first to the end
	// of the last, including transitions. The last is this step itself or an earlier one.
	Throughout []string `json:"throughout,omitempty" fixed:"true"`
}

// MayBeVacuous reports whether the assertion can pass without any selected object, so that its condition (match or cel)
// is never checked. With vacuous: allowed the scenario accepts this, and the result is false.
func (a *Assertion) MayBeVacuous() bool {
	conditional := len(a.Match) > 0 || a.CEL != ""
	return conditional && a.Vacuous != Allowed && (a.Absent || a.Count != nil && a.Count.Holds(0, 0))
}

// Allowed is the value of an assertion's Stale and Vacuous.
const Allowed = "allowed"

// Count is how many objects must match.
type Count struct {
	// Min is the minimum.
	Min *int `json:"min,omitempty"`
	// Max is the maximum.
	Max *int `json:"max,omitempty"`
	// All wants every selected object to match, and at least one.
	All bool `json:"-"`
}

// UnmarshalScalar reads a number or "all".
func (c *Count) UnmarshalScalar(text string) error {
	if text == "all" {
		c.All = true
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || strconv.Itoa(n) != text {
		return fmt.Errorf("count %q: want a number, \"all\", or {min: 1, max: 3}", text)
	}
	c.Min, c.Max = &n, &n
	return nil
}

// Holds reports whether n matching objects of total selected ones satisfy the count.
func (c Count) Holds(n, total int) bool {
	if c.All {
		return total > 0 && n == total
	}
	return (c.Min == nil || n >= *c.Min) && (c.Max == nil || n <= *c.Max)
}

func (v *validator) assertion(a *Assertion, n *yamltree.Node) {
	v.selection(a.Selection, n)
	if a.Count != nil && a.Absent {
		v.At(n.Key("absent"), "absent is count: 0", "give either count or absent")
	}
	v.partial(a.Match, n.At("match"))
	checkCount(v, a.Count, n.At("count"))
	v.OneOf(a.Vacuous, []string{Allowed}, n.At("vacuous"), "value of vacuous")
	if a.Vacuous != "" && len(a.Match) == 0 && a.CEL == "" {
		v.At(n.Key("vacuous"), "leave it out", "without match and cel there is no condition that could be vacuous")
	}
}

func checkCount(v *validator, c *Count, n *yamltree.Node) {
	if c == nil || c.All {
		return
	}
	switch {
	case c.Min == nil && c.Max == nil:
		v.At(n, "give min, max or both", "any number would match")
	case c.Min != nil && *c.Min < 0, c.Max != nil && *c.Max < 0:
		v.At(n, "", "a count cannot be negative")
	case c.Min != nil && c.Max != nil && *c.Min > *c.Max:
		v.At(n, "", "min %d is more than max %d", *c.Min, *c.Max)
	case c.Min != nil && *c.Min == 0 && c.Max == nil:
		v.At(n, "min: 1, or max: 0", "any number would match")
	}
}

func checkLasting(v *validator, s *Scenario, i int, a *Assertion, n *yamltree.Node) {
	verb := s.Spec.Steps[i].Verb()
	v.assertion(a, n)
	if n.Get("stale") != nil {
		v.At(n.Key("stale"), "only eventually waits for a current status", "%s accepts any status", verb)
	}
	switch {
	case n.Get("within") != nil:
		v.At(n.Key("within"), "say how long with for", "%s has no within: it must hold from the first moment", verb)
	case n.Get("for") != nil && n.Get("throughout") != nil:
		v.At(n.Key("for"), "for starts now, throughout is a past period", "give either for or throughout")
	case n.Get("throughout") != nil:
		checkThroughout(v, s, i, n)
	case n.Get("for") == nil:
		v.At(n, "", "%s needs for: how long it must hold; or throughout: [first step, last step]", verb)
	}
}

// nothing reports whether an assertion holds only if no object matches.
func nothing(a *Assertion) bool {
	return a.Absent || a.Count != nil && a.Count.Max != nil && *a.Count.Max == 0
}

// watch returns what an assertion looks at in the history.
func (a *Assertion) watch() Watch {
	return Watch{Selection: a.Selection, Match: a.Match, CEL: []string{a.CEL}}
}
