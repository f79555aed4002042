package main

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

// allSuites lists the suites. A new one is one word here.
func allSuites() []suites.Definition {
	return []suites.Definition{
		kubernetes.Definition(), scheduling.Definition(), leaderworkerset.Definition(), kai.Definition(), porch.Definition(),
		grove.Definition(),
		regressions.Definition(), windows.Definition(),
	}
}

// catalog is the simulators that rehearse can be: those of its suites.
func catalog() simulators.Catalog {
	all := simulators.Catalog{}
	for _, definition := range allSuites() {
		maps.Copy(all, definition.Catalog())
	}
	return all
}

// isSimulator says whether rehearse can be the system.
func isSimulator(name string) bool {
	_, is := catalog()[name]
	return is
}

func suiteNames() []string {
	var names []string
	for _, definition := range allSuites() {
		names = append(names, definition.Name)
	}
	return names
}

// findSuite loads a suite by its name, with the scenarios of the library, or one that is in a folder.
func findSuite(name string) (suites.Suite, error) {
	if suites.IsFolder(name) {
		return suites.Open(name)
	}
	for _, definition := range allSuites() {
		if definition.Name == name {
			return loadSuite(definition)
		}
	}
	return suites.Suite{}, fmt.Errorf("there is no suite %q; there are: %s, and those in folders, as in ./%s", name,
		strings.Join(suiteNames(), ", "), name)
}

func loadSuite(definition suites.Definition) (suites.Suite, error) {
	set, err := scenarios.Library(definition.Name)
	if err != nil {
		return suites.Suite{}, fmt.Errorf("suite %s: %w", definition.Name, err)
	}
	return definition.Suite(set.Scenarios)
}
