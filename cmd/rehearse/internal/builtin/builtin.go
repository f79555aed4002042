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

// added are the suites of the program that contains this one.
var added []suites.Definition

// Add adds suites. It is called once, before everything else.
func Add(own ...suites.Definition) error {
	for _, definition := range own {
		if slices.Contains(Names(), definition.Name) {
			return fmt.Errorf("add suite %s: there is already a suite of this name", definition.Name)
		}
		for _, name := range definition.Catalog().Names() {
			if IsSimulator(name) {
				return fmt.Errorf("add suite %s: there is already a simulator %s: rename it or, if it is the same, leave it out",
					definition.Name, name)
			}
		}
		added = append(added, definition)
	}
	return nil
}

// Suites lists the suites. A new one needs one word here.
func Suites() []suites.Definition {
	return append([]suites.Definition{
		kubernetes.Definition(), scheduling.Definition(), leaderworkerset.Definition(), kai.Definition(), porch.Definition(),
		grove.Definition(),
		regressions.Definition(), windows.Definition(),
	}, added...)
}

// Simulators are the systems that rehearse can simulate: those of its suites.
func Simulators() simulators.Catalog {
	all := simulators.Catalog{}
	for _, definition := range Suites() {
		maps.Copy(all, definition.Catalog())
	}
	return all
}

// IsSimulator reports whether rehearse can simulate the system.
func IsSimulator(name string) bool {
	_, is := Simulators()[name]
	return is
}

// Names of the suites.
func Names() []string {
	var names []string
	for _, definition := range Suites() {
		names = append(names, definition.Name)
	}
	return names
}

// Find loads a suite by its name, or a suite in a folder.
func Find(name string) (suites.Suite, error) {
	if suites.IsFolder(name) {
		return suites.Open(name)
	}
	for _, definition := range Suites() {
		if definition.Name == name {
			return definition.Load()
		}
	}
	return suites.Suite{}, fmt.Errorf("there is no suite %q; there are: %s, and those in folders, as in ./%s", name,
		strings.Join(Names(), ", "), name)
}
