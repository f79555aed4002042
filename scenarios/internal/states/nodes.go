package states

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/scenarios/internal/words"
	"github.com/rehearse-dev/rehearse/scenarios/internal/yamltree"
)

// mostNodes is the maximal number of nodes in a group. Kubernetes itself supports 5000 nodes in a cluster.
const mostNodes = 10_000

// Nodes checks groups of nodes.
func (v *Check) Nodes(groups []clusters.NodeGroup, n *yamltree.Node) {
	names := map[string]bool{}
	for i, g := range groups {
		at := n.At(i)
		name := g.Name
		if name == "" {
			name = "node"
		}
		for _, message := range validation.IsDNS1123Subdomain(name) {
			message, _, _ = strings.Cut(message, " (e.g.")
			v.At(at.At("name"), "", "the nodes' name %q: %s", words.Short(name), message)
		}
		if names[name] {
			v.At(at.At("name"), "give each group its own name", "two groups of nodes are called %q", name)
		}
		names[name] = true
		if g.Count != nil && (*g.Count < 0 || *g.Count > mostNodes) {
			v.At(at.At("count"), "", "a group has 0 to %d nodes, not %d", mostNodes, *g.Count)
		}
		checkCapacity(v, g.Capacity, at.At("capacity"))
		for _, key := range clusters.SortedKeys(g.Labels) {
			labelKey(v, "label", key, at.At("labels").Key(key))
			labelValue(v, "label", g.Labels[key], at.At("labels", key))
		}
		for j, t := range g.Taints {
			v.taint(t, at.At("taints", j))
		}
	}
}

func checkCapacity(v *Check, capacity map[string]string, n *yamltree.Node) {
	for _, r := range clusters.SortedKeys(capacity) {
		quantity, err := resource.ParseQuantity(capacity[r])
		switch {
		case err != nil:
			v.At(n.At(r), "such as 500m, 4 or 16Gi", "%q is no quantity", words.Short(capacity[r]))
		case quantity.Sign() < 0:
			v.At(n.At(r), "", "a capacity cannot be negative")
		}
	}
}

func (v *Check) taint(t clusters.Taint, n *yamltree.Node) {
	if t.Key == "" {
		v.At(n.At("key"), "", "a taint needs a key")
	} else {
		labelKey(v, "taint", t.Key, n.At("key"))
	}
	labelValue(v, "taint", t.Value, n.At("value"))
	v.OneOf(t.Effect, []string{"NoSchedule", "PreferNoSchedule", "NoExecute"}, n.At("effect"), "effect of a taint")
	if t.Effect == "" {
		v.At(n.At("effect"), "NoSchedule, PreferNoSchedule or NoExecute", "a taint needs an effect")
	}
}

// labelKey checks the key of a label or a taint.
func labelKey(v *Check, what, key string, n *yamltree.Node) {
	if messages := validation.IsQualifiedName(key); len(messages) > 0 {
		message, _, _ := strings.Cut(messages[0], " (e.g.")
		v.At(n, "", "the %s %q: %s", what, words.Short(key), message)
	}
}

func labelValue(v *Check, what, value string, n *yamltree.Node) {
	for _, message := range validation.IsValidLabelValue(value) {
		message, _, _ = strings.Cut(message, " (e.g.")
		v.At(n, "", "the value %q of a %s: %s", words.Short(value), what, message)
	}
}
