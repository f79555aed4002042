package kaischeduler

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kaiapi "github.com/rehearse-dev/rehearse/suites/kai/api"
)

func node(name, cpu string) corev1.Node {
	return corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
			"cpu":  resource.MustParse(cpu),
			"pods": resource.MustParse("10"),
		}},
	}
}

func pod(group, part, name string, change ...func(*corev1.Pod)) corev1.Pod {
	p := corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Annotations: map[string]string{},
			Labels: map[string]string{labelSubGroup: part},
		},
		Spec: corev1.PodSpec{SchedulerName: Name, Containers: []corev1.Container{{
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("1")}},
		}}},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
	if group != "" {
		p.Annotations[annotationPodGroup] = group
	}
	for _, c := range change {
		c(&p)
	}
	return p
}

func group(name string, parts map[string]int32) kaiapi.PodGroup {
	g := kaiapi.PodGroup{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for _, part := range slices.Sorted(maps.Keys(parts)) {
		n := parts[part]
		g.Spec.MinMember += n
		g.Spec.SubGroups = append(g.Spec.SubGroups, kaiapi.SubGroup{Name: part, MinMember: n})
	}
	return g
}

// racks has the nodes of two racks. Each node has room for one pod, except b-0, which has room for two.
var racks = []corev1.Node{
	in("a", node("a-0", "1")), in("a", node("a-1", "1")), in("b", node("b-0", "2")),
	in("b", node("b-1", "1")),
}

func in(rack string, n corev1.Node) corev1.Node {
	n.Labels = map[string]string{"rack": rack, corev1.LabelHostname: n.Name}
	return n
}

func threeOf(part string) []corev1.Pod {
	return []corev1.Pod{pod("g", part, "1"), pod("g", part, "2"), pod("g", part, "3")}
}

func topology(g kaiapi.PodGroup, required, preferred string) kaiapi.PodGroup {
	g.Spec.TopologyConstraint = kaiapi.TopologyConstraint{
		RequiredTopologyLevel:  required,
		PreferredTopologyLevel: preferred,
	}
	return g
}

// parts requires one domain of a topology level for each part of a group.
func parts(g kaiapi.PodGroup, required string) kaiapi.PodGroup {
	for i := range g.Spec.SubGroups {
		g.Spec.SubGroups[i].TopologyConstraint = &kaiapi.TopologyConstraint{RequiredTopologyLevel: required}
	}
	return g
}

func gated(p *corev1.Pod) { p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "x"}} }
func on1(p *corev1.Pod)   { on("n1")(p) }
func on(node string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.NodeName, p.Status.Phase = node, corev1.PodRunning }
}
func of(s string) func(*corev1.Pod) { return func(p *corev1.Pod) { p.Spec.SchedulerName = s } }

func TestSchedule(t *testing.T) {
	two := []kaiapi.PodGroup{group("g", map[string]int32{"a": 1, "b": 1})}
	for _, c := range []struct {
		name   string
		nodes  []corev1.Node
		pods   []corev1.Pod
		groups []kaiapi.PodGroup
		want   []string
	}{
		{
			"it fits",
			[]corev1.Node{node("n1", "1"), node("n2", "1")},
			[]corev1.Pod{pod("g", "a", "a"), pod("g", "b", "b")},
			two,
			[]string{"a n1", "b n2"},
		},
		{
			"there is room for one",
			[]corev1.Node{node("n1", "1")},
			[]corev1.Pod{pod("g", "a", "a"), pod("g", "b", "b")},
			two,
			nil,
		},
		{"one is missing", []corev1.Node{node("n1", "4")}, []corev1.Pod{pod("g", "a", "a")}, two, nil},
		{
			"one is gated",
			[]corev1.Node{node("n1", "4")},
			[]corev1.Pod{pod("g", "a", "a"), pod("g", "b", "b", gated)},
			two,
			nil,
		},
		{
			"two of the wrong part",
			[]corev1.Node{node("n1", "4")},
			[]corev1.Pod{pod("g", "a", "a"), pod("g", "a", "b")},
			two,
			nil,
		},
		{
			"one runs already",
			[]corev1.Node{node("n1", "2")},
			[]corev1.Pod{pod("g", "a", "a", on1), pod("g", "b", "b")},
			two,
			[]string{"b n1"},
		},
		{"nobody has described the group", []corev1.Node{node("n1", "4")}, []corev1.Pod{
			pod("g", "a", "a"),
			pod("g", "b", "b"),
		}, nil, nil},
		{"a pod of no group", []corev1.Node{node("n1", "4")}, []corev1.Pod{pod("", "", "a")}, nil, []string{"a n1"}},
		{
			"another scheduler's",
			[]corev1.Node{node("n1", "4")},
			[]corev1.Pod{pod("", "", "a", of("default-scheduler"))},
			nil,
			nil,
		},
		{
			"one rack has room",
			racks, threeOf("a"),
			[]kaiapi.PodGroup{topology(group("g", map[string]int32{"a": 3}), "rack", "")},
			[]string{"1 b-0", "2 b-0", "3 b-1"},
		},
		{"no host has room", racks, threeOf("a"), []kaiapi.PodGroup{topology(group("g", map[string]int32{"a": 3}), "host",
			"")}, nil},
		{"a level that no node is of", racks, threeOf("a"), []kaiapi.PodGroup{topology(group("g", map[string]int32{"a": 3}),
			"block", "")}, nil},
		{
			"one host would be better",
			racks, threeOf("a"),
			[]kaiapi.PodGroup{topology(group("g", map[string]int32{"a": 3}), "rack", "host")},
			[]string{"1 b-0", "2 b-0", "3 b-1"},
		},
		{
			"no rack has room, which is only preferred",
			racks, append(threeOf("a"), pod("g", "a", "4"), pod("g", "a", "5")),
			[]kaiapi.PodGroup{topology(group("g", map[string]int32{"a": 5}), "", "rack")},
			[]string{"1 a-0", "2 a-1", "3 b-0", "4 b-0", "5 b-1"},
		},
		{
			"one runs already, and the others go where it is",
			racks,
			[]corev1.Pod{pod("g", "a", "1", on("a-0")), pod("g", "a", "2")},
			[]kaiapi.PodGroup{topology(group("g", map[string]int32{"a": 2}), "rack", "")},
			[]string{"2 a-1"},
		},
		{
			"one runs already where there is no room",
			racks,
			[]corev1.Pod{pod("g", "a", "1", on("a-0")), pod("g", "a", "2"), pod("g", "a", "3")},
			[]kaiapi.PodGroup{topology(group("g", map[string]int32{"a": 3}), "rack", "")},
			nil,
		},
		{
			"the first part leaves the second its place",
			racks,
			[]corev1.Pod{pod("g", "a", "1"), pod("g", "b", "2"), pod("g", "b", "3"), pod("g", "b", "4")},
			[]kaiapi.PodGroup{parts(group("g", map[string]int32{"a": 1, "b": 3}), "rack")},
			[]string{"1 a-0", "2 b-0", "3 b-0", "4 b-1"},
		},
		{
			"what does not fit leaves its room to the next",
			[]corev1.Node{node("n1", "2")},
			[]corev1.Pod{pod("g", "a", "a"), pod("g", "b", "b"), pod("g", "b", "c"), pod("h", "a", "d"), pod("h", "b", "e")},
			[]kaiapi.PodGroup{group("g", map[string]int32{"a": 1, "b": 2}), group("h", map[string]int32{"a": 1, "b": 1})},
			[]string{"d n1", "e n1"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, p := range schedule(newRoom(c.nodes, c.pods), c.pods, c.groups) {
				got = append(got, fmt.Sprintf("%s %s", p.pod.Name, p.node))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("placed %v, want %v", got, c.want)
			}
		})
	}
}
