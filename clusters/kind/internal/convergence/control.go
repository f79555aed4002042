package convergence

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/nodes"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/settings"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/staticpods"
)

// killScript moves a component's manifest to where kubelet does not see it, and kills its process. Kubelet is stopped
// meanwhile: it would restart the process, or end it gracefully.
const killScript = `trap "systemctl start kubelet" EXIT
systemctl stop kubelet
mkdir -p "$2"
mv "$1/$3.yaml" "$2/$3.yaml"
pkill -KILL -f "^([^ ]*/)?$3 "`

// Kill kills a component of the control plane, or etcd, without warning, and leaves it down. It kills the component
// on all control planes at once, unless the component names one.
func (c *Converger) Kill(ctx context.Context, component clusters.Component) error {
	if !isStatic(component) {
		return fmt.Errorf("kill %s: only etcd and %v can be killed on kind", component, clusters.ControlPlane())
	}
	running, _, err := c.runningOrNot(ctx, component)
	if err != nil {
		return err
	}
	if len(running) == 0 {
		return fmt.Errorf("kill %s: it is not running", component)
	}
	killing, killingCtx := errgroup.WithContext(ctx)
	for _, n := range running {
		killing.Go(func() error {
			if _, err := n.Shell(killingCtx, killScript, staticpods.ManifestsFolder, staticpods.StoppedFolder,
				string(component.Binary())); err != nil {
				return fmt.Errorf("kill %s on %s: %w", component.Binary(), n.Name, err)
			}
			return nil
		})
	}
	if err := killing.Wait(); err != nil || component.Binary() != clusters.APIServer {
		return err
	}
	_, err = c.noteKilled(ctx)
	return err
}

// noteKilled records which of several API servers are down, so that no step asks them. It returns the nodes of those
// that run.
func (c *Converger) noteKilled(ctx context.Context) (running []nodes.Node, err error) {
	running, killed, err := c.runningOrNot(ctx, clusters.APIServer)
	if err != nil || len(c.ControlPlanes()) == 1 {
		return running, err
	}
	var down []int
	for plane, n := range c.ControlPlanes() {
		if slices.Contains(killed, n) {
			down = append(down, plane)
		}
	}
	return running, c.Record.Killed(down)
}

// runningOrNot returns the control planes on which a component runs, and those on which it was killed. If the
// component names a control plane, it checks only that one.
func (c *Converger) runningOrNot(ctx context.Context,
	component clusters.Component,
) (running, killed []nodes.Node, err error) {
	binary, only := component.Plane()
	for plane, n := range c.ControlPlanes() {
		if only >= 0 && only != plane {
			continue
		}
		_, stopped, err := manifestOf(ctx, n, binary)
		switch {
		case err != nil:
			return nil, nil, err
		case stopped:
			killed = append(killed, n)
		default:
			running = append(running, n)
		}
	}
	return running, killed, nil
}

// Restart stops a component if it runs, starts it unchanged, and waits for it. It restarts running instances on one
// control plane after the other, so that the others keep serving. It starts killed instances together, because one
// etcd waits for others.
func (c *Converger) Restart(ctx context.Context, component clusters.Component) error {
	if component == clusters.Kubelet {
		return c.apply(ctx, &nodeChange{node: c.ControlPlane(), kubelet: &kubeletChange{state: c.Record.State()}})
	}
	if !isStatic(component) {
		return fmt.Errorf("restart %s: only kubelet, etcd and %v can be restarted on kind", component,
			clusters.ControlPlane())
	}
	running, killed, err := c.runningOrNot(ctx, component)
	if err != nil {
		return err
	}
	if len(running)+len(killed) == 0 {
		return fmt.Errorf("restart %s: the cluster has %d control planes", component, len(c.ControlPlanes()))
	}
	component = component.Binary()
	number := c.Record.NextRestart()
	starting, startingCtx := errgroup.WithContext(ctx)
	for _, n := range killed {
		starting.Go(func() error { return c.restartOn(startingCtx, n, component, number, endedWith(component)...) })
	}
	if err := starting.Wait(); err != nil {
		return err
	}
	for _, n := range running {
		if err := c.restartOn(ctx, n, component, number); err != nil {
			return err
		}
	}
	switch {
	case component == clusters.APIServer:
		if _, err := c.noteKilled(ctx); err != nil {
			return err
		}
		return c.Dns.Current(ctx)
	case settings.Elected(component):
		return c.Led(ctx, c.Record.State())
	}
	return nil
}

// Rediscover restarts kube-controller-manager: no signal makes it look for new kinds. A killed one discovers them
// when it is started.
func (c *Converger) Rediscover(ctx context.Context) error {
	if _, killed, err := c.runningOrNot(ctx, clusters.ControllerManager); err != nil || len(killed) > 0 {
		return err
	}
	return c.Restart(ctx, clusters.ControllerManager)
}

// endedWith returns the components that are restarted when a killed component is started. An API server that has lost
// its etcd delays requests for a minute, and kubelet sends it two requests before it starts anything.
func endedWith(killed clusters.Component) []clusters.Component {
	if killed == clusters.Etcd {
		return []clusters.Component{clusters.APIServer}
	}
	return nil
}

// restartOn changes only an annotation of the manifest: kubelet recreates a pod whose manifest has changed. It
// restarts the other components, too.
func (c *Converger) restartOn(ctx context.Context, n nodes.Node, component clusters.Component, number int,
	others ...clusters.Component,
) error {
	text, _, err := manifestOf(ctx, n, component)
	if err != nil {
		return err
	}
	pod, err := staticpods.Parse(component, text)
	if err != nil {
		return err
	}
	pod.Annotate("rehearse.dev/restart", fmt.Sprint(number))
	manifest, err := pod.Render()
	if err != nil {
		return err
	}
	replacements := []*replacement{{component: component, manifest: manifest, proves: anything}}
	for _, other := range others {
		replacements = append(replacements, &replacement{component: other, proves: anything})
	}
	return c.apply(ctx, &nodeChange{node: n, replacements: replacements})
}

// anything accepts any metrics: only the start time shows that a component is the new one.
func anything([]byte) error { return nil }

func isStatic(component clusters.Component) bool {
	switch component.Binary() {
	case clusters.APIServer, clusters.ControllerManager, clusters.Scheduler, clusters.Etcd:
		return true
	}
	return false
}
