package kind

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/kind/pkg/cluster"
	"sigs.k8s.io/kind/pkg/log"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/folders"
	"github.com/rehearse-dev/rehearse/clusters/kind/engine"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/convergence"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/creation"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/nodes"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/record"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/settings"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/staticpods"
)

// Collect writes kind's export of the nodes' logs, the manifests and configurations in use, and the cluster's record.
// It writes no credentials.
func (c *Cluster) Collect(ctx context.Context, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the folder for logs: %w", err)
	}
	var errs []error
	for _, name := range []string{
		folders.RecordFile, record.ConfigFile,
		filepath.Join(nodes.FilesDir, "scheduler", settings.SchedulerConfigName),
	} {
		data, err := os.ReadFile(filepath.Join(c.record.Dir, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, filepath.Base(name)), data, 0o644)
		}
		errs = append(errs, err)
	}
	for _, n := range c.nodes() {
		errs = append(errs, collectNode(ctx, n, filepath.Join(dir, n.Name)))
	}
	errs = append(errs, collectBalancer(ctx, c.engine, c.record, dir))
	errs = append(errs, c.export(ctx, filepath.Join(dir, "kind")))
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("collect logs of cluster %s: %w", c.record.Name(), err)
	}
	return nil
}

// collectBalancer writes the log of the load balancer before several API servers; kind's export leaves it out.
func collectBalancer(ctx context.Context, e *engine.Engine, r *record.Record, dir string) error {
	containers, err := nodes.Own(ctx, e, r.Name(), r.Dir)
	if err != nil {
		return err
	}
	for _, container := range containers {
		if container.Role != nodes.BalancerRole {
			continue
		}
		said, err := e.Output(ctx, "logs", container.Name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, container.Name+".log"), []byte(said), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// export has kind export its logs. kind cannot be stopped: after a timeout it goes on in the background.
func (c *Cluster) export(ctx context.Context, dir string) error {
	done := make(chan error, 1)
	go func() {
		done <- cluster.NewProvider(creation.NodeProvider(c.engine),
			cluster.ProviderWithLogger(log.NoopLogger{})).CollectLogs(c.record.Name(), dir)
	}()
	select {
	case err := <-done:
		if err != nil && strings.Contains(err.Error(), "crictl") {
			return nil // our node images have no crictl: only kind's list of images is missing
		}
		return err
	case <-ctx.Done():
		return fmt.Errorf("kind's export of the logs: %w", context.Cause(ctx))
	}
}

func collectNode(ctx context.Context, n nodes.Node, dir string) error {
	files := map[string]string{"kubelet.yaml": convergence.KubeletConfig, "kubeadm-flags.env": convergence.KubeletFlags}
	if n.ControlPlane {
		for _, component := range append(clusters.ControlPlane(), clusters.Etcd) {
			files[string(component)+".yaml"] = staticpods.ManifestsFolder + "/" + string(component) + ".yaml"
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var errs []error
	for name, path := range files {
		text, err := n.Read(ctx, path)
		if err == nil && text != "" {
			err = os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// nodes returns the known nodes of the cluster: none before it is connected.
func (c *Cluster) nodes() []nodes.Node {
	if c.live == nil {
		return nil
	}
	return c.live.Nodes
}
