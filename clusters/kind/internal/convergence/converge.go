// Package convergence changes a cluster from one state to another: up, down, and with kubeadm.
package convergence

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/coredns"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/images"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/live"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/record"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/settings"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/staticpods"
)

// Converger brings a cluster from one state to another.
type Converger struct {
	changer
	Source *images.Source
	Dns    *coredns.Server
}

// changer changes what runs on a node.
type changer struct {
	*live.Cluster
	Record *record.Record
}

// New returns a converger of a cluster.
func New(cluster *live.Cluster, kept *record.Record, source *images.Source, dns *coredns.Server) *Converger {
	return &Converger{changer: changer{cluster, kept}, Source: source, Dns: dns}
}

// Converge brings the cluster to a state.
func (c *Converger) Converge(ctx context.Context, state clusters.State) error {
	bin, down, err := c.setOut(ctx, state)
	if err != nil {
		return err
	}
	order := c.upward
	if down {
		order = c.downward
	}
	if err := order(ctx, state, bin); err != nil {
		return err
	}
	if err := c.finish(ctx, state); err != nil {
		return err
	}
	return c.Record.Arrive(state)
}

// setOut records the target version, and loads its images into the nodes before anything is stopped. It returns the
// version's files, and reports whether the transition goes down.
func (c *Converger) setOut(ctx context.Context, state clusters.State) (bin images.Artifacts, down bool, err error) {
	from := c.Record.State()
	mixed, err := c.Record.SetOut(state.Version)
	if err != nil {
		return bin, false, err
	}
	if state.Version != from.Version || mixed != "" {
		if bin, err = c.bring(ctx, state.Version); err != nil {
			return bin, false, err
		}
	}
	down = goesDown(from, state) || goesDown(clusters.State{Version: mixed}, state)
	if mixed != "" && c.Answers(ctx) != nil {
		down = false // upward begins with the API server, without which nothing else can be changed
	}
	return bin, down, nil
}

// bring loads another version's images into all nodes.
func (c *Converger) bring(ctx context.Context, version string) (images.Artifacts, error) {
	bin, err := c.Source.Artifacts(ctx, version)
	if err != nil {
		return bin, err
	}
	c.Say("bringing Kubernetes %s into the nodes", version)
	loading, ctx := errgroup.WithContext(ctx)
	for _, n := range c.Nodes {
		loading.Go(func() error { return images.LoadImages(ctx, n, bin.Dir+"/"+images.ComponentsTar, bin.Components) })
	}
	return bin, loading.Wait()
}

// finish updates the version files and the ConfigMaps of kubelet and kubeadm, and waits until the cluster can be used.
func (c *Converger) finish(ctx context.Context, state clusters.State) error {
	for _, n := range c.Nodes {
		if err := n.Write(ctx, kindVersion, strings.NewReader("v"+state.Version), "644"); err != nil {
			return err
		}
	}
	if err := c.Await(ctx, "the API server", c.APIReady); err != nil {
		return err
	}
	if err := c.writeKubeletConfigMap(ctx, state); err != nil {
		return err
	}
	if err := c.writeClusterConfiguration(ctx, state.Version, state); err != nil {
		return err
	}
	if err := c.settled(ctx, func(pod *staticpods.Pod) error { return pod.CheckGates(state) }); err != nil {
		return err
	}
	if err := c.Usable(ctx, state, c.ControlPlanes()); err != nil {
		return err
	}
	if err := c.Dns.Current(ctx); err != nil {
		return err
	}
	if err := c.Advertise(ctx, state.Nodes); err != nil {
		return err
	}
	return c.Prove(ctx, state)
}

// writeKubeletConfigMap updates the ConfigMap from which new nodes and kubeadm upgrade take kubelet's configuration.
func (c *Converger) writeKubeletConfigMap(ctx context.Context, state clusters.State) error {
	_, err := editConfigMap(ctx, c.Client, "the ConfigMap kubelet-config", "kubelet-config", "kubelet",
		func(text string) (string, error) { return settings.WithGates(text, state.Gates(clusters.Kubelet)) })
	return err
}

// editConfigMap edits the YAML of a key of a ConfigMap in kube-system. It returns the revision of the YAML, which
// changes with it: "" until something was edited. what names the ConfigMap in errors.
func editConfigMap(ctx context.Context, client kubernetes.Interface, what, name, key string,
	edit func(string) (string, error),
) (revision string, err error) {
	maps := client.CoreV1().ConfigMaps(metav1.NamespaceSystem)
	config, err := maps.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return "", fmt.Errorf("read %s: %w", what, err)
	}
	wanted, err := edit(config.Data[key])
	if err != nil {
		return "", fmt.Errorf("read %s: %w", what, err)
	}
	same, err := settings.SameYAML(config.Data[key], wanted)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", what, err)
	}
	if same {
		return config.Annotations[staticpods.RevisionAnnotation], nil
	}
	config.Data[key] = wanted
	sum := sha256.Sum256([]byte(wanted))
	revision = hex.EncodeToString(sum[:8])
	// The ConfigMap keeps its revision, so that a later attempt finds the change even if this one ends here.
	metav1.SetMetaDataAnnotation(&config.ObjectMeta, staticpods.RevisionAnnotation, revision)
	if _, err := maps.Update(ctx, config, metav1.UpdateOptions{}); err != nil {
		return "", fmt.Errorf("write %s: %w", what, err)
	}
	return revision, nil
}
