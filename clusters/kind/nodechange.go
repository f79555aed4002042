package kind

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/rehearse-dev/rehearse/clusters"
)

// nodeChange is what is changed in one node while its kubelet is stopped.
type nodeChange struct {
	node         node
	replacements []*replacement
	// kubelet's own change; nil for none.
	kubelet *kubeletChange
}

// changeNode brings components of a node to a state, together, and waits for them. It does nothing to those that are there.
func (c *Cluster) changeNode(ctx context.Context, n node, state clusters.State, bin artifacts, components ...clusters.Component) error {
	change := nodeChange{node: n}
	for _, component := range components {
		if component == clusters.Kubelet {
			kubelet, err := c.planKubelet(ctx, n, state, bin)
			if err != nil {
				return err
			}
			if kubelet != nil {
				c.provider.Progress("kind cluster %s: restarting kubelet on %s", c.record.Name, n.name)
			}
			change.kubelet = kubelet
			continue
		}
		r, err := c.plan(ctx, component, state)
		if err != nil {
			return err
		}
		if r != nil {
			c.provider.Progress("kind cluster %s: replacing %s", c.record.Name, component)
			change.replacements = append(change.replacements, r)
		}
	}
	return c.apply(ctx, change)
}

// apply makes the change, and waits until each component proves that it is what was meant.
func (c *Cluster) apply(ctx context.Context, change nodeChange) error {
	if len(change.replacements) == 0 && change.kubelet == nil {
		return nil
	}
	end := change.ended()
	for _, component := range end {
		if component != clusters.Etcd && !slices.ContainsFunc(change.replacements, func(r *replacement) bool { return r.component == component }) {
			change.replacements = append(change.replacements, &replacement{component: component, proves: func([]byte) error { return nil }})
		}
	}
	for _, r := range change.replacements {
		var err error
		if r.earlier, err = change.node.starts(ctx, r.component); err != nil {
			return fmt.Errorf("look at the logs of %s: %w", r.component, err)
		}
		r.startedBefore = c.startedAt(ctx, r.component, change.node)
	}
	if change.kubelet != nil {
		change.kubelet.startedBefore = c.startedAt(ctx, clusters.Kubelet, change.node)
	}
	if err := change.make(ctx, end); err != nil {
		return err
	}
	return c.awaitChange(ctx, change)
}

// ended are the components whose processes are ended for the change. A kubelet of another version takes every static pod for a changed one, and
// would end them all by and by.
func (change nodeChange) ended() []clusters.Component {
	if change.kubelet != nil && change.kubelet.programs != nil && change.node.controlPlane {
		return append(clusters.ControlPlane(), clusters.Etcd)
	}
	var end []clusters.Component
	for _, r := range change.replacements {
		end = append(end, r.component)
	}
	return end
}

// endScript ends components at once. It is run while kubelet is stopped, or kubelet would start them again; and a kubelet that starts
// finds only the new manifest, where one that runs would take ten seconds to believe that the old pod is gone.
const endScript = `for component in "$@"; do pkill -KILL -f "^([^ ]*/)?$component " || true; done`

// make changes the files while kubelet is stopped, and has it start again whatever happens meanwhile.
func (change nodeChange) make(ctx context.Context, end []clusters.Component) (err error) {
	n := change.node
	defer func() {
		_, startErr := n.shell(context.WithoutCancel(ctx), "systemctl reset-failed kubelet || true; systemctl start kubelet")
		err = errors.Join(err, startErr)
	}()
	if _, err := n.shell(ctx, "systemctl stop kubelet"); err != nil {
		return fmt.Errorf("stop kubelet on %s: %w", n.name, err)
	}
	for _, r := range change.replacements {
		if r.manifest == "" {
			continue
		}
		name := string(r.component) + ".yaml"
		if err := n.write(ctx, manifestsFolder+"/"+name, strings.NewReader(r.manifest), "600"); err != nil {
			return err
		}
		if _, err := n.shell(ctx, `rm -f "$1"`, stoppedFolder+"/"+name); err != nil {
			return err
		}
	}
	if change.kubelet != nil {
		if err := change.kubelet.write(ctx, n); err != nil {
			return err
		}
	}
	if len(end) == 0 {
		return nil
	}
	names := make([]string, 0, len(end))
	for _, component := range end {
		names = append(names, string(component))
	}
	_, err = n.shell(ctx, endScript, names...)
	return err
}

func (c *Cluster) awaitChange(ctx context.Context, change nodeChange) error {
	waiting, ctx := errgroup.WithContext(ctx)
	for _, r := range change.replacements {
		waiting.Go(func() error {
			return c.await(ctx, "the new "+string(r.component), func(ctx context.Context) error { return c.replaced(ctx, r) })
		})
	}
	if change.kubelet != nil {
		waiting.Go(func() error {
			return c.await(ctx, "kubelet on "+change.node.name, func(ctx context.Context) error { return c.kubeletReplaced(ctx, change.node, change.kubelet) })
		})
	}
	return waiting.Wait()
}
