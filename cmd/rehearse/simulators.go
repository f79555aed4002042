package main

import "github.com/rehearse-dev/rehearse/suites/simulators"

// catalog is the simulators that rehearse can be: those of its suites.
func catalog() simulators.Catalog {
	all := simulators.Catalog{}
	for _, entry := range allSuites() {
		if entry.simulator.Run != nil {
			all[entry.name] = entry.simulator
		}
	}
	return all
}
