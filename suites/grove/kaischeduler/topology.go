package kaischeduler

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	kaiapi "github.com/rehearse-dev/rehearse/suites/kai/api"
)

// levels of the topology that nodes say by a label of another name. Any other level is a label itself. Which levels a
// cluster has is KAI's own Topology object's to say, of which GREP-375 does not speak.
var levels = map[string]string{
	"host": corev1.LabelHostname, "zone": corev1.LabelTopologyZone, "region": corev1.LabelTopologyRegion,
}

// place says whether a node is in it.
type place func(*corev1.Node) bool

func everywhere(*corev1.Node) bool { return true }

// places are where pods may be by a constraint, the preferred ones first. Pods that have a node already leave no
// choice.
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

// domains are the places of a level; the one that is given for no level.
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

// label of a node; "" where there is none.
func (r *room) label(node, key string) string {
	for i := range r.nodes {
		if r.nodes[i].Name == node {
			return r.nodes[i].Labels[key]
		}
	}
	return ""
}
