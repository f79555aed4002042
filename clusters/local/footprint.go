package local

import "github.com/rehearse-dev/rehearse/clusters"

// What the processes of a cluster take at most. A control plane of 1.36 with a simulator was seen to take 0.6 GB, of
// which kube-apiserver has half; the rest is for scenarios that make more objects, and for systems that are larger
// than a simulator.
const (
	memoryOfControlPlane = 1000 << 20
	memoryOfFurther      = 600 << 20 // a control plane that has no etcd of its own
	memoryOfScheduler    = 100 << 20
	memoryOfSystem       = 150 << 20
	memoryOfNode         = 1 << 20
)

// Footprint is the most that a cluster in one of these states takes.
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
