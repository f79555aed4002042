package explore

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/features"
)

// Gate is an explored feature gate. On and Off are the states in which it is on and off, together with the gates that
// must change with it.
type Gate struct {
	Name    string
	On, Off clusters.State
	// Flipped is the state in which only kube-apiserver has the opposite of the gate's default. That is enough for
	// verdicts, and no other component needs a restart.
	Flipped clusters.State
	// Default is the gate's default value.
	Default bool
	// Others are the gates that are flipped together with it: those that it needs, or those that need it.
	Others []string
}

// everyAPI is the key of the runtime config that enables all APIs. Without it, a gate of an API that is off by default
// would have no effect.
const everyAPI = "api/all"

// GatesOf returns the named gates of a state. The name "all" selects all gates that kube-apiserver knows and that can
// be set. A gate is turned on together with the gates that it needs, and turned off together with the gates that need
// it.
func GatesOf(list *features.List, state clusters.State, names []string) ([]Gate, error) {
	all := len(names) == 1 && names[0] == "all"
	if all {
		names = nil
		_, asked := list.Programs[clusters.APIServer] // without kube-apiserver's list, any gate may be its own
		for _, d := range list.DescribeAll() {
			_, own := d.Components[clusters.APIServer]
			if (own || !asked) && !d.Spec.Locked && !strings.HasPrefix(d.Gate, "All") {
				names = append(names, d.Gate)
			}
		}
	}
	var gates []Gate
	for _, name := range names {
		d := list.Describe(name)
		switch {
		case !d.Known && features.Nearest(name, list) != "":
			return nil, fmt.Errorf("--gates %s: Kubernetes %s has no such gate; did you mean %s?", name, list.Version,
				features.Nearest(name, list))
		case !d.Known:
			return nil, fmt.Errorf("--gates %s: Kubernetes %s has no such gate; rehearse gates --version %s lists them", name,
				list.Version, list.Version)
		case d.Spec.Locked:
			return nil, fmt.Errorf("--gates %s: it is locked in Kubernetes %s: leave it out, or explore an older version", name,
				list.Version)
		}
		on, off := append(list.Dependencies(name), name), append(dependents(list, name), name)
		gate := Gate{
			Name: name, Default: d.Spec.Default, On: with(list, state, true, on...), Off: with(list, state, false, off...),
			Flipped: judging(list, state, true, on...), Others: on[:len(on)-1],
		}
		if gate.Default {
			gate.Flipped, gate.Others = judging(list, state, false, off...), off[:len(off)-1]
		}
		gates = append(gates, gate)
	}
	// A gate comes after the gates that are flipped with it, so that their own effects are already known.
	slices.SortStableFunc(gates, func(a, b Gate) int { return len(a.Others) - len(b.Others) })
	return gates, nil
}

// dependents returns the gates that need a gate and that can be turned off.
func dependents(list *features.List, name string) []string {
	return list.Dependents(name, func(d features.Description) bool { return !d.Spec.Locked })
}

// with returns the state with the gates on or off, and with all APIs served.
func with(list *features.List, state clusters.State, value bool, gates ...string) clusters.State {
	every := "true"
	change := clusters.Change{
		FeatureGates: map[string]*bool{}, RuntimeConfig: map[string]*string{everyAPI: &every},
		Components: map[clusters.Component]*clusters.ComponentChange{},
	}
	for _, gate := range gates {
		knowing := list.Describe(gate).Components
		if len(knowing) == 0 || len(knowing) == len(clusters.ControlPlane()) {
			change.FeatureGates[gate] = &value
			continue
		}
		for component := range knowing { // other components do not start with an unknown gate
			if change.Components[component] == nil {
				change.Components[component] = &clusters.ComponentChange{FeatureGates: map[string]*bool{}}
			}
			change.Components[component].FeatureGates[gate] = &value
		}
	}
	return state.With(change)
}

// judging returns the state in which only kube-apiserver has the gates on or off. It leaves out gates that
// kube-apiserver does not know.
func judging(list *features.List, state clusters.State, value bool, gates ...string) clusters.State {
	own := &clusters.ComponentChange{FeatureGates: map[string]*bool{}}
	for _, gate := range gates {
		components := list.Describe(gate).Components
		if _, knows := components[clusters.APIServer]; knows || len(components) == 0 {
			own.FeatureGates[gate] = &value
		}
	}
	every := "true"
	return state.With(clusters.Change{
		RuntimeConfig: map[string]*string{everyAPI: &every},
		Components:    map[clusters.Component]*clusters.ComponentChange{clusters.APIServer: own},
	})
}

// PathOf returns the path for gates: on, off, and on again. The gates that they need are turned on with them. The gates
// that need them are turned off with them.
func PathOf(list *features.List, state clusters.State, gates []Gate) []clusters.State {
	if len(gates) == 1 {
		return []clusters.State{gates[0].On, gates[0].Off, gates[0].On}
	}
	var on, off []string
	for _, gate := range gates {
		on = append(append(on, list.Dependencies(gate.Name)...), gate.Name)
		off = append(append(off, dependents(list, gate.Name)...), gate.Name)
	}
	high, low := with(list, state, true, on...), with(list, state, false, off...)
	return []clusters.State{high, low, high}
}

// gateOf returns the explored gate of that name; nil if there is none.
func (e Options) gateOf(name string) *Gate {
	for i := range e.Gates {
		if e.Gates[i].Name == name {
			return &e.Gates[i]
		}
	}
	return nil
}
