package clusters

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"
)

// NodeLabel marks the nodes that a state asked for, so that the user's own nodes are not changed.
const NodeLabel = "rehearse.dev/node"

// The default StorageClass of local clusters. It has no real storage.
const (
	DefaultClass         = "standard"
	SimulatedProvisioner = "rehearse.dev/simulated"
)

// CheckNodes rejects node groups that no provider could create.
func CheckNodes(groups []NodeGroup) error {
	var errs []error
	seen := map[string]bool{}
	for _, group := range groups {
		if n := group.Number(); n < 0 {
			errs = append(errs, fmt.Errorf("nodes: count %d: want 0 or more", n))
		}
		for _, name := range SortedKeys(group.Capacity) {
			if _, err := resource.ParseQuantity(group.Capacity[name]); err != nil {
				errs = append(errs, fmt.Errorf("nodes: capacity %s: %q: %w", name, group.Capacity[name], err))
			}
		}
		if prefix := group.Prefix(); seen[prefix] {
			errs = append(errs, fmt.Errorf("nodes: two groups are named %q; give each a name of its own", prefix))
		} else {
			seen[prefix] = true
		}
	}
	return errors.Join(errs...)
}

// Number of nodes in the group.
func (g NodeGroup) Number() int {
	if g.Count == nil {
		return 1
	}
	return *g.Count
}

// Prefix of the names of the group's nodes.
func (g NodeGroup) Prefix() string {
	if g.Name == "" {
		return "node"
	}
	return g.Name
}

// Names of the group's nodes: node-0, node-1, ...
func (g NodeGroup) Names() []string {
	names := make([]string, g.Number())
	for i := range names {
		names[i] = fmt.Sprintf("%s-%d", g.Prefix(), i)
	}
	return names
}
