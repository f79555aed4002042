package kind

import (
	"context"
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
)

// killScript takes a component's manifest out of kubelet's sight and kills its process, while kubelet is stopped: it would start the process again, or
// end it with a warning.
const killScript = `trap "systemctl start kubelet" EXIT
systemctl stop kubelet
mkdir -p "$2"
mv "$1/$3.yaml" "$2/$3.yaml"
pkill -KILL -f "^([^ ]*/)?$3 "`

// Kill ends a component of the control plane, or etcd, without warning, and leaves it down.
func (c *Cluster) Kill(ctx context.Context, component clusters.Component) error {
	if !isStatic(component) {
		return fmt.Errorf("kill %s: only etcd and %v can be killed on kind", component, clusters.ControlPlane())
	}
	n := c.controlPlane()
	_, stopped, err := n.manifest(ctx, component)
	if err != nil {
		return err
	}
	if stopped {
		return fmt.Errorf("kill %s: it is not running", component)
	}
	if _, err := n.shell(ctx, killScript, manifestsFolder, stoppedFolder, string(component)); err != nil {
		return fmt.Errorf("kill %s: %w", component, err)
	}
	return nil
}

// Restart stops a component if it runs, starts it as it was, and waits for it.
func (c *Cluster) Restart(ctx context.Context, component clusters.Component) error {
	n := c.controlPlane()
	if component == clusters.Kubelet {
		return c.apply(ctx, &nodeChange{node: n, kubelet: &kubeletChange{state: c.State()}})
	}
	if !isStatic(component) {
		return fmt.Errorf("restart %s: only kubelet, etcd and %v can be restarted on kind", component, clusters.ControlPlane())
	}
	text, _, err := n.manifest(ctx, component)
	if err != nil {
		return err
	}
	pod, err := parseStaticPod(component, text)
	if err != nil {
		return err
	}
	// Kubelet replaces a pod whose manifest has changed.
	pod.annotate("rehearse.dev/restart", fmt.Sprint(c.nextRestart()))
	manifest, err := pod.render()
	if err != nil {
		return err
	}
	err = c.apply(ctx, &nodeChange{node: n, replacements: []*replacement{{component: component, manifest: manifest, proves: func([]byte) error { return nil }}}})
	if err != nil || component != clusters.APIServer {
		return err
	}
	return c.dnsCurrent(ctx)
}

func (c *Cluster) nextRestart() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.record.Restarts++
	return c.record.Restarts
}

func isStatic(component clusters.Component) bool {
	switch component {
	case clusters.APIServer, clusters.ControllerManager, clusters.Scheduler, clusters.Etcd:
		return true
	}
	return false
}

// HostAddress is the address of this host by which the nodes reach it: what a server of a scenario's has to listen on. It is the
// gateway of the network that the nodes are in, and no other network's; "" where the nodes cannot reach this host by any.
func (c *Cluster) HostAddress() string { return c.gateway }

func (c *Cluster) findGateway(ctx context.Context) (string, error) {
	out, err := c.engine.Output(ctx, "inspect", "--type", "container", "--format", "{{range .NetworkSettings.Networks}}{{.Gateway}} {{end}}", c.controlPlane().name)
	if err != nil {
		return "", fmt.Errorf("find this host's address in the nodes' network: %w", err)
	}
	gateway, _, _ := strings.Cut(strings.TrimSpace(out), " ")
	return gateway, nil
}
