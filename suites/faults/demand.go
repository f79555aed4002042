package faults

import (
	"context"
	"errors"
)

// T is a test; *testing.T implements it.
type T interface {
	Helper()
	Context() context.Context
	Logf(format string, args ...any)
	Error(args ...any)
	Fatal(args ...any)
}

// DemandLiberties runs the suite with some or all liberties of its simulator, each alone and all together, and fails
// the test if the suite fails.
func DemandLiberties(t T, o Options) {
	t.Helper()
	if o.Progress == nil {
		o.Progress = t.Logf
	}
	freedom, err := Liberties(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%s", freedom)
	if err := errors.Join(freedom.Err(), freedom.Unjudged()); err != nil {
		t.Error(err)
	}
}

// Demand runs the suite against its simulator's faults, logs the matrix, and fails the test if anything is wrong with
// it.
func Demand(t T, o Options) {
	t.Helper()
	if o.Progress == nil {
		o.Progress = t.Logf
	}
	matrix, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%s", matrix)
	if err := errors.Join(matrix.Err(), matrix.Unjudged()); err != nil {
		t.Error(err)
	}
}
