package kind

import (
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

func TestCheckStep(t *testing.T) {
	one := []clusters.NodeGroup{{}}
	for _, c := range []struct {
		name     string
		from, to clusters.State
		want     string
	}{
		{"down", clusters.State{Version: "1.35.4"}, clusters.State{Version: "1.34.4"}, ""},
		{"up", clusters.State{Version: "1.33.13"}, clusters.State{Version: "1.34.4"}, ""},
		// The cluster keeps its etcd.
		{"down to a version of etcd 3.5", clusters.State{Version: "1.34.4"}, clusters.State{Version: "1.33.13"}, ""},
		{
			"nodes",
			clusters.State{Version: "1.34.4"},
			clusters.State{Version: "1.34.4", Nodes: one},
			"the nodes of a running kind cluster cannot change",
		},
		{
			"control planes",
			clusters.State{Version: "1.34.4"},
			clusters.State{Version: "1.34.4", ControlPlanes: 3},
			"cannot change from 1 to 3",
		},
		{
			"the same control plane",
			clusters.State{Version: "1.34.4"},
			clusters.State{Version: "1.34.4", ControlPlanes: 1},
			"",
		},
		{"the same nodes", clusters.State{Version: "1.34.4", Nodes: one}, clusters.State{Version: "1.34.4", Nodes: one}, ""},
	} {
		t.Run(c.name, func(t *testing.T) { golden.Error(t, checkStep(c.from, c.to), c.want) })
	}
}

func TestCheckState(t *testing.T) {
	components := func(c clusters.Component, s clusters.ComponentState) clusters.State {
		return clusters.State{Components: map[clusters.Component]clusters.ComponentState{c: s}}
	}
	flags := clusters.ComponentState{Flags: map[string]string{"v": "4"}}
	golden.Error(t, checkComponents(components(clusters.Kubelet, flags)), "")
	golden.Error(t, checkComponents(components(clusters.KubeProxy, flags)), "component kube-proxy: it supports no flags")
	golden.Error(t, checkComponents(components(clusters.Etcd, flags)),
		"component etcd: a kind cluster has no such component")
	golden.Error(t,
		checkCapacity([]clusters.NodeGroup{{Capacity: map[string]string{
			"cpu":               "4",
			"example.com/slots": "2",
		}}}), "a kind node has the cpu of this machine")
	golden.Error(t, checkCapacity([]clusters.NodeGroup{{Capacity: map[string]string{"example.com/slots": "2"}}}), "")
	golden.Error(t, checkCapacity([]clusters.NodeGroup{{Capacity: map[string]string{"requests.example.com/slots": "2"}}}),
		"omit it")
	golden.Error(t, checkCapacity([]clusters.NodeGroup{{Capacity: map[string]string{"node.kubernetes.io/slots": "2"}}}),
		"omit it")
	golden.Error(t, checkSchedulers(clusters.State{SchedulerProfiles: []map[string]any{{"schedulerName": "a"}}}), "")
	golden.Error(t, checkSchedulers(clusters.State{Schedulers: []clusters.NamedScheduler{{Name: "batch"}}}),
		"a kind cluster has one kube-scheduler")
}

func TestKindName(t *testing.T) {
	for name, want := range map[string]string{
		"rehearse-YL6T-track-1": "rehearse-yl6t-track-1", "a_b.c": "a-b-c",
		"-x-": "x",
	} {
		if got, err := kindName(name); err != nil || got != want {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
	for _, name := range []string{"", "---", strings.Repeat("x", 51)} {
		if got, err := kindName(name); err == nil {
			t.Errorf("%q was taken as %q", name, got)
		}
	}
}
