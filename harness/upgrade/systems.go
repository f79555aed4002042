package upgrade

import (
	"reflect"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
)

// systemName is a system in the name of a state: its name with its version, and "changed" if the definition differs but
// the version does not.
func systemName(system clusters.System, first clusters.State) string {
	before, _ := first.System(system.Name)
	switch {
	case before.Version != system.Version:
		return system.Name + " " + system.Version
	case reflect.DeepEqual(before, system):
		return strings.TrimSpace(system.Name + " " + system.Version)
	default:
		return strings.TrimSpace(system.Name+" "+system.Version) + " changed"
	}
}

// changing are the names of the systems that differ between the states of a path.
func changing(path []clusters.State) []string {
	var names []string
	for _, state := range path {
		for _, system := range state.Systems {
			before, _ := path[0].System(system.Name)
			if !slices.Contains(names, system.Name) && !reflect.DeepEqual(before, system) {
				names = append(names, system.Name)
			}
		}
	}
	return names
}
