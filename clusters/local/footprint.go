package local

import "github.com/rehearse-dev/rehearse/clusters"

// The maximal memory of a cluster's processes. A control plane of 1.36 with a simulator used 0.6 GB, half of it for
// kube-apiserver; the rest is for scenarios with more objects, and for systems larger than a simulator.
const (
	memoryOfControlPlane = 1000 << 20
	memoryOfFurther      = 600 << 20 // a control plane that has no etcd of its own
	memoryOfScheduler    = 100 << 20
	memoryOfSystem       = 150 << 20
	memoryOfNode         = 1 << 20
)

// Footprint is the maximum for a cluster in one of these states.
func (p *Provider) Footprint(path []clusters.State) clusters.Footprint {
	var most int64
	for _, state := range path {
		memory := int64(memoryOfControlPlane) + int64(state.NumberOfControlPlanes()-1)*memoryOfFurther +
			int64(len(state.Schedulers))*memoryOfScheduler +
			int64(len(state.Systems))*memoryOfSystem
		for _, group := range state.Nodes {
			memory += int64(len(group.Names())) * memoryOfNode
		}
		most = max(most, memory)
	}
	return clusters.Footprint{Memory: most}
}
