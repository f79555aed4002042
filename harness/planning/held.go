package planning

import (
	"fmt"
	"slices"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// controlPlanes are the states of the components of all control planes: by control plane, then by kind of component.
type controlPlanes [][]componentState

// componentState is the state that a component runs in. The key is equal for equal states.
type componentState struct {
	clusters.State
	key string
}

func controlPlanesIn(state clusters.State) controlPlanes {
	all := make(controlPlanes, state.NumberOfControlPlanes())
	for i := range all {
		all[i] = slices.Repeat([]componentState{stateOfComponents(state)}, len(clusters.ControlPlane()))
	}
	return all
}

// stateOfComponents is a state without the parts that no component of a control plane depends on.
func stateOfComponents(state clusters.State) componentState {
	components := state
	components.Systems, components.Nodes = nil, nil
	return componentState{state, pathKey([]clusters.State{components})}
}

// states are the different states that components run in. The last state is first, because most of them run in it.
func (c controlPlanes) states(last clusters.State) []clusters.State {
	all, known := []clusters.State{last}, map[string]bool{last.Emulated(): true}
	for _, plane := range c {
		for _, component := range plane {
			if version := component.Emulated(); !known[version] {
				known[version] = true
				all = append(all, component.State)
			}
		}
	}
	return all
}

// move makes a transition, as far as it goes, and returns how many rounds it has: one for each control plane that
// changes or, with the API servers first, for each component. It may count a round in which nothing changes, because
// it does not know on which settings a component depends.
func (c controlPlanes) move(transition *scenarios.Step, state clusters.State) int {
	to := stateOfComponents(state)
	rounds := c.rounds(to, transition.Transition.Roll())
	if roll := transition.Transition.Roll(); roll.UpTo > 0 {
		rounds = rounds[:min(max(roll.UpTo-roll.Most(len(c))+len(rounds), 0), len(rounds))]
	}
	if transition.Breaks() != nil {
		to.key = fmt.Sprintf("broken by the step in line %d", transition.Position.Line)
	}
	for _, round := range rounds {
		for _, component := range round {
			*component = to
		}
	}
	return len(rounds)
}

// rounds are the components that change together, in the order in which they change.
func (c controlPlanes) rounds(to componentState, roll clusters.Roll) [][]*componentState {
	var all [][]*componentState
	down := false
	add := func(components []componentState) {
		var round []*componentState
		for i := range components {
			if components[i].key != to.key {
				round = append(round, &components[i])
				down = down || older(to.Version, components[i].Version)
			}
		}
		if len(round) > 0 {
			all = append(all, round)
		}
	}
	for kind := range clusters.ControlPlane() {
		for _, plane := range c {
			if roll.APIServersFirst {
				add(plane[kind : kind+1])
			} else if kind == 0 {
				add(plane)
			}
		}
	}
	if down {
		slices.Reverse(all)
	}
	return all
}

func older(one, other string) bool {
	a, err1 := clusters.ParseVersion(one)
	b, err2 := clusters.ParseVersion(other)
	return err1 == nil && err2 == nil && a.Compare(b) < 0
}

// changesOthers reports whether a transition changes what is not part of a control plane.
func changesOthers(from, to clusters.State) bool {
	others := func(s clusters.State) string {
		return pathKey([]clusters.State{{Systems: s.Systems, Nodes: s.Nodes}})
	}
	return others(from) != others(to)
}
