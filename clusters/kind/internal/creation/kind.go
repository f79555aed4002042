package creation

import (
	"context"
	"errors"
	"sync"
	"time"

	"sigs.k8s.io/kind/pkg/cluster"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind/engine"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/diagnosis"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/images"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/nodes"
)

// abortInterval is the time between two attempts to end a canceled creation.
const abortInterval = 300 * time.Millisecond

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
	cause := context.Cause(ctx)
	background := context.WithoutCancel(ctx)
	for {
		removeErr := nodes.RemoveContainers(background, c.Engine, c.Record.Name(), c.Record.Dir)
		select {
		case <-done: //nolint:errcheck // the creation was given up
			return errors.Join(cause, nodes.RemoveContainers(background, c.Engine, c.Record.Name(), c.Record.Dir))
		case <-time.After(abortInterval):
			if removeErr != nil {
				c.Progress("%v", removeErr)
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
