package simulator

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Fault is a bug that the simulator has on request.
type Fault struct {
	// Name by which it is asked for.
	Name string
	// Sentence that says what is wrong.
	Sentence string
	// Breaks lists the requirements that are not met.
	Breaks []string
}

// faultSet is the faults that an implementation has, by name.
type faultSet map[string]bool

func faultsNamed(names []string) (faultSet, error) {
	known := map[string]bool{}
	for _, fault := range Faults() {
		known[fault.Name] = true
	}
	set := faultSet{}
	for _, name := range names {
		if !known[name] {
			return nil, fmt.Errorf("no fault is called %q; the faults: %s", name, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
		set[name] = true
	}
	return set, nil
}

// Faults lists the bugs that the simulator can have.
func Faults() []Fault {
	return slices.Concat(nameFaults(), hierarchyFaults(), webhookFaults(), definitionFaults())
}

// breaks makes the ids of requirements of their numbers: "02 03" is KAI-K02 and KAI-K03.
func breaks(numbers string) []string {
	ids := strings.Fields(numbers)
	for i := range ids {
		ids[i] = "KAI-K" + ids[i]
	}
	return ids
}
