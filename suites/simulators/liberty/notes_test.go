package liberty

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

func TestNotes(t *testing.T) {
	notes := Notes(filepath.Join(t.TempDir(), "taken"))
	missing := func(all ...string) []string {
		t.Helper()
		missing, err := notes.Missing(all)
		golden.Must(t, err)
		return missing
	}
	if got := missing("late", "warnings"); !slices.Equal(got, []string{"late", "warnings"}) {
		t.Errorf("before the first note, %q are missing", got)
	}
	golden.Must(t, notes.Add("warnings", []string{"warnings=3", "late=1"}))
	golden.Must(t, notes.Add("late", []string{"late=7"}))
	if got := missing("late", "warnings"); !slices.Equal(got, []string{"late"}) {
		t.Errorf("together, %q are missing", got)
	}
	if got := missing("late"); len(got) > 0 {
		t.Errorf("alone, %q are missing", got)
	}
	if got := missing("warnings"); !slices.Equal(got, []string{"warnings"}) {
		t.Errorf("alone, %q are missing", got)
	}
}

// A liberty is noted when it takes effect, not when it is asked about, and only once.
func TestTakesIsNotedOnce(t *testing.T) {
	var taken []string
	s := set(t, Warnings, Late).Noting(func(name string) { taken = append(taken, name) })
	if !s.Has(Late) || len(taken) > 0 {
		t.Errorf("after a question, %q are noted", taken)
	}
	for range 2 {
		if !s.Takes(Warnings) || s.Takes(Twice) {
			t.Error("it takes other liberties than it has")
		}
	}
	if !slices.Equal(taken, []string{Warnings}) {
		t.Errorf("%q are noted", taken)
	}
	if !set(t, Late).Takes(Late) {
		t.Error("without a receiver of notes, it does not take its liberty")
	}
}
