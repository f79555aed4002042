package scenarios

import (
	"github.com/rehearse-dev/rehearse/scenarios/internal/yamltree"
)

func execVerb() verb {
	return verb{
		name: "exec", takesTime: true, ownExpect: true,
		about: func(s *Step) string {
			if len(s.Exec.Run) == 0 {
				return ""
			}
			return s.Exec.Run[0] + " in " + s.Exec.Pod
		},
		check:   func(v *validator, c stepCheck) { checkExec(v, c.step.Exec, c.node) },
		results: []string{"stdout", "stderr"},
		within:  func(s *Step) *Duration { return &copied(&s.Exec).Within },
	}
}

// Exec runs a program in a container of a pod. The cluster's nodes must be real: a pod on a simulated node runs
// nothing.
type Exec struct {
	// Pod is the name of the pod.
	Pod string `json:"pod" filled:"true"`
	// Namespace of the pod. Default: the scenario's.
	Namespace string `json:"namespace,omitempty" filled:"true"`
	// Container of the pod. Default: the only or the default container.
	Container string `json:"container,omitempty" filled:"true"`
	// Run is the program and its arguments; no shell interprets them.
	Run []string `json:"run"`
	// Stdin is the program's standard input.
	Stdin string `json:"stdin,omitempty"`
	// Shared states that the program changes nothing outside of the scenario's namespace, so that other scenarios can
	// share the cluster. Default: false.
	Shared bool `json:"shared,omitempty"`
	// Within is the time in which the program is repeated until it meets the expectation. Default: run once. A program
	// that could not be started is always retried.
	Within Duration `json:"within,omitempty"`
	// Expect is the expected result of the program. Default: exit code 0.
	Expect *CommandExpect `json:"expect,omitempty"`
}

func checkExec(v *validator, e *Exec, n *yamltree.Node) {
	v.present(e.Pod, n, "pod")
	v.notEmpty(n, "namespace", "container")
	checkProgram(v, e.Run, e.Expect, n, "such as run: [nslookup, web]")
}
