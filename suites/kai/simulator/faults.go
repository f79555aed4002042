package simulator

import (
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/suites/simulators/fault"
)

// Faults lists the bugs that the simulator has on request.
func Faults() []fault.Fault {
	return slices.Concat(nameFaults(), hierarchyFaults(), webhookFaults(), definitionFaults())
}

// breaks returns the ids of requirements: "02 03" is KAI-K02 and KAI-K03.
func breaks(numbers string) []string {
	ids := strings.Fields(numbers)
	for i := range ids {
		ids[i] = "KAI-K" + ids[i]
	}
	return ids
}
