package settings

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"
	"sigs.k8s.io/yaml"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

func two() *int { n := 2; return &n }

// states returns states, named after what they set.
func states(version string) map[string]clusters.State {
	return map[string]clusters.State{
		"plain": {Version: version},
		"gates": {
			Version: version, FeatureGates: map[string]bool{
				"B": false,
				"A": true,
			}, RuntimeConfig: map[string]string{"scheduling.k8s.io/v1alpha1": "true"},
		},
		"three": {Version: version, ControlPlanes: 3, Nodes: []clusters.NodeGroup{{}}},
		"everything": {
			Version: version, FeatureGates: map[string]bool{"A": true},
			Components: map[clusters.Component]clusters.ComponentState{
				clusters.APIServer: {
					FeatureGates: map[string]bool{"A": false, "OnlyHere": true},
					Flags:        map[string]string{"v": "4"},
				},
				clusters.Scheduler: {Flags: map[string]string{"leader-elect": "true"}},
				clusters.Kubelet:   {FeatureGates: map[string]bool{"K": true}, Flags: map[string]string{"max-pods": "20"}},
				clusters.KubeProxy: {FeatureGates: map[string]bool{"P": false}},
			},
			Nodes: []clusters.NodeGroup{
				{Count: two(), Labels: map[string]string{"zone": "a"}},
				{Name: "only", Taints: []clusters.Taint{{Key: "only", Value: "for", Effect: "NoSchedule"}}},
			},
		},
	}
}

// The configuration is the same in all versions, but for the image.
func TestConfig(t *testing.T) {
	for _, version := range []string{"1.33.13", "1.34.4", "1.35.4", "1.36.3", "1.37.2"} {
		for name, state := range states(version) {
			t.Run(version+"/"+name, func(t *testing.T) {
				got, err := Config(state, "example.com/node:v"+version, "/folder/node")
				golden.Must(t, err)
				var decoded v1alpha4.Cluster
				if err := yaml.UnmarshalStrict(got, &decoded); err != nil {
					t.Errorf("kind would not take it: %v", err)
				}
				golden.Check(t, filepath.Join("testdata", "config", name+".yaml"),
					strings.ReplaceAll(string(got), version, "VERSION"))
			})
		}
	}
}

// Several schedulers, or several controller managers, elect a leader.
func TestLeaderElection(t *testing.T) {
	for planes, elect := range map[int]string{0: "false", 1: "false", 3: "true"} {
		state := clusters.State{ControlPlanes: planes}
		config, err := SchedulerConfig(state)
		if err != nil || !strings.Contains(config, "leaderElect: "+elect) {
			t.Errorf("%d control planes: %v\n%s", planes, err, config)
		}
		state.Components = map[clusters.Component]clusters.ComponentState{clusters.ControllerManager: {Flags: map[string]string{"leader-elect": "x"}}}
		if before := ReplacedAtCreation(clusters.ControllerManager, state)["leader-elect"]; before == nil ||
			*before != elect {
			t.Errorf("%d control planes: leader-elect goes back to %v, want %s", planes, before, elect)
		}
		if _, given := flagsOf(clusters.State{ControlPlanes: planes},
			clusters.Scheduler)["leader-elect"]; given != (elect == "false") {
			t.Errorf("%d control planes: kubeadm's own --leader-elect is replaced: %t", planes, given)
		}
	}
}

// A flag that was set at the creation goes back to what kubeadm would have set. testdata/kubeadm has the flags that
// kubeadm init writes for the configuration that kind gives it.
func TestFlagsOfKubeadm(t *testing.T) {
	varying := []string{"advertise-address", "cluster-name"} // by node and by cluster
	for _, component := range clusters.ControlPlane() {
		for line := range strings.Lines(golden.Read(t, filepath.Join("testdata", "kubeadm", string(component)+".flags"))) {
			name, want, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "--"), "=")
			if slices.Contains(varying, name) {
				continue
			}
			state := clusters.State{ControlPlanes: 3, Components: map[clusters.Component]clusters.ComponentState{
				component: {Flags: map[string]string{name: "x"}},
			}}
			if got := ReplacedAtCreation(component, state)[name]; got == nil || *got != want {
				t.Errorf("%s: --%s goes back to %v, want %q", component, name, got, want)
			}
		}
	}
}

func TestNodeFiles(t *testing.T) {
	dir := t.TempDir()
	state := clusters.State{SchedulerProfiles: []map[string]any{{"schedulerName": "binpack"}}}
	golden.Must(t, WriteNodeFiles(dir, state))
	for _, name := range []string{
		"scheduler/scheduler.yaml", "patches/kube-apiserver+strategic.yaml",
		"patches/kube-scheduler+strategic.yaml", "patches/corednsdeployment+strategic.yaml",
	} {
		golden.Check(t, filepath.Join("testdata", "node", name), golden.Read(t, filepath.Join(dir, name)))
	}
}
