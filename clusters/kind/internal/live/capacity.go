package live

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/settings"
)

// Advertise sets each node's extended resources
// (https://kubernetes.io/docs/tasks/administer-cluster/extended-resource-node/). A kubelet that starts forgets them.
func (c *Cluster) Advertise(ctx context.Context, groups []clusters.NodeGroup) error {
	for _, group := range groups {
		if len(group.Capacity) == 0 {
			continue
		}
		patch, err := json.Marshal(settings.Object{"status": settings.Object{
			"capacity":    group.Capacity,
			"allocatable": group.Capacity,
		}})
		if err != nil {
			return fmt.Errorf("write the capacity of nodes: %w", err)
		}
		for _, name := range group.Names() {
			err := c.Await(ctx, "the capacity of node "+name, func(ctx context.Context) error {
				_, err := c.Client.CoreV1().Nodes().Patch(ctx, name, types.StrategicMergePatchType, patch, metav1.PatchOptions{},
					"status")
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}
