package growth

import (
	"fmt"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/rehearse-dev/rehearse/harness/explore/fields"
)

// Role says why an object was generated.
type Role string

// The roles.
const (
	// Minimal objects have the required fields only.
	Minimal Role = "minimal"
	// Whole objects have as many fields as possible.
	Whole Role = "whole"
	// Alone objects have one field besides those that it requires.
	Alone Role = "alone"
	// Choice objects have one value of an enumeration.
	Choice Role = "choice"
	// Border objects have a boundary value of a format or number.
	Border Role = "border"
)

// Specimen is an object that was tried. Its name is a placeholder.
type Specimen struct {
	Kind *fields.Kind
	Role Role
	// Field is the field that it was generated for. Value is the field's value, for choices and boundary values.
	Field string
	Value string
	// Owner of the field (fields.Field.Owner).
	Owner string
	// Body is the object as JSON.
	Body []byte
}

// HasState reports whether the object has a status, which is written separately.
func (s *Specimen) HasState() bool { return s.Kind.State != nil && s.Object()["status"] != nil }

// ID identifies the object at all states.
func (s *Specimen) ID() string {
	return fmt.Sprintf("%s %s %s %s", s.Kind.ID(), s.Role, s.Field, s.Value)
}

// Object is a copy of the object.
func (s *Specimen) Object() map[string]any {
	var object map[string]any
	_ = utiljson.Unmarshal(s.Body, &object) // cannot fail: Body is an encoded object
	return object
}

func (g *grower) specimen(role Role, f *fields.Field, value any, object map[string]any) *Specimen {
	s := &Specimen{Kind: g.kind, Role: role, Body: []byte(textOf(object))}
	if f != nil {
		s.Field, s.Owner = f.Path.String(), f.Owner
	}
	if value != nil {
		s.Value = textOf(value)
	}
	return s
}

// Text encodes an object as JSON.
func Text(object map[string]any) []byte { return []byte(textOf(object)) }
