package kaischeduler

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	kaiapi "github.com/rehearse-dev/rehearse/suites/kai/api"
)

// levels are the levels of the topology whose node labels have other names. Any other level is itself the name of a
// label. In KAI, the Topology object says which levels a cluster has; GREP-375 does not mention it.
var levels = map[string]string{
	"host": corev1.LabelHostname, "zone": corev1.LabelTopologyZone, "region": corev1.LabelTopologyRegion,
}

// place reports whether a node belongs to it.
type place func(*corev1.Node) bool

func everywhere(*corev1.Node) bool { return true }

// places returns the places that a constraint allows, the preferred ones first. If pods already have a node, only its
// place is possible.
func (r *room) places(c kaiapi.TopologyConstraint, pods []*corev1.Pod, within place) []place {
	required := r.domains(c.RequiredTopologyLevel, pods, within)
	if c.PreferredTopologyLevel == "" {
		return required
	}
	var preferred []place
	for _, wider := range required {
		preferred = append(preferred, r.domains(c.PreferredTopologyLevel, pods, wider)...)
	}
	return append(preferred, required...)
}

// domains returns the places of a level within another place. Without a level, it returns that other place.
func (r *room) domains(level string, pods []*corev1.Pod, within place) []place {
	if level == "" {
		return []place{within}
	}
	label := level
	if known, ok := levels[level]; ok {
		label = known
	}
	var values []string
	for i := range r.nodes {
		if value := r.nodes[i].Labels[label]; value != "" && within(&r.nodes[i]) && !slices.Contains(values, value) {
			values = append(values, value)
		}
	}
	for _, pod := range pods {
		if pod.Spec.NodeName != "" {
			at := r.label(pod.Spec.NodeName, label)
			values = slices.DeleteFunc(values, func(value string) bool { return value != at })
		}
	}
	slices.Sort(values)
	var all []place
	for _, value := range values {
		all = append(all, func(node *corev1.Node) bool { return node.Labels[label] == value && within(node) })
	}
	return all
}

// label returns a label of a node, or "" if there is none.
func (r *room) label(node, key string) string {
	for i := range r.nodes {
		if r.nodes[i].Name == node {
			return r.nodes[i].Labels[key]
		}
	}
	return ""
}
