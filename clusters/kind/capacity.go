package kind

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/rehearse-dev/rehearse/clusters"
)

// extended says whether a resource is one that a node can be said to have, as kubelet takes it: example.com/dongle. Of cpu, memory and the like
// it has what the machine has.
func extended(resource string) bool {
	domain, _, found := strings.Cut(resource, "/")
	return found && domain != "kubernetes.io" && !strings.HasSuffix(domain, ".kubernetes.io") && !strings.HasPrefix(resource, "requests.")
}

// advertise says of each node what extended resources it has (https://kubernetes.io/docs/tasks/administer-cluster/extended-resource-node/). A kubelet
// that starts forgets them.
func (c *Cluster) advertise(ctx context.Context, groups []clusters.NodeGroup) error {
	for _, group := range groups {
		if len(group.Capacity) == 0 {
			continue
		}
		patch, err := json.Marshal(object{"status": object{"capacity": group.Capacity, "allocatable": group.Capacity}})
		if err != nil {
			return fmt.Errorf("write the capacity of nodes: %w", err)
		}
		for _, name := range group.Names() {
			err := c.await(ctx, "the capacity of node "+name, func(ctx context.Context) error {
				_, err := c.client.CoreV1().Nodes().Patch(ctx, name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}
