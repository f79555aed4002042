package local

import "github.com/rehearse-dev/rehearse/clusters"

// What the processes of a cluster were seen to take when all scenarios of a folder ran on it, with a third to spare.
const (
	memoryOfControlPlane = 1000 << 20
	memoryOfScheduler    = 100 << 20
	memoryOfSystem       = 150 << 20
	memoryOfNode         = 1 << 20
)

// Footprint is the most that a cluster in one of these states takes.
func (p *Provider) Footprint(path []clusters.State) clusters.Footprint {
	var most int64
	for _, state := range path {
		memory := int64(memoryOfControlPlane) + int64(len(state.Schedulers))*memoryOfScheduler + int64(len(state.Systems))*memoryOfSystem
		for _, group := range state.Nodes {
			memory += int64(len(group.Names())) * memoryOfNode
		}
		most = max(most, memory)
	}
	return clusters.Footprint{Memory: most}
}
