package scenarios

func evictVerb() verb {
	return verb{
		name: "evict", write: true,
		about: func(s *Step) string { return "Pod/" + s.Evict.Name },
		target: func(s *Step) ObjectReference {
			return ObjectReference{APIVersion: "v1", Kind: "Pod", Name: s.Evict.Name, Namespace: s.Evict.Namespace}
		},
		check: func(v *validator, c stepCheck) { v.present(c.step.Evict.Name, c.node, "name") },
	}
}

// Evict evicts a pod.
type Evict struct {
	// Name of the pod.
	Name string `json:"name" filled:"true"`
	// Namespace of the pod. Default: the scenario's.
	Namespace string `json:"namespace,omitempty" filled:"true"`
}
