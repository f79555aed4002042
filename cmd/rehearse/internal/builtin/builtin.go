// Package builtin lists the suites and simulators that are compiled into this program.
package builtin

import (
	"fmt"
	"maps"
	"strings"

	"github.com/rehearse-dev/rehearse/scenarios"
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

// Suites lists the suites. A new one needs one word here.
func Suites() []suites.Definition {
	return []suites.Definition{
		kubernetes.Definition(), scheduling.Definition(), leaderworkerset.Definition(), kai.Definition(), porch.Definition(),
		grove.Definition(),
		regressions.Definition(), windows.Definition(),
	}
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

// Find loads a suite by its name, with the scenarios of the library, or a suite in a folder.
func Find(name string) (suites.Suite, error) {
	if suites.IsFolder(name) {
		return suites.Open(name)
	}
	for _, definition := range Suites() {
		if definition.Name == name {
			return Load(definition)
		}
	}
	return suites.Suite{}, fmt.Errorf("there is no suite %q; there are: %s, and those in folders, as in ./%s", name,
		strings.Join(Names(), ", "), name)
}

// Load a suite with the scenarios of the library.
func Load(definition suites.Definition) (suites.Suite, error) {
	set, err := scenarios.Library(definition.Name)
	if err != nil {
		return suites.Suite{}, fmt.Errorf("suite %s: %w", definition.Name, err)
	}
	return definition.Suite(set.Scenarios)
}
