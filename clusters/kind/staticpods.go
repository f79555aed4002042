package kind

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/proof"
)

// oneLook is how long a single look at a component may take.
const oneLook = 10 * time.Second

// replacement is a component of the control plane that is to be started anew.
type replacement struct {
	component clusters.Component
	// manifest that is to take the place of the one before; "" to leave it.
	manifest string
	// proves says whether metrics are those of the new component.
	proves func(metrics []byte) error
	// earlier are the starts, and startedBefore the start, of the one before.
	earlier       startsByPod
	startedBefore float64
	// sought is when it was last looked whether it fails to start.
	sought time.Time
	// excused are the starts that ended while the API server was away, of components that need it.
	excused int
}

// failureInterval is between two looks at whether a component fails to start: each is a command in the node, which costs more than all else.
const failureInterval = time.Second

// plan says what to replace a component's manifest in a node with; nil when it is as the state wants it.
func (c *Cluster) plan(ctx context.Context, n node, component clusters.Component, state clusters.State) (*replacement, error) {
	current, stopped, err := n.manifest(ctx, component)
	if err != nil {
		return nil, err
	}
	revision := ""
	if component == clusters.Scheduler {
		if revision, err = c.writeSchedulerConfig(state); err != nil {
			return nil, err
		}
	}
	ours := c.oursOf(component)
	before, after, err := desiredManifest(component, current, state, ours, revision)
	if err != nil || before == after && !stopped {
		return nil, err
	}
	return &replacement{component: component, manifest: after, proves: func(metrics []byte) error {
		return proof.Component(metrics, state.Version, state.Gates(component))
	}}, c.remember(component, ours)
}

// replaced is nil once the new component of a node runs and, unless the change is an early one, is ready. That it does not start is an error that is final.
func (c *Cluster) replaced(ctx context.Context, change *nodeChange, r *replacement) error {
	ctx, cancel := context.WithTimeout(ctx, oneLook)
	defer cancel()
	err := c.isNew(ctx, change, r)
	if err == nil || time.Since(r.sought) < failureInterval {
		return err
	}
	r.sought = time.Now()
	if starts, startsErr := change.node.starts(ctx, r.component); startsErr == nil {
		if elected(r.component) && c.answers(ctx) != nil {
			r.excused = starts.ended(r.earlier)
		}
		if failure := starts.failure(r.component, r.earlier, 0, r.excused); failure != nil {
			return final(failure)
		}
	}
	return err
}

// isNew is nil once metrics prove that the new component runs, which serves them only then.
func (c *Cluster) isNew(ctx context.Context, change *nodeChange, r *replacement) error {
	n := change.node
	metrics, err := c.nodeMetrics(ctx, r.component, n)
	if err != nil {
		return err
	}
	if at := startTime(metrics); at == 0 || at == r.startedBefore {
		return errors.New("the one before still runs")
	}
	if err := r.proves(metrics); err != nil {
		return err
	}
	switch r.component {
	case clusters.APIServer:
		return n.api.ready(ctx)
	case clusters.Scheduler:
		if change.early {
			return nil
		}
		_, err := c.get(ctx, string(r.component)+"-"+n.nodeName, 10259, true, "/readyz")
		return err
	case clusters.Etcd:
		return hasLeader(metrics)
	}
	return nil
}

// startedAt is when the component's process started, 0 when it does not say.
func (c *Cluster) startedAt(ctx context.Context, component clusters.Component, n node) float64 {
	ctx, cancel := context.WithTimeout(ctx, oneLook)
	defer cancel()
	metrics, err := c.nodeMetrics(ctx, component, n)
	if err != nil {
		return 0
	}
	return startTime(metrics)
}

// manifest of a component, and whether it was stopped.
func (n node) manifest(ctx context.Context, component clusters.Component) (text string, stopped bool, err error) {
	for _, folder := range []string{manifestsFolder, stoppedFolder} {
		text, err := n.read(ctx, folder+"/"+string(component)+".yaml")
		if err != nil || text != "" {
			return text, folder == stoppedFolder, err
		}
	}
	return "", false, fmt.Errorf("node %s has no manifest of %s", n.name, component)
}

// writeSchedulerConfig writes kube-scheduler's configuration, and returns what to mark its manifest with: nothing while it is what the scheduler was
// created with.
func (c *Cluster) writeSchedulerConfig(state clusters.State) (revision string, err error) {
	config, err := schedulerConfig(state)
	if err != nil {
		return "", err
	}
	path := filepath.Join(c.dir, nodeFilesDir, "scheduler", schedulerConfigName)
	if err := writeFile(path, string(config)); err != nil {
		return "", fmt.Errorf("write the configuration of kube-scheduler: %w", err)
	}
	if revision, err = schedulerRevision(state); err != nil {
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.record.SchedulerRevision == "" && revision == c.record.CreationRevision {
		return "", nil
	}
	c.record.SchedulerRevision = revision
	return revision, nil
}

// schedulerRevision names the content of kube-scheduler's configuration.
func schedulerRevision(state clusters.State) (string, error) {
	config, err := schedulerConfig(state)
	sum := sha256.Sum256(config)
	return hex.EncodeToString(sum[:8]), err
}

// oursOf returns a copy of what is recorded of a component's flags.
func (c *Cluster) oursOf(component clusters.Component) map[string]*string {
	c.mu.Lock()
	defer c.mu.Unlock()
	ours := maps.Clone(c.record.Ours[component])
	if ours == nil {
		ours = map[string]*string{}
	}
	return ours
}

func (c *Cluster) remember(component clusters.Component, ours map[string]*string) error {
	c.mu.Lock()
	c.record.Ours[component] = ours
	c.mu.Unlock()
	return c.save()
}

// settled waits until kubelet has told the API server of the new pods, and they are Ready: who looks at the pods of the system sees what runs.
func (c *Cluster) settled(ctx context.Context) error {
	for _, n := range c.controlPlanes() {
		if err := c.settledOn(ctx, n); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) settledOn(ctx context.Context, n node) error {
	for _, component := range clusters.ControlPlane() {
		text, _, err := n.manifest(ctx, component)
		if err != nil {
			return err
		}
		manifest, err := parseStaticPod(component, text)
		if err != nil {
			return err
		}
		err = c.await(ctx, "the pod of "+string(component)+c.on(n), func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, oneLook)
			defer cancel()
			pod, err := c.client.CoreV1().Pods(metav1.NamespaceSystem).Get(ctx, string(component)+"-"+n.nodeName, metav1.GetOptions{})
			switch {
			case err != nil:
				return err
			case pod.Spec.Containers[0].Image != manifest.image() || strings.Join(pod.Spec.Containers[0].Command, " ") != strings.Join(manifest.command(), " "):
				return errors.Join(errors.New("the API server knows the one before"), c.forget(ctx, pod))
			case !isReady(*pod):
				return fmt.Errorf("it is %s, not Ready", pod.Status.Phase)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// forget removes the API server's copy of a static pod that is there no longer, so that kubelet brings the new one. It does so itself, but where it was
// refused once, by an API server that did not know its rights yet, it tries again only after a minute.
func (c *Cluster) forget(ctx context.Context, pod *corev1.Pod) error {
	now := int64(0)
	err := c.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{GracePeriodSeconds: &now, Preconditions: &metav1.Preconditions{UID: &pod.UID}})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}
