package convergence

import (
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/live"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/nodes"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/staticpods"
)

// settled waits until kubelet has reported the new pods to the API server, and they are Ready. The system's pods in
// the API are then those that run. check examines the manifests that run.
func (c *Converger) settled(ctx context.Context, check func(*staticpods.Pod) error) error {
	for _, n := range c.ControlPlanes() {
		if err := c.settledOn(ctx, n, check); err != nil {
			return err
		}
	}
	return nil
}

func (c *Converger) settledOn(ctx context.Context, n nodes.Node, check func(*staticpods.Pod) error) error {
	for _, component := range clusters.ControlPlane() {
		text, stopped, err := manifestOf(ctx, n, component)
		switch {
		case err != nil:
			return err
		case stopped:
			continue // it was killed, and the transition stopped before its control plane
		}
		manifest, err := staticpods.Parse(component, text)
		if err != nil {
			return err
		}
		if err := check(manifest); err != nil {
			return fmt.Errorf("the manifest on %s: %w", n.NodeName, err)
		}
		err = c.Await(ctx, "the pod of "+string(component)+c.On(n), func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, live.OneLook)
			defer cancel()
			pod, err := c.Client.CoreV1().Pods(metav1.NamespaceSystem).Get(ctx, string(component)+"-"+n.NodeName,
				metav1.GetOptions{})
			switch {
			case err != nil:
				return err
			case pod.Spec.Containers[0].Image != manifest.Image() ||
				strings.Join(pod.Spec.Containers[0].Command, " ") != strings.Join(manifest.Command(), " "):
				return errors.Join(errors.New("the API server knows the one before"), c.forget(ctx, pod))
			case !live.IsReady(*pod):
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

// forget deletes the API server's copy of a static pod that no longer exists, so that kubelet creates the new one.
// Kubelet does so itself. But if an API server that did not know kubelet's rights yet rejected it, kubelet retries
// only after a minute.
func (c *Converger) forget(ctx context.Context, pod *corev1.Pod) error {
	now := int64(0)
	err := c.Client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name,
		metav1.DeleteOptions{GracePeriodSeconds: &now, Preconditions: &metav1.Preconditions{UID: &pod.UID}})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}
