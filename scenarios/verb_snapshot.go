package scenarios

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

func snapshotVerb() verb {
	return verb{
		name: "snapshot", changesCluster: true,
		about: func(s *Step) string { return s.Snapshot.Name },
		check: func(v *validator, c stepCheck) { v.snapshot(c.scenario, c.i, c.node) },
	}
}

// SnapshotReference names a snapshot.
type SnapshotReference struct {
	// Name of the snapshot, in this scenario.
	Name string `json:"name" fixed:"true"`
}

func (v *validator) snapshot(s *Scenario, i int, n *node) {
	name := s.Spec.Steps[i].Snapshot.Name
	for _, message := range validation.IsDNS1123Label(name) {
		message, _, _ = strings.Cut(message, " (e.g.")
		v.at(n.at("name"), "", "the snapshot's name %q: %s", short(name), message)
	}
	for j := range i {
		if earlier := s.Spec.Steps[j].Snapshot; earlier != nil && earlier.Name == name {
			v.at(n.at("name"), "", "there is a snapshot %q already, of the step in line %d", short(name),
				s.Spec.Steps[j].Position.Line)
		}
	}
}
