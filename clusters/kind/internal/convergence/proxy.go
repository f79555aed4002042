package convergence

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/retry"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/diagnosis"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/settings"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/staticpods"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/waiting"
)

const (
	proxyName      = "kube-proxy"
	proxyConfigKey = "config.conf"
)

// convergeProxy brings kube-proxy to a state, node by node through its DaemonSet, and waits for the last one.
func (c *Converger) convergeProxy(ctx context.Context, state clusters.State) error {
	revision, err := editConfigMap(ctx, c.Client, "the configuration of kube-proxy", proxyName, proxyConfigKey,
		func(text string) (string, error) { return settings.WithGates(text, state.Gates(clusters.KubeProxy)) })
	if err != nil {
		return err
	}
	set, err := replaceProxy(ctx, c.Client, state.Version, revision)
	if err != nil || set == nil {
		return err
	}
	c.Say("replacing kube-proxy")
	return c.Await(ctx, proxyName, func(ctx context.Context) error { return c.proxyRolledOut(ctx, set.Generation) })
}

// replaceProxy brings the DaemonSet of kube-proxy to a version and to a revision of its ConfigMap. It returns the new
// DaemonSet; nil if it matches already. The DaemonSet records which revision its pods have read, because an earlier
// attempt may have failed after it had changed the ConfigMap.
func replaceProxy(ctx context.Context, client kubernetes.Interface, version, revision string) (
	now *appsv1.DaemonSet, err error,
) {
	sets := client.AppsV1().DaemonSets(metav1.NamespaceSystem)
	// The controller writes the DaemonSet's status at any time, most of all while kubelets are restarted.
	err = retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		set, err := sets.Get(ctx, proxyName, metav1.GetOptions{})
		if err != nil {
			return fmt.Errorf("read the DaemonSet of kube-proxy: %w", err)
		}
		template := &set.Spec.Template
		container := &template.Spec.Containers[0]
		image := container.Image[:strings.LastIndex(container.Image, ":")+1] + settings.ImageTag(version)
		same := revision == "" || revision == template.Annotations[staticpods.RevisionAnnotation]
		if same && image == container.Image {
			return nil
		}
		container.Image = image
		if revision != "" {
			metav1.SetMetaDataAnnotation(&template.ObjectMeta, staticpods.RevisionAnnotation, revision)
		}
		written, err := sets.Update(ctx, set, metav1.UpdateOptions{})
		if err != nil {
			return fmt.Errorf("write the DaemonSet of kube-proxy: %w", err)
		}
		now = written
		return nil
	})
	return now, err
}

func (c *Converger) proxyRolledOut(ctx context.Context, generation int64) error {
	set, err := c.Client.AppsV1().DaemonSets(metav1.NamespaceSystem).Get(ctx, proxyName, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if rolledOut(set, generation) {
		return nil
	}
	pods, err := c.Client.CoreV1().Pods(metav1.NamespaceSystem).List(ctx,
		metav1.ListOptions{LabelSelector: "k8s-app=kube-proxy"})
	if err != nil {
		return err
	}
	for _, pod := range pods.Items {
		if err := c.proxyFailure(ctx, pod); err != nil {
			return waiting.Final(err)
		}
	}
	s := set.Status
	return fmt.Errorf("%d of %d pods are new, %d available", s.UpdatedNumberScheduled, s.DesiredNumberScheduled,
		s.NumberAvailable)
}

func rolledOut(set *appsv1.DaemonSet, generation int64) bool {
	s := set.Status
	return s.ObservedGeneration >= generation && s.UpdatedNumberScheduled == s.DesiredNumberScheduled &&
		s.NumberAvailable == s.DesiredNumberScheduled
}

// proxyFailure returns why a pod of kube-proxy does not start; nil if it does.
func (c *Converger) proxyFailure(ctx context.Context, pod corev1.Pod) error {
	for _, status := range pod.Status.ContainerStatuses {
		ended := status.LastTerminationState.Terminated
		if pod.DeletionTimestamp != nil || status.RestartCount == 0 || status.Ready || ended == nil || ended.ExitCode == 0 {
			continue
		}
		logs, err := c.Client.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name,
			&corev1.PodLogOptions{Previous: true}).Stream(ctx)
		if err != nil {
			return diagnosis.DoesNotStart(clusters.KubeProxy, strings.TrimSpace(ended.Reason+" "+ended.Message))
		}
		text, err := io.ReadAll(logs)
		return errors.Join(diagnosis.DoesNotStart(clusters.KubeProxy, string(text)), err, logs.Close())
	}
	return nil
}
