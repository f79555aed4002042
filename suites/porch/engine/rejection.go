package engine

import "fmt"

// Class of a rejection.
type Class int

// The classes of the specification.
const (
	// BadRequest is for a request that is wrong by itself, whatever exists: 400.
	BadRequest Class = iota
	// Conflict is for a request that conflicts with something that exists: 409.
	Conflict
	// Unprocessable is for a request that a business rule forbids: 422.
	Unprocessable
	// Forbidden and NotFound are what some variants answer instead.
	Forbidden
	NotFound
)

// Rejection is why a request is rejected.
type Rejection struct {
	Class Class
	// Field that is wrong, "" if it is not a single one.
	Field string
	// Text for the user.
	Text string
	// Immutable: an update changes what cannot change. It may also be accepted without this change.
	Immutable bool
}

// Error is the text.
func (r *Rejection) Error() string { return r.Text }

func reject(class Class, field, format string, args ...any) error {
	return &Rejection{Class: class, Field: field, Text: fmt.Sprintf(format, args...)}
}
