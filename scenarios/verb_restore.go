package scenarios

import (
	"github.com/rehearse-dev/rehearse/scenarios/internal/yamltree"
)

func restoreVerb() verb {
	return verb{
		name: "restore", changesCluster: true,
		about: func(s *Step) string { return s.Restore.Name },
		check: func(v *validator, c stepCheck) { checkRestore(v, c.scenario, c.i, c.node) },
	}
}

func checkRestore(v *validator, s *Scenario, i int, n *yamltree.Node) {
	name := s.Spec.Steps[i].Restore.Name
	var names []string
	for j := range i {
		if earlier := s.Spec.Steps[j].Snapshot; earlier != nil {
			names = append(names, earlier.Name)
		}
	}
	v.OneOf(name, names, n.At("name"), "earlier snapshot")
	v.present(name, n, "name")
}
