package engine

import "fmt"

// Class of a rejection.
type Class int

// The classes that the specification knows.
const (
	// BadRequest is for what can be seen to be wrong without looking at anything else: 400.
	BadRequest Class = iota
	// Conflict is for what stands against something that exists: 409.
	Conflict
	// Unprocessable is for what a business rule forbids: 422.
	Unprocessable
	// Forbidden and NotFound are what some variants answer instead.
	Forbidden
	NotFound
)

// Rejection is why something is not done.
type Rejection struct {
	Class Class
	// Field that is to blame, "" when it is no single one.
	Field string
	// Text for the user.
	Text string
}

// Error is the text.
func (r *Rejection) Error() string { return r.Text }

func reject(class Class, field, format string, args ...any) error {
	return &Rejection{Class: class, Field: field, Text: fmt.Sprintf(format, args...)}
}
