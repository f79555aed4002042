package main

import (
	"maps"

	"github.com/rehearse-dev/rehearse/suites/simulators"
)

// catalog is the simulators that rehearse can be: those of its suites.
func catalog() simulators.Catalog {
	all := simulators.Catalog{}
	for _, entry := range allSuites() {
		if entry.simulator.Exists() {
			all[entry.name] = entry.simulator
		}
		maps.Copy(all, entry.others)
	}
	return all
}
