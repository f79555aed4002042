package scenarios

func restoreVerb() verb {
	return verb{
		name: "restore", changesCluster: true,
		about: func(s *Step) string { return s.Restore.Name },
		check: func(v *validator, c stepCheck) { v.restore(c.scenario, c.i, c.node) },
	}
}

func (v *validator) restore(s *Scenario, i int, n *node) {
	name := s.Spec.Steps[i].Restore.Name
	var names []string
	for j := range i {
		if earlier := s.Spec.Steps[j].Snapshot; earlier != nil {
			names = append(names, earlier.Name)
		}
	}
	v.oneOf(name, names, n.at("name"), "earlier snapshot")
	v.present(name, n, "name")
}
