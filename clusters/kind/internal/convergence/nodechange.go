package convergence

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/diagnosis"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/images"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/nodes"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/staticpods"
)

// nodeChange is a change of one node that is made while its kubelet is stopped.
type nodeChange struct {
	node         nodes.Node
	replacements []*replacement
	// kubelet's own change; nil for none.
	kubelet *kubeletChange
	// early marks a change before that of the API servers: its components need not be ready yet.
	early bool
}

// changeNode brings components of a node to a state, together, and waits for them. It does not touch components that
// are in that state already.
func (c *changer) changeNode(ctx context.Context, n nodes.Node, state clusters.State, bin images.Artifacts,
	components ...clusters.Component,
) error {
	change, err := c.planNode(ctx, n, state, bin, components...)
	if err != nil {
		return err
	}
	return c.apply(ctx, change)
}

// planNode returns the change that brings components of a node to a state.
func (c *changer) planNode(ctx context.Context, n nodes.Node, state clusters.State, bin images.Artifacts,
	components ...clusters.Component,
) (*nodeChange, error) {
	change := &nodeChange{node: n}
	for _, component := range components {
		if component == clusters.Kubelet {
			kubelet, err := c.planKubelet(ctx, n, state, bin)
			if err != nil {
				return nil, err
			}
			if kubelet != nil {
				c.Say("restarting kubelet on %s", n.NodeName)
			}
			change.kubelet = kubelet
			continue
		}
		r, err := c.plan(ctx, n, component, state)
		if err != nil {
			return nil, err
		}
		if r != nil {
			c.Say("replacing %s%s", component, c.On(n))
			change.replacements = append(change.replacements, r)
		}
	}
	return change, nil
}

// apply makes the change, and waits until each component proves that it is the new one.
func (c *changer) apply(ctx context.Context, change *nodeChange) error {
	if err := c.begin(ctx, change); err != nil {
		return err
	}
	return c.awaitChange(ctx, change)
}

// begin makes the change. Before that it records when the components started.
func (c *changer) begin(ctx context.Context, change *nodeChange) error {
	if len(change.replacements) == 0 && change.kubelet == nil {
		return nil
	}
	end := change.ended()
	for _, component := range end {
		if component != clusters.Etcd &&
			!slices.ContainsFunc(change.replacements, func(r *replacement) bool { return r.component == component }) {
			change.replacements = append(change.replacements, &replacement{component: component, proves: anything})
		}
	}
	looks, looking := errgroup.WithContext(ctx)
	for _, r := range change.replacements {
		looks.Go(func() (err error) {
			if r.earlier, err = diagnosis.StartsOf(looking, change.node, r.component); err != nil {
				return fmt.Errorf("look at the logs of %s: %w", r.component, err)
			}
			r.startedBefore = c.StartedAt(looking, r.component, change.node)
			return nil
		})
	}
	if change.kubelet != nil {
		looks.Go(func() error {
			change.kubelet.startedBefore = c.StartedAt(looking, clusters.Kubelet, change.node)
			return nil
		})
	}
	if err := looks.Wait(); err != nil {
		return err
	}
	return change.make(ctx, end)
}

// ended returns the components that the change kills. A kubelet of another version treats every static pod as
// changed, and would end them all anyway, at different times.
func (change *nodeChange) ended() []clusters.Component {
	if change.kubelet != nil && change.kubelet.programs != nil && change.node.ControlPlane {
		return append(clusters.ControlPlane(), clusters.Etcd)
	}
	var end []clusters.Component
	for _, r := range change.replacements {
		end = append(end, r.component)
	}
	return end
}

// stagingFolder of a node holds the files of a change until kubelet is stopped. Kubelet does not read it.
const stagingFolder = "/etc/kubernetes/rehearse-staged"

// changeScript moves staged files to their places ($1 to $2, and so on), up to a "--", and kills components. Kubelet
// is stopped meanwhile, because it would restart them. A kubelet that starts finds only the new manifest; a running
// one would take ten seconds to see that the old pod is gone. Kubelet is started again in any case. The script prints
// where the journal ends after the old kubelet has stopped.
const changeScript = `stopped="$1"
shift
trap "systemctl reset-failed kubelet || true; systemctl start kubelet" EXIT
systemctl stop kubelet
journalctl --sync || true
journalctl --lines 1 --output cat --show-cursor --no-pager | tail -n 1
while [ "$1" != -- ]; do
  mv -f "$1" "$2"
  rm -f "$stopped/$(basename "$2")"
  shift 2
done
shift
for component in "$@"; do pkill -KILL -f "^([^ ]*/)?$component " || true; done`

// make brings the files into the node, and then makes the change.
func (change *nodeChange) make(ctx context.Context, end []clusters.Component) error {
	n := change.node
	files, err := change.files()
	if err != nil {
		return err
	}
	defer closeAll(files)
	args := []string{staticpods.StoppedFolder}
	staging, stagingCtx := errgroup.WithContext(ctx)
	for i, file := range files {
		staged := fmt.Sprintf("%s/%d", stagingFolder, i)
		staging.Go(func() error { return n.Write(stagingCtx, staged, file.content, file.mode) })
		args = append(args, staged, file.path)
	}
	if err := staging.Wait(); err != nil {
		return err
	}
	args = append(args, "--")
	for _, component := range end {
		args = append(args, string(component))
	}
	out, err := n.Shell(ctx, changeScript, args...)
	if err != nil {
		return fmt.Errorf("change what runs on %s: %w", n.Name, err)
	}
	if change.kubelet != nil {
		_, change.kubelet.cursor, _ = strings.Cut(strings.TrimSpace(out), "-- cursor: ")
	}
	return nil
}

// nodeFile is a file to write to a node.
type nodeFile struct {
	path, mode string
	content    io.Reader
}

// files returns the files of the change. The caller must close those that are open.
func (change *nodeChange) files() ([]nodeFile, error) {
	var files []nodeFile
	for _, r := range change.replacements {
		if r.manifest != "" {
			files = append(files,
				nodeFile{staticpods.ManifestsFolder + "/" + string(r.component) + ".yaml", "600", strings.NewReader(r.manifest)})
		}
	}
	if change.kubelet == nil {
		return files, nil
	}
	return change.kubelet.files(files)
}

func closeAll(files []nodeFile) {
	for _, file := range files {
		if closer, ok := file.content.(io.Closer); ok {
			_ = closer.Close() // it was only read
		}
	}
}

func (c *changer) awaitChange(ctx context.Context, change *nodeChange) error {
	waiting, waitingCtx := errgroup.WithContext(ctx)
	for _, r := range change.replacements {
		waiting.Go(func() error {
			return c.Await(waitingCtx, "the new "+string(r.component)+c.On(change.node),
				func(ctx context.Context) error { return c.replaced(ctx, change, r) })
		})
	}
	if change.kubelet != nil {
		waiting.Go(func() error {
			return c.Await(waitingCtx, "kubelet on "+change.node.Name,
				func(ctx context.Context) error { return c.kubeletReplaced(ctx, change.node, change.kubelet) })
		})
	}
	return c.blame(ctx, change, waiting.Wait())
}
