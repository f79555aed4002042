// Package builtin lists the suites and simulators that are compiled into this program.
package builtin

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/suites"
	"github.com/rehearse-dev/rehearse/suites/grove"
	"github.com/rehearse-dev/rehearse/suites/kai"
	"github.com/rehearse-dev/rehearse/suites/kubernetes"
	"github.com/rehearse-dev/rehearse/suites/leaderworkerset"
	"github.com/rehearse-dev/rehearse/suites/porch"
	"github.com/rehearse-dev/rehearse/suites/regressions"
	"github.com/rehearse-dev/rehearse/suites/scheduling"
	"github.com/rehearse-dev/rehearse/suites/simulators"
	"github.com/rehearse-dev/rehearse/suites/windows"
)

// Suites of a program.
type Suites []suites.Definition

// All returns the built-in suites. A new one needs one word here.
func All() Suites {
	return Suites{
		kubernetes.Definition(), scheduling.Definition(), leaderworkerset.Definition(), kai.Definition(), porch.Definition(),
		grove.Definition(), regressions.Definition(), windows.Definition(),
	}
}

// With returns the suites, and those of the program that contains this one.
func (s Suites) With(own ...suites.Definition) (Suites, error) {
	for _, definition := range own {
		if slices.Contains(s.Names(), definition.Name) {
			return nil, fmt.Errorf("add suite %s: there is already a suite of this name", definition.Name)
		}
		for _, name := range definition.Catalog().Names() {
			if s.IsSimulator(name) {
				return nil, fmt.Errorf("add suite %s: there is already a simulator %s: rename it or, if it is the same, leave "+
					"it out", definition.Name, name)
			}
		}
		s = append(s, definition)
	}
	return s, nil
}

// Simulators are the systems that rehearse can simulate: those of its suites.
func (s Suites) Simulators() simulators.Catalog {
	all := simulators.Catalog{}
	for _, definition := range s {
		maps.Copy(all, definition.Catalog())
	}
	return all
}

// IsSimulator reports whether rehearse can simulate the system.
func (s Suites) IsSimulator(name string) bool {
	_, is := s.Simulators()[name]
	return is
}

// Names of the suites.
func (s Suites) Names() []string {
	var names []string
	for _, definition := range s {
		names = append(names, definition.Name)
	}
	return names
}

// Find loads a suite by its name, or a suite in a folder.
func (s Suites) Find(name string) (suites.Suite, error) {
	if suites.IsFolder(name) {
		return suites.Open(name)
	}
	for _, definition := range s {
		if definition.Name == name {
			return definition.Load()
		}
	}
	return suites.Suite{}, fmt.Errorf("there is no suite %q; there are: %s, and those in folders, as in ./%s", name,
		strings.Join(s.Names(), ", "), name)
}
