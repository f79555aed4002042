package growth

import (
	"fmt"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/rehearse-dev/rehearse/harness/explore/fields"
)

// Role of an object: why it was made.
type Role string

// The roles.
const (
	// Minimal objects have what their kind demands, and no more.
	Minimal Role = "minimal"
	// Whole objects have as many fields as one object can.
	Whole Role = "whole"
	// Alone objects have one field besides what is demanded.
	Alone Role = "alone"
	// Choice objects have one of the values that a field can choose from.
	Choice Role = "choice"
	// Border objects have a value at the border of what a format or a number allows.
	Border Role = "border"
)

// Specimen is an object that was tried. Its name is a placeholder.
type Specimen struct {
	Kind *fields.Kind
	Role Role
	// Field that it was made for, and the value of it for choices and borders.
	Field string
	Value string
	// Owner of the field.
	Owner string
	// Body is the object as JSON.
	Body []byte
}

// HasState says whether the object has a status, which is written by itself.
func (s *Specimen) HasState() bool { return s.Kind.State != nil && s.Object()["status"] != nil }

// ID tells it from all others, at every state.
func (s *Specimen) ID() string {
	return fmt.Sprintf("%s %s %s %s", s.Kind.ID(), s.Role, s.Field, s.Value)
}

// Object is a copy of the object.
func (s *Specimen) Object() map[string]any {
	var object map[string]any
	_ = utiljson.Unmarshal(s.Body, &object) // it was written from one
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

// Text is an object as JSON.
func Text(object map[string]any) []byte { return []byte(textOf(object)) }
