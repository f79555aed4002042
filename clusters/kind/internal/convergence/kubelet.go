package convergence

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/diagnosis"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/images"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/live"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/nodes"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/settings"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/waiting"
	"github.com/rehearse-dev/rehearse/clusters/proof"
)

// Paths of files in a node.
const (
	KubeletConfig = "/var/lib/kubelet/config.yaml"
	KubeletFlags  = "/var/lib/kubelet/kubeadm-flags.env"
	kindVersion   = "/kind/version"
)

// kubeletChange describes a change of a node's kubelet.
type kubeletChange struct {
	state         clusters.State
	config, flags string
	// programs replace the current ones; nil to keep them.
	programs      *images.Artifacts
	startedBefore float64
	// cursor is the end of the node's journal after the previous kubelet has stopped.
	cursor string
	// sought is the time of the last check whether it fails to start.
	sought time.Time
}

// planKubelet returns the change that brings one node's kubelet, kubeadm and kubectl to a state; nil for no change.
func (c *changer) planKubelet(ctx context.Context, n nodes.Node, state clusters.State,
	bin images.Artifacts,
) (*kubeletChange, error) {
	config, err := n.Read(ctx, KubeletConfig)
	if err != nil {
		return nil, err
	}
	flags, err := n.Read(ctx, KubeletFlags)
	if err != nil {
		return nil, err
	}
	change := &kubeletChange{state: state}
	if change.config, err = settings.WithGates(config, state.Gates(clusters.Kubelet)); err != nil {
		return nil, fmt.Errorf("read the configuration of kubelet on %s: %w", n.Name, err)
	}
	ours := c.Record.OursOf(clusters.Kubelet)
	change.flags = settings.KubeletFlagsFile(flags, state.Components[clusters.Kubelet].Flags, ours)
	change.flags = settings.WithoutGoneFlags(change.flags, state.Version)
	version, err := n.Shell(ctx, "kubelet --version")
	if err != nil {
		return nil, fmt.Errorf("ask kubelet on %s for its version: %w", n.Name, err)
	}
	if strings.TrimPrefix(version, "Kubernetes v") != state.Version {
		change.programs = &bin
	}
	same, err := settings.SameYAML(config, change.config)
	if err != nil {
		return nil, fmt.Errorf("read the configuration of kubelet on %s: %w", n.Name, err)
	}
	if same && flags == change.flags && change.programs == nil {
		return nil, nil
	}
	return change, c.Record.Remember(clusters.Kubelet, ours)
}

// nodePrograms are the programs that have their node's version.
var nodePrograms = []string{string(clusters.Kubelet), "kubeadm", "kubectl"}

// files adds kubelet's files to the given ones.
func (change *kubeletChange) files(files []nodeFile) ([]nodeFile, error) {
	for path, text := range map[string]string{KubeletConfig: change.config, KubeletFlags: change.flags} {
		if text != "" { // otherwise it is restarted unchanged
			files = append(files, nodeFile{path, "644", strings.NewReader(text)})
		}
	}
	if change.programs == nil {
		return files, nil
	}
	for _, program := range nodePrograms {
		file, err := os.Open(filepath.Join(change.programs.Dir, program))
		if err != nil {
			closeAll(files)
			return nil, err
		}
		files = append(files, nodeFile{"/usr/bin/" + program, "755", file})
	}
	return files, nil
}

// kubeletReplaced returns nil as soon as the new kubelet runs and its node is Ready. It returns a final error if
// kubelet fails to start.
func (c *changer) kubeletReplaced(ctx context.Context, n nodes.Node, change *kubeletChange) error {
	ctx, cancel := context.WithTimeout(ctx, live.OneLook)
	defer cancel()
	err := c.kubeletIsNew(ctx, n, change)
	if err == nil || time.Since(change.sought) < failureInterval {
		return err
	}
	change.sought = time.Now()
	if failure := diagnosis.KubeletFailure(ctx, n, change.cursor, 0); failure != nil {
		return waiting.Final(failure)
	}
	return err
}

// kubeletIsNew returns nil as soon as the new kubelet proves its version and gates, and its node is Ready.
func (c *changer) kubeletIsNew(ctx context.Context, n nodes.Node, change *kubeletChange) error {
	metrics, err := c.NodeMetrics(ctx, clusters.Kubelet, n)
	if err != nil {
		return err
	}
	if at := live.StartTime(metrics); at == 0 || at == change.startedBefore {
		return errors.New("the previous one still runs")
	}
	if err := proof.Component(metrics, change.state.Version, change.state.Gates(clusters.Kubelet)); err != nil {
		return err
	}
	object, err := c.Client.CoreV1().Nodes().Get(ctx, n.NodeName, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if got := object.Status.NodeInfo.KubeletVersion; got != "v"+change.state.Version {
		return fmt.Errorf("the node still says %s", got)
	}
	if why := live.NotReady(object.Status.Conditions); why != "" {
		return fmt.Errorf("the node is not Ready: %s", why)
	}
	return nil
}
