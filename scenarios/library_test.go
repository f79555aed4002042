package scenarios

import (
	"errors"
	"io/fs"
	"slices"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

// The program contains the same scenarios as the folder.
func TestLibraryIsTheFolder(t *testing.T) {
	names, err := Libraries()
	golden.Must(t, err)
	if !slices.Contains(names, "kubernetes") || slices.Contains(names, "testdata") {
		t.Fatalf("libraries %q", names)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			inside, err := Library(name)
			golden.Must(t, err)
			folder, err := Load([]string{name})
			golden.Must(t, err)
			if got, want := titlesOf(inside, "scenarios/"), titlesOf(folder, ""); !slices.Equal(got, want) || len(got) == 0 {
				t.Errorf("in the program:\n%q\nin the folder:\n%q", got, want)
			}
			for _, s := range inside.Scenarios {
				for _, state := range s.Path() {
					for _, system := range state.Systems {
						if system.Kind() != "simulated" {
							t.Errorf("%s: %s names files, which the program does not have", s.ClusterPosition, system)
						}
					}
				}
			}
		})
	}
}

// titlesOf lists the scenarios' positions and titles, without a prefix of the file names.
func titlesOf(set *Set, without string) []string {
	var titles []string
	for _, s := range set.Scenarios {
		titles = append(titles, s.Position.String()[len(without):]+" "+s.Title())
	}
	return titles
}

func TestNoSuchLibrary(t *testing.T) {
	for _, name := range []string{"nothing", "testdata", "../clusters", ""} {
		if _, err := Library(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Library(%q): %v", name, err)
		}
	}
}
