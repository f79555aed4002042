package kaischeduler

import (
	"fmt"
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
		Status:     corev1.NodeStatus{Allocatable: corev1.ResourceList{"cpu": resource.MustParse(cpu), "pods": resource.MustParse("10")}},
	}
}

func pod(group, part, name string, change ...func(*corev1.Pod)) corev1.Pod {
	p := corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{}, Labels: map[string]string{labelSubGroup: part}},
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
	for part, n := range parts {
		g.Spec.MinMember += n
		g.Spec.SubGroups = append(g.Spec.SubGroups, kaiapi.SubGroup{Name: part, MinMember: n})
	}
	return g
}

func gated(p *corev1.Pod)           { p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "x"}} }
func on1(p *corev1.Pod)             { p.Spec.NodeName, p.Status.Phase = "n1", corev1.PodRunning }
func of(s string) func(*corev1.Pod) { return func(p *corev1.Pod) { p.Spec.SchedulerName = s } }

func TestPlace(t *testing.T) {
	two := []kaiapi.PodGroup{group("g", map[string]int32{"a": 1, "b": 1})}
	for _, c := range []struct {
		name   string
		nodes  []corev1.Node
		pods   []corev1.Pod
		groups []kaiapi.PodGroup
		want   []string
	}{
		{"it fits", []corev1.Node{node("n1", "1"), node("n2", "1")}, []corev1.Pod{pod("g", "a", "a"), pod("g", "b", "b")}, two, []string{"a n1", "b n2"}},
		{"there is room for one", []corev1.Node{node("n1", "1")}, []corev1.Pod{pod("g", "a", "a"), pod("g", "b", "b")}, two, nil},
		{"one is missing", []corev1.Node{node("n1", "4")}, []corev1.Pod{pod("g", "a", "a")}, two, nil},
		{"one is gated", []corev1.Node{node("n1", "4")}, []corev1.Pod{pod("g", "a", "a"), pod("g", "b", "b", gated)}, two, nil},
		{"two of the wrong part", []corev1.Node{node("n1", "4")}, []corev1.Pod{pod("g", "a", "a"), pod("g", "a", "b")}, two, nil},
		{"one runs already", []corev1.Node{node("n1", "2")}, []corev1.Pod{pod("g", "a", "a", on1), pod("g", "b", "b")}, two, []string{"b n1"}},
		{"nobody has described the group", []corev1.Node{node("n1", "4")}, []corev1.Pod{pod("g", "a", "a"), pod("g", "b", "b")}, nil, nil},
		{"a pod of no group", []corev1.Node{node("n1", "4")}, []corev1.Pod{pod("", "", "a")}, nil, []string{"a n1"}},
		{"another scheduler's", []corev1.Node{node("n1", "4")}, []corev1.Pod{pod("", "", "a", of("default-scheduler"))}, nil, nil},
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
			for _, p := range place(newRoom(c.nodes, c.pods), c.pods, c.groups) {
				got = append(got, fmt.Sprintf("%s %s", p.pod.Name, p.node))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("placed %v, want %v", got, c.want)
			}
		})
	}
}
