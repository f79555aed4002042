package main

import (
	"fmt"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness"
)

// clustersUsage is that of a flag of every command that runs plans.
const clustersUsage = "how many clusters there are at once (default: one for each core, as long as they fit into " +
	"the free memory)"

// atOnce is how many clusters of a plan there are at once: as many as the user asks for or, by default, as there is
// room for.
func atOnce(plan *harness.Plan, asked int, progress clusters.Progress) (int, error) {
	if most := plan.MostAtOnce(); most > 0 && asked > most {
		return 0, fmt.Errorf("--clusters %d: the %s provider has %d; leave the flag out", asked, plan.Provider.Name(), most)
	}
	if asked < 0 {
		return 0, fmt.Errorf("--clusters %d: want a positive number", asked)
	}
	if asked > 0 {
		return asked, nil
	}
	there, err := harness.ThisMachine()
	if err != nil {
		progress("one cluster at a time: %v", err)
		return 1, nil
	}
	return plan.AtOnce(there), nil
}
