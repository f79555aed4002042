package live

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// dnsPatience is how long CoreDNS may take before its configuration is reloaded, and the time until the next reload.
const dnsPatience = 5 * time.Second

// dnsComes checks whether CoreDNS is ready, and reloads its configuration if that takes long. If CoreDNS contacted
// the API server before kube-proxy had set up the route, it gets no answer for half a minute.
func dnsComes(c *Cluster, patience time.Duration) func(context.Context) error {
	var since time.Time
	return func(ctx context.Context) error {
		err := c.DNSReady(ctx)
		switch {
		case err == nil:
			return nil
		case since.IsZero():
			since = time.Now()
		case time.Since(since) > patience:
			since = time.Now()
			err = errors.Join(err, c.ReloadDNS(ctx))
		}
		return err
	}
}

func (c *Cluster) DNSReady(ctx context.Context) error {
	deployment, err := c.Client.AppsV1().Deployments(metav1.NamespaceSystem).Get(ctx, "coredns", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if s := deployment.Status; s.AvailableReplicas == 0 {
		return fmt.Errorf("0 of %d pods are available", s.Replicas)
	}
	return nil
}

// DNSPods returns the ready pods of CoreDNS, at least one.
func (c *Cluster) DNSPods(ctx context.Context) ([]string, error) {
	list, err := c.Client.CoreV1().Pods(metav1.NamespaceSystem).List(ctx,
		metav1.ListOptions{LabelSelector: "k8s-app=kube-dns"})
	if err != nil {
		return nil, err
	}
	var ready []string
	for _, pod := range list.Items {
		if pod.DeletionTimestamp == nil && IsReady(pod) {
			ready = append(ready, pod.Name)
		}
	}
	if len(ready) == 0 {
		return nil, fmt.Errorf("none of %d pods of CoreDNS is ready", len(list.Items))
	}
	return ready, nil
}

// ReloadDNS makes every CoreDNS reload its configuration, without interrupting its service.
func (c *Cluster) ReloadDNS(ctx context.Context) error {
	for _, n := range c.Nodes {
		if _, err := n.Shell(ctx, "pkill -USR1 -x coredns || true"); err != nil {
			return err
		}
	}
	return nil
}
