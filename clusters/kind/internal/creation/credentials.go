package creation

import (
	"context"
	"fmt"

	"k8s.io/client-go/tools/clientcmd"
)

// superAdmin is the kubeconfig of a user whom no role has to allow anything (system:masters); kubeadm writes it since
// 1.29.
const superAdmin = "/etc/kubernetes/super-admin.conf"

// elevate makes the cluster's kubeconfig that of the super administrator. The rights of kubeadm's usual administrator
// are a role's, which an API server that has just started does not know for a moment: it rejects then (403) what
// nothing is wrong with, and that could be taken for the rejection that a scenario expects.
func (c *Creator) elevate(ctx context.Context) error {
	text, err := c.ControlPlane().Read(ctx, superAdmin)
	if err != nil || text == "" {
		return err // before 1.29 the usual administrator is of system:masters
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
