package creation

import (
	"context"
	"fmt"

	"k8s.io/client-go/tools/clientcmd"
)

// superAdmin is the kubeconfig of a user who needs no role (system:masters); kubeadm writes it since 1.29.
const superAdmin = "/etc/kubernetes/super-admin.conf"

// elevate makes the super administrator the user of the cluster's kubeconfig. kubeadm's usual administrator has its
// rights from a role. For a moment, an API server that has just started does not know that role and rejects (403)
// valid requests. That could be mistaken for the rejection that a scenario expects.
func (c *Creator) elevate(ctx context.Context) error {
	text, err := c.ControlPlane().Read(ctx, superAdmin)
	if err != nil || text == "" {
		return err // before 1.29 the usual administrator is in system:masters
	}
	super, err := clientcmd.Load([]byte(text))
	if err != nil {
		return fmt.Errorf("read %s of node %s: %w", superAdmin, c.ControlPlane().Name, err)
	}
	own, err := clientcmd.LoadFromFile(c.Record.Kubeconfig())
	if err != nil {
		return fmt.Errorf("read the kubeconfig of cluster %s: %w", c.Record.Name(), err)
	}
	for name := range own.AuthInfos {
		for _, user := range super.AuthInfos {
			own.AuthInfos[name] = user
		}
	}
	if err := clientcmd.WriteToFile(*own, c.Record.Kubeconfig()); err != nil {
		return fmt.Errorf("write the kubeconfig of cluster %s: %w", c.Record.Name(), err)
	}
	return nil
}
