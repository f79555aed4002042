package golden

import (
	"errors"
	"fmt"
	"testing"
)

// failures counts the reported failures.
type failures struct {
	testing.TB
	n int
}

func (f *failures) Helper()               {}
func (f *failures) Errorf(string, ...any) { f.n++ }

func TestError(t *testing.T) {
	for i, c := range []struct {
		err   error
		texts []string
		want  int
	}{
		{nil, nil, 0},
		{nil, []string{""}, 0},
		{errors.New("a b"), nil, 1},
		{errors.New("a b"), []string{""}, 1},
		{errors.New("a b"), []string{"a", "b"}, 0},
		{fmt.Errorf("c: %w", errors.New("a b")), []string{"a", "z", "c"}, 1},
		{nil, []string{"a"}, 1},
	} {
		f := &failures{TB: t}
		if Error(f, c.err, c.texts...); f.n != c.want {
			t.Errorf("case %d: %d failures, want %d", i, f.n, c.want)
		}
	}
}
