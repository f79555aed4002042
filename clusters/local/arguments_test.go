package local

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// The command lines are a golden file, so that a review shows every change.
func TestArguments(t *testing.T) {
	l := layout{
		Dir:   "/CLUSTER",
		Ports: listening{Etcd: 1, EtcdPeer: 2, APIServer: 3, ControllerManager: 4, Scheduler: 5, DNS: 6, DNSReady: 7},
	}
	states := map[string]clusters.State{
		"plain": {Version: "1.34.4"},
		"three": {Version: "1.35.4", ControlPlanes: 3},
		"peers": {
			Version: "1.36.3", ControlPlanes: 2, FeatureGates: map[string]bool{"UnknownVersionInteroperabilityProxy": true},
		},
		"full": {
			Version: "1.36.3", FeatureGates: map[string]bool{"GenericWorkload": true, "A": false},
			RuntimeConfig: map[string]string{"scheduling.k8s.io/v1alpha2": "true", "api/beta": "false"},
			Components: map[clusters.Component]clusters.ComponentState{
				clusters.Scheduler: {
					FeatureGates: map[string]bool{"GangScheduling": true},
					Flags:        map[string]string{"v": "4", "leader-elect": "true"},
				},
			},
		},
	}
	for name, state := range states {
		var text strings.Builder
		l.Ports.Planes = nil
		for plane := 10; plane <= 10*state.ControlPlanes; plane += 10 {
			l.Ports.Planes = append(l.Ports.Planes, planePorts{plane, plane + 1, plane + 2})
		}
		for _, component := range l.onPlane(state, l.planes()-1) {
			text.WriteString(string(component) + "\n  " + strings.Join(arguments(component, l, state), "\n  ") + "\n")
		}
		golden.Check(t, filepath.Join("testdata", "arguments-"+name+".golden"), text.String())
	}
}
