package kind

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"sigs.k8s.io/kind/pkg/cluster"
	"sigs.k8s.io/kind/pkg/exec"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind/engine"
)

// abortInterval is between two attempts to end a creation that is no longer wanted.
const abortInterval = 300 * time.Millisecond

// runKind has kind make the cluster. kind itself can't be told to stop, so a creation that is no longer wanted is ended by taking its containers away.
func (c *Cluster) runKind(ctx context.Context, config []byte, balancer string) error {
	ctx, abort := context.WithCancelCause(ctx)
	defer abort(nil)
	done := make(chan error, 1)
	go func() {
		if balancer != "" && balancer != officialBalancer {
			done <- c.makeApart(balancer)
			return
		}
		done <- makeCluster(c.engine, c.provider.Progress, c.record.Name, config, c.KubeconfigPath())
	}()
	var watching sync.WaitGroup
	watching.Go(func() { c.watchCreation(ctx, abort) })
	defer watching.Wait()
	defer abort(nil)
	select {
	case err := <-done:
		if ctx.Err() != nil { // it was ended by the same interrupt
			return context.Cause(ctx)
		}
		return err
	case <-ctx.Done():
	}
	cause := context.Cause(ctx)
	background := context.WithoutCancel(ctx)
	for {
		removeErr := removeContainers(background, c.engine, c.record.Name, c.dir)
		select {
		case <-done: //nolint:errcheck // the creation was given up
			return errors.Join(cause, removeContainers(background, c.engine, c.record.Name, c.dir))
		case <-time.After(abortInterval):
			if removeErr != nil {
				c.provider.Progress("%v", removeErr)
			}
		}
	}
}

// makeCluster has kind make a cluster.
func makeCluster(e *engine.Engine, progress clusters.Progress, name string, config []byte, kubeconfig string) error {
	maker := cluster.NewProvider(nodeProvider(e), cluster.ProviderWithLogger(&progressLogger{progress: progress, name: name}))
	return explainCreation(maker.Create(name,
		cluster.CreateWithRawConfig(config), cluster.CreateWithKubeconfigPath(kubeconfig),
		cluster.CreateWithWaitForReady(0), cluster.CreateWithRetain(true), // what is left is removed by us
		cluster.CreateWithDisplayUsage(false), cluster.CreateWithDisplaySalutation(false)))
}

func nodeProvider(e *engine.Engine) cluster.ProviderOption {
	switch e.Program {
	case "podman":
		return cluster.ProviderWithPodman()
	case "nerdctl":
		return cluster.ProviderWithNerdctl(e.Program)
	default:
		return cluster.ProviderWithDocker()
	}
}

// kubeadmPatience is more ends of a component than there can be until kubeadm itself gives up.
const kubeadmPatience = 100

// watchCreation ends a creation in which a component does not start: kubeadm itself would wait for minutes. Further control planes are given what the
// first was given.
func (c *Cluster) watchCreation(ctx context.Context, abort context.CancelCauseFunc) {
	n := node{engine: c.engine, name: c.record.Name + "-control-plane", controlPlane: true}
	for look := 1; ; look++ {
		select {
		case <-ctx.Done():
			return
		case <-time.After(2 * time.Second):
		}
		if look%5 == 0 {
			if err := n.diskFull(ctx); err != nil {
				abort(err)
				return
			}
		}
		// Each look is a program that runs in the node, which costs more than the look.
		starts, err := n.starts(ctx, clusters.ControlPlane()...)
		if err != nil {
			continue // the node is not there yet
		}
		for _, component := range clusters.ControlPlane() {
			// Nobody can tell yet whether the API server is only slow.
			forgiven, excused := 1, kubeadmPatience
			if component == clusters.APIServer {
				forgiven, excused = 0, 0
			}
			if err := starts.of(component).failure(component, nil, forgiven, excused); err != nil {
				abort(err)
				return
			}
		}
		if len(starts) > 0 {
			continue // which kubelet has started
		}
		if err := n.kubeletFailure(ctx, "", 2); err != nil { // kubeadm would wait for it for four minutes
			abort(err)
			return
		}
	}
}

// noise of kubeadm's output, which is no explanation.
var kubeadmError = regexp.MustCompile(`(?m)^(?:error|\[ERROR|E\d{4}|fatal).*$`)

// explainCreation makes of kind's error one that says what it was.
func explainCreation(err error) error {
	if err == nil {
		return nil
	}
	run := exec.RunErrorForError(err)
	if run == nil {
		return err
	}
	said := string(run.Output)
	lower := strings.ToLower(said)
	switch {
	case strings.Contains(lower, "no space left on device"):
		return fmt.Errorf("the disk is full: %s", firstLine(said, "no space left"))
	case strings.Contains(lower, "operation not permitted") && strings.Contains(lower, "apply caps"):
		return fmt.Errorf("this host cannot give a privileged container all the capabilities that the engine asks for: %s; docs/kind.md says what to do", strings.TrimSpace(said))
	}
	if lines := kubeadmError.FindAllString(said, 3); len(lines) > 0 {
		said = strings.Join(lines, " / ")
	} else if lines := strings.Split(strings.TrimSpace(said), "\n"); len(lines) > 3 {
		said = strings.Join(lines[len(lines)-3:], " / ")
	}
	return fmt.Errorf("%w: %s", err, strings.TrimSpace(said))
}

func firstLine(text, with string) string {
	for line := range strings.Lines(text) {
		if strings.Contains(strings.ToLower(line), with) {
			return strings.TrimSpace(line)
		}
	}
	return strings.TrimSpace(text)
}
