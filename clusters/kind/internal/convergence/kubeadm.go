package convergence

import (
	"context"
	"errors"
	"fmt"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/diagnosis"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/images"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/settings"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/staticpods"
)

func CheckKubeadm(from, to clusters.State) error {
	before, err1 := clusters.ParseVersion(from.Version)
	after, err2 := clusters.ParseVersion(to.Version)
	switch {
	case errors.Join(err1, err2) != nil:
		return errors.Join(err1, err2)
	case after.Compare(before) <= 0:
		return fmt.Errorf("kubeadm upgrade can only upgrade: not from %s to %s", before, after)
	case after.Major != before.Major || after.Minor > before.Minor+1:
		return fmt.Errorf("kubeadm upgrade upgrades by one minor version at a time: not from %s to %s", before, after)
	}
	return nil
}

// ConvergeByKubeadm upgrades with kubeadm, and then brings what kubeadm does not change (kubelet and gates) to the
// state.
func (c *Converger) ConvergeByKubeadm(ctx context.Context, state clusters.State) error {
	if err := CheckKubeadm(c.Record.State(), state); err != nil {
		return err
	}
	if _, err := c.Record.SetOut(state.Version); err != nil {
		return err
	}
	if err := c.ReadyKubeadm(ctx, state); err != nil {
		return err
	}
	if err := c.RunKubeadm(ctx, state); err != nil {
		return err
	}
	// kubeadm does not upgrade kubelet.
	return c.Converge(ctx, state)
}

// ReadyKubeadm brings everything that kubeadm's upgrade needs into the nodes and the ClusterConfiguration.
func (c *Converger) ReadyKubeadm(ctx context.Context, state clusters.State) error {
	bin, err := c.bring(ctx, state.Version)
	if err != nil {
		return err
	}
	for _, n := range c.Nodes {
		if err := images.LoadImages(ctx, n, bin.Dir+"/"+images.AddonsTar, bin.Addons); err != nil {
			return err
		}
		if err := images.InstallProgram(ctx, n, bin, "kubeadm"); err != nil {
			return err
		}
	}
	if err := noteReplaced(ctx, c, state); err != nil {
		return err
	}
	return c.writeClusterConfiguration(ctx, c.Record.State().Version, state)
}

// RunKubeadm upgrades node by node: `kubeadm upgrade apply` on the first one, `kubeadm upgrade node` on the others.
func (c *Converger) RunKubeadm(ctx context.Context, state clusters.State) error {
	for i, n := range c.Nodes {
		script := `kubeadm upgrade node --ignore-preflight-errors=SystemVerification,CreateJob`
		switch {
		case i == 0:
			script = `kubeadm upgrade apply "$1" --yes --patches "$2" --ignore-preflight-errors=SystemVerification,CreateJob`
		case n.ControlPlane:
			script += ` --patches "$2"`
		}
		c.Say("kubeadm upgrade on %s", n.Name)
		if out, err := n.Shell(ctx, script+" 2>&1", "v"+state.Version, settings.PatchesFolder); err != nil {
			return diagnosis.ExplainKubeadm(n, out, err)
		}
	}
	return nil
}

// noteReplaced records which values the flags of a state have before kubeadm sets them, so that they can be restored.
func noteReplaced(ctx context.Context, c *Converger, state clusters.State) error {
	for _, component := range clusters.ControlPlane() {
		text, _, err := manifestOf(ctx, c.ControlPlane(), component)
		if err != nil {
			return err
		}
		ours := c.Record.OursOf(component)
		if err := staticpods.NoteReplaced(component, text, state, ours); err != nil {
			return err
		}
		if err := c.Record.Remember(component, ours); err != nil {
			return err
		}
	}
	return nil
}

// writeClusterConfiguration updates the ConfigMap from which kubeadm writes the manifests of a new version, so that
// they have the state's flags, and no others. The version is the one that the cluster has.
func (c *Converger) writeClusterConfiguration(ctx context.Context, version string, state clusters.State) error {
	_, err := editConfigMap(ctx, c.Client, "the ConfigMap kubeadm-config", "kubeadm-config", "ClusterConfiguration",
		func(text string) (string, error) {
			return settings.EditClusterConfiguration(text, version, state, c.Record.OursOf)
		})
	return err
}
