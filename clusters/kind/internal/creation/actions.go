// Package creation creates a cluster with a list of named actions.
package creation

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind/engine"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/live"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/nodes"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/record"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/settings"
)

// Creator makes a cluster in a folder that is claimed for it.
type Creator struct {
	Engine *engine.Engine
	// Executable is the program that is run again (Main) if kind must not use its own load balancer.
	Executable string
	// Lock is the lock of the cluster's folder.
	Lock     *os.File
	Progress clusters.Progress
	// Image is the image of the nodes, and Balancer that of the load balancer before several API servers; "" for none.
	Image, Balancer string

	Record *record.Record
	// config is the kind configuration.
	config []byte
	*live.Cluster
}

// Create creates a cluster: it runs one action after the other.
func (c *Creator) Create(ctx context.Context) (*live.Cluster, error) {
	for _, action := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"write the files of the nodes", c.writeFiles},
		{"run kind", c.runKind},
		{"find the nodes", c.findNodes},
		{
			"reach this machine from the nodes",
			func(context.Context) error { return c.Host.CheckSystems(c.Record.State().Systems) },
		},
		{"become administrator", c.elevate},
		{"reach the API servers", func(ctx context.Context) error { return c.Reach(ctx, c.Record.Kubeconfig()) }},
		{"connect the pods", c.connectPods},
		{"wait until it is ready", c.waitAndProve},
		{
			"give the nodes their capacity",
			func(ctx context.Context) error { return c.Advertise(ctx, c.Record.State().Nodes) },
		},
	} {
		if err := action.do(ctx); err != nil {
			return nil, fmt.Errorf("%s: %w", action.name, err)
		}
	}
	return c.Cluster, nil
}

// writeFiles writes what is mounted into the nodes, and the kind configuration.
func (c *Creator) writeFiles(context.Context) error {
	state, dir := c.Record.State(), c.Record.Dir
	if err := settings.WriteNodeFiles(filepath.Join(dir, nodes.FilesDir), state); err != nil {
		return err
	}
	var err error
	if c.config, err = settings.Config(state, c.Image, filepath.Join(dir, nodes.FilesDir)); err != nil {
		return err
	}
	return settings.WriteFile(filepath.Join(dir, record.ConfigFile), string(c.config))
}

func (c *Creator) findNodes(ctx context.Context) (err error) {
	c.Cluster, err = live.Find(ctx, c.Engine, c.Record.Name(), c.Record.Dir, c.Record.State(), c.Progress)
	return err
}

// waitAndProve waits until the cluster can be used, and its components prove their version and gates.
func (c *Creator) waitAndProve(ctx context.Context) error {
	waiting, ctx := errgroup.WithContext(ctx)
	waiting.Go(func() error { return c.Usable(ctx, c.Record.State(), c.ControlPlanes()) })
	waiting.Go(func() error { return c.Prove(ctx, c.Record.State()) })
	return waiting.Wait()
}

// say reports progress on the cluster.
func (c *Creator) say(format string, args ...any) {
	c.Progress("kind cluster %s: "+format, append([]any{c.Record.Name()}, args...)...)
}
