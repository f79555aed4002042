package faults

import "context"

// T is where a test reports; *testing.T is one.
type T interface {
	Helper()
	Context() context.Context
	Logf(format string, args ...any)
	Error(args ...any)
	Fatal(args ...any)
}

// Demand runs the suite against its simulator's faults, logs the matrix, and fails the test where anything is wrong
// with it.
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
	if err := matrix.Err(); err != nil {
		t.Error(err)
	}
}
