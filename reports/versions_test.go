package reports

import (
	"slices"
	"testing"
)

func TestVersionsAscend(t *testing.T) {
	run := &Run{Tracks: []*Track{
		{Path: []string{"1.34.10", "1.36.3 A=true", "1.34.10"}}, {Path: []string{"1.33.13", "1.34.9"}}, {Path: []string{""}},
	}}
	if got, want := Versions(run), []string{"1.33.13", "1.34.9", "1.34.10", "1.36.3"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
