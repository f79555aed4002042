package reports

import (
	"slices"
	"testing"
)

func TestVersionsAscend(t *testing.T) {
	run := &Run{Tracks: []*Track{
		{Path: []string{"1.34.10", "1.36.3 A=true", "1.34.10"}},
		{Path: []string{"1.34.9", "1.33.0"}},
		{Path: []string{""}},
		{Path: []string{"1.33.0-rc.10", "1.33.0-rc.9"}},
	}}
	want := []string{"1.33.0-rc.9", "1.33.0-rc.10", "1.33.0", "1.34.9", "1.34.10", "1.36.3"}
	if got := Versions(run); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// The version of a state is its first word, also if an operator follows.
func TestVersionOf(t *testing.T) {
	for _, state := range []string{"1.34.4", "1.34.4 A=true", "1.34.4, op v1"} {
		if got := VersionOf(state); got != "1.34.4" {
			t.Errorf("%s: got %q", state, got)
		}
	}
}
