package scenarios

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/rehearse-dev/rehearse/scenarios/internal/words"
	"github.com/rehearse-dev/rehearse/scenarios/internal/yamltree"
)

func snapshotVerb() verb {
	return verb{
		name: "snapshot", changesCluster: true,
		reads: onlyReads,
		about: func(s *Step) string { return s.Snapshot.Name },
		check: func(v *validator, c stepCheck) { checkSnapshot(v, c.scenario, c.i, c.node) },
	}
}

// SnapshotReference names a snapshot.
type SnapshotReference struct {
	// Name of the snapshot, in this scenario.
	Name string `json:"name" fixed:"true"`
}

func checkSnapshot(v *validator, s *Scenario, i int, n *yamltree.Node) {
	name := s.Spec.Steps[i].Snapshot.Name
	for _, message := range validation.IsDNS1123Label(name) {
		message, _, _ = strings.Cut(message, " (e.g.")
		v.At(n.At("name"), "", "the snapshot's name %q: %s", words.Short(name), message)
	}
	for j := range i {
		if earlier := s.Spec.Steps[j].Snapshot; earlier != nil && earlier.Name == name {
			v.At(n.At("name"), "", "the snapshot %q already exists, from the step in line %d", words.Short(name),
				s.Spec.Steps[j].Position.Line)
		}
	}
}
