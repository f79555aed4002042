package nodes

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/kind/pkg/cluster/constants"

	"github.com/rehearse-dev/rehearse/clusters/kind/engine"
)

// removeVolumes removes podman's volumes of a cluster's nodes. Other engines remove volumes with the nodes. For
// podman, kind makes the volumes itself, before the node, and labels them with the node's name. A volume in use
// belongs to something else, and podman refuses to remove it.
func removeVolumes(ctx context.Context, e *engine.Engine, name string) error {
	if e.Program != "podman" {
		return nil
	}
	out, err := e.Output(ctx, "volume", "ls", "--format", "{{.Name}} {{range $label, $_ := .Labels}}{{$label}} {{end}}")
	if err != nil {
		return fmt.Errorf("look for the volumes of cluster %s: %w", name, err)
	}
	var volumes []string
	for line := range strings.Lines(out) {
		words := strings.Fields(line)
		if len(words) > 1 && slices.ContainsFunc(words[1:], func(label string) bool { return isNodeName(label, name) }) {
			volumes = append(volumes, words[0])
		}
	}
	if len(volumes) == 0 {
		return nil
	}
	if _, err := e.Output(ctx, append([]string{"volume", "rm"}, volumes...)...); err != nil {
		return fmt.Errorf("remove the volumes of cluster %s: %w", name, err)
	}
	return nil
}

// isNodeName reports whether a name is one that kind gives to nodes of the cluster: mine-control-plane, mine-worker2.
func isNodeName(name, cluster string) bool {
	rest, found := strings.CutPrefix(name, cluster+"-")
	if !found {
		return false
	}
	rest = strings.TrimRight(rest, "0123456789")
	return rest == constants.ControlPlaneNodeRoleValue || rest == constants.WorkerNodeRoleValue
}
