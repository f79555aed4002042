package creation

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"sigs.k8s.io/kind/pkg/cluster"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind/engine"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/diagnosis"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/images"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/nodes"
)

const (
	// abortInterval is the time between two attempts to end a canceled creation.
	abortInterval = 300 * time.Millisecond
	// abortPatience is how long the engine may fail to answer meanwhile.
	abortPatience = 2 * time.Minute
)

// runKind has kind make the cluster. kind itself cannot be stopped, so a canceled creation is ended by removing its
// containers.
func (c *Creator) runKind(ctx context.Context) error {
	if warning := diagnosis.InotifyWarning(c.Record.State(), diagnosis.InotifyLimit); warning != "" {
		c.say("%s", warning)
	}
	ctx, abort := context.WithCancelCause(ctx)
	defer abort(nil)
	done := make(chan error, 1)
	go func() {
		if c.Balancer != "" && c.Balancer != images.OfficialBalancer {
			done <- c.makeInSubprocess(c.Balancer)
			return
		}
		done <- makeCluster(c.Engine, c.Progress, c.Record.Name(), c.config, c.Record.Kubeconfig())
	}()
	var watching sync.WaitGroup
	watching.Go(func() { c.watchCreation(ctx, abort) })
	defer watching.Wait()
	defer abort(nil)
	select {
	case err := <-done:
		if ctx.Err() != nil { // the same interrupt ended it
			return context.Cause(ctx)
		}
		return err
	case <-ctx.Done():
	}
	return errors.Join(context.Cause(ctx), c.abandon(ctx, done, nodes.RemoveTimeout, abortPatience))
}

// abandon removes containers until kind has ended. It gives up if no removal succeeds for the patience, because the
// engine may hang.
func (c *Creator) abandon(ctx context.Context, done <-chan error, timeout, patience time.Duration) error {
	remove := func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
		defer cancel()
		return nodes.RemoveContainers(ctx, c.Engine, c.Record.Name(), c.Record.Dir)
	}
	answered := time.Now()
	for {
		err := remove()
		switch {
		case err == nil:
			answered = time.Now()
		case time.Since(answered) > patience:
			return fmt.Errorf("containers of the kind cluster %s may remain; if so, %s ps --all --filter "+
				"label=%s=%s shows them, and the next run removes them: %w", c.Record.Name(), c.Engine.Program,
				nodes.ClusterLabel, c.Record.Name(), err)
		}
		select {
		case <-done: //nolint:errcheck // the creation was given up
			return remove()
		case <-time.After(abortInterval):
			if err != nil {
				c.Progress("%v", err)
			}
		}
	}
}

// makeCluster has kind make a cluster.
func makeCluster(e *engine.Engine, progress clusters.Progress, name string, config []byte, kubeconfig string) error {
	maker := cluster.NewProvider(NodeProvider(e),
		cluster.ProviderWithLogger(&progressLogger{progress: progress, name: name}))
	return diagnosis.ExplainCreation(maker.Create(name,
		cluster.CreateWithRawConfig(config), cluster.CreateWithKubeconfigPath(kubeconfig),
		cluster.CreateWithWaitForReady(0), cluster.CreateWithRetain(true), // we remove what is left
		cluster.CreateWithDisplayUsage(false), cluster.CreateWithDisplaySalutation(false)))
}

func NodeProvider(e *engine.Engine) cluster.ProviderOption {
	switch e.Program {
	case "podman":
		return cluster.ProviderWithPodman()
	case "nerdctl":
		return cluster.ProviderWithNerdctl(e.Program)
	default:
		return cluster.ProviderWithDocker()
	}
}
