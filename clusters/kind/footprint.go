package kind

import (
	"github.com/rehearse-dev/rehearse/clusters"
)

// Estimates of the most memory that a node or a system takes. A node also runs a container runtime and a kubelet.
const (
	memoryOfControlPlane = 1600 << 20
	memoryOfWorker       = 700 << 20
	memoryOfSystem       = 150 << 20
)

// Footprint returns the most memory that a cluster takes in any of these states.
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
