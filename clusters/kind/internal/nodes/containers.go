package nodes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/kind/pkg/cluster/constants"

	"github.com/rehearse-dev/rehearse/clusters/kind/engine"
	"github.com/rehearse-dev/rehearse/clusters/processes"
	"github.com/rehearse-dev/rehearse/clusters/scratch"
)

// ClusterLabel is the label of kind's containers. Its value is the name of the cluster.
const ClusterLabel = "io.x-k8s.kind.cluster"

// BalancerRole is kind's role of the load balancer before several API servers.
const BalancerRole = constants.ExternalLoadBalancerNodeRoleValue

// Container is the container of a node, or of the load balancer before the API servers, as the engine describes it.
type Container struct {
	Name, Role string
	Running    bool
}

// Own lists our containers of a cluster: kind's label names the cluster, and our folder is mounted. A load balancer
// has no mounts: it is ours unless the cluster has a node that is not ours.
func Own(ctx context.Context, e *engine.Engine, name, dir string) ([]Container, error) {
	out, err := e.Output(ctx, "ps", "--all", "--quiet", "--no-trunc", "--filter", "label="+ClusterLabel+"="+name)
	if err != nil {
		return nil, fmt.Errorf("look for the nodes of cluster %s: %w", name, err)
	}
	var own, balancers []Container
	foreign := false
	for _, id := range strings.Fields(out) {
		text, err := e.Output(ctx, "inspect", "--type", "container", "--format",
			`{{.Name}}|{{.State.Running}}|{{index .Config.Labels "io.x-k8s.kind.role"}}|{{range .Mounts}}{{.Source}}|{{end}}`,
			id)
		if err != nil {
			var failed *engine.Error
			if errors.As(err, &failed) && strings.Contains(strings.ToLower(failed.Said), "no such") {
				continue // removed meanwhile
			}
			return nil, fmt.Errorf("look for the nodes of cluster %s: %w", name, err)
		}
		fields := strings.Split(text, "|")
		found := Container{Name: strings.TrimPrefix(fields[0], "/"), Role: fields[2], Running: fields[1] == "true"}
		switch {
		case found.Role == BalancerRole:
			balancers = append(balancers, found)
		case slices.ContainsFunc(fields[3:],
			func(source string) bool { return samePath(source, filepath.Join(dir, FilesDir)) }):
			own = append(own, found)
		default:
			foreign = true
		}
	}
	if !foreign {
		own = append(own, balancers...)
	}
	return own, nil
}

func samePath(a, b string) bool {
	if a == b {
		return true
	}
	real, err := filepath.EvalSymlinks(b)
	return err == nil && a == real
}

// Taken reports whether kind has a cluster of that name, ours or not.
func Taken(ctx context.Context, e *engine.Engine, name string) (bool, error) {
	out, err := e.Output(ctx, "ps", "--all", "--quiet", "--filter", "label="+ClusterLabel+"="+name)
	if err != nil {
		return false, fmt.Errorf("look for kind clusters: %w", err)
	}
	return out != "", nil
}

// removeAttempts is how often a removal is tried: an interrupted engine may still be busy.
const removeAttempts = 3

// RemoveTimeout is the timeout for the removal of containers after an interrupt, because the engine may hang.
const RemoveTimeout = time.Minute

// Remove removes a cluster's containers with their volumes, and its folder.
func Remove(ctx context.Context, e *engine.Engine, name, dir string) error {
	if err := RemoveContainers(ctx, e, name, dir); err != nil {
		return err
	}
	if err := removeVolumes(ctx, e, name); err != nil {
		return err
	}
	// Systems run as processes beside the containers.
	if err := processes.EndOwned(scratch.Owner(dir)); err != nil {
		return fmt.Errorf("end the processes of cluster %s: %w", name, err)
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("remove the folder of cluster %s: %w", name, err)
	}
	return nil
}

func RemoveContainers(ctx context.Context, e *engine.Engine, name, dir string) error {
	var last error
	for range removeAttempts {
		nodes, err := Own(ctx, e, name, dir)
		if err != nil {
			return err
		}
		if len(nodes) == 0 {
			return nil
		}
		args := []string{"rm", "--force", "--volumes"}
		for _, node := range nodes {
			args = append(args, node.Name)
		}
		if _, last = e.Output(ctx, args...); last == nil {
			continue
		}
		if ctx.Err() != nil {
			break
		}
		for _, node := range nodes {
			last = errors.Join(last, thaw(ctx, e, node.Name))
		}
	}
	left, err := Own(ctx, e, name, dir)
	switch {
	case err == nil && len(left) == 0:
		return nil
	case err == nil && last == nil:
		err = fmt.Errorf("the container engine reported success, but %d of them are left", len(left))
	}
	return fmt.Errorf("remove the nodes of cluster %s: %w", name, errors.Join(last, err))
}

// thawScript thaws all frozen cgroups of one container.
const thawScript = `[ -d /cgroup/freezer ] || exit 0
for state in $(find /cgroup/freezer -path "*$1*" -name freezer.state); do
  if [ "$(cat "$state")" != THAWED ]; then echo THAWED > "$state"; fi
done`

// thaw thaws the processes of a container that a killed program froze. With cgroup v1 a frozen process cannot be
// killed, so the node cannot be removed. With cgroup v2 there is nothing to do.
func thaw(ctx context.Context, e *engine.Engine, name string) error {
	text, err := e.Output(ctx, "inspect", "--type", "container", "--format", "{{.Id}} {{.Image}}", name)
	id, image, found := strings.Cut(text, " ")
	if err != nil || !found {
		return nil // it is gone, or unknown: the next attempt reports that
	}
	_, err = e.Output(ctx, "run", "--rm", "--privileged", "--network", "none", "--volume", "/sys/fs/cgroup:/cgroup",
		"--entrypoint", "sh", image, "-euc",
		thawScript, "sh", id)
	return err
}

// FilesDir is the part of a cluster's folder that is mounted into its nodes.
const FilesDir = "node"
