package kind

import (
	"github.com/rehearse-dev/rehearse/clusters"
)

// Estimates of what the nodes of a cluster take at most, with what is in them: a node has a container runtime and a
// kubelet besides the components.
const (
	memoryOfControlPlane = 1600 << 20
	memoryOfWorker       = 700 << 20
	memoryOfSystem       = 150 << 20
)

// Footprint is the most that a cluster in one of these states takes.
func (p *Provider) Footprint(path []clusters.State) clusters.Footprint {
	var most int64
	for _, state := range path {
		memory := int64(state.NumberOfControlPlanes())*memoryOfControlPlane + int64(len(state.Systems))*memoryOfSystem
		for _, group := range state.Nodes {
			memory += int64(len(group.Names())) * memoryOfWorker
		}
		most = max(most, memory)
	}
	return clusters.Footprint{Memory: most}
}
