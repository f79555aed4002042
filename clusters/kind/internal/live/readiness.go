package live

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/nodes"
)

// Usable waits for everything that a scenario may rely on in a state. It waits only for the API servers on the given
// control planes.
func (c *Cluster) Usable(ctx context.Context, state clusters.State, planes []nodes.Node) error {
	if err := c.Await(ctx, "the API server", readyOn(c, planes)); err != nil {
		return err
	}
	waiting, waitingCtx := errgroup.WithContext(ctx)
	waiting.Go(func() error {
		if err := c.Await(waitingCtx, "the nodes", nodesReady(c, planes)); err != nil {
			return err
		}
		return c.Await(waitingCtx, "CoreDNS", dnsComes(c, dnsPatience))
	})
	waiting.Go(func() error { return c.Await(waitingCtx, "the default ServiceAccount", accountReady(c.Client)) })
	waiting.Go(func() error { return c.Led(waitingCtx, state) })
	return waiting.Wait()
}

// APIReady returns nil if every API server is ready, and one is reached through the load balancer.
func (c *Cluster) APIReady(ctx context.Context) error { return readyOn(c, c.ControlPlanes())(ctx) }

// readyOn checks whether the API servers of some control planes are ready, and any through the load balancer.
func readyOn(c *Cluster, planes []nodes.Node) func(context.Context) error {
	return func(ctx context.Context) error {
		for _, n := range planes {
			if err := c.Server(n).Ready(ctx); err != nil {
				return fmt.Errorf("%s: %w", n.Name, err)
			}
		}
		if len(planes) == 1 && len(c.ControlPlanes()) == 1 {
			return nil // there is no load balancer
		}
		return c.API.Ready(ctx)
	}
}

// Ready checks more than /readyz promises: requests are answered, Services get addresses, and roles are known.
func (a *Server) Ready(ctx context.Context) error {
	if _, err := a.Get(ctx, "/readyz?verbose"); err != nil {
		return err
	}
	if _, err := a.Client.CoreV1().Services(metav1.NamespaceDefault).Get(ctx, "kubernetes",
		metav1.GetOptions{}); err != nil {
		return err
	}
	return a.rolesKnown(ctx)
}

// rolesKnown checks whether the API server knows the roles that give other clients their rights. We need no role.
func (a *Server) rolesKnown(ctx context.Context) error {
	const user = "system:kube-scheduler"
	review, err := a.Client.AuthorizationV1().SubjectAccessReviews().Create(ctx,
		&authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: user, ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "list", Resource: "pods"},
		}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if !review.Status.Allowed {
		return fmt.Errorf("it does not know yet what %s may do", user)
	}
	return nil
}

// nodesReady checks whether the nodes are Ready: all workers and the given control planes, whose kubelets may report
// to their own API servers.
func nodesReady(c *Cluster, planes []nodes.Node) func(context.Context) error {
	down := map[string]bool{}
	for _, n := range c.ControlPlanes() {
		down[n.NodeName] = !slices.Contains(planes, n)
	}
	return func(ctx context.Context) error {
		list, err := c.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		if len(list.Items) < len(c.Nodes) {
			return fmt.Errorf("%d of %d have joined", len(list.Items), len(c.Nodes))
		}
		for _, n := range list.Items {
			if why := NotReady(n.Status.Conditions); why != "" && !down[n.Name] {
				return fmt.Errorf("%s is not Ready: %s", n.Name, why)
			}
		}
		return nil
	}
}

// NotReady returns why a node is not Ready; "" if it is.
func NotReady(conditions []corev1.NodeCondition) string {
	for _, condition := range conditions {
		if condition.Type != corev1.NodeReady {
			continue
		}
		if condition.Status == corev1.ConditionTrue {
			return ""
		}
		return strings.TrimSpace(condition.Reason + " " + condition.Message)
	}
	return "it has not reported it yet"
}

func accountReady(client kubernetes.Interface) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := client.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
		return err
	}
}

func IsReady(pod corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// Answers checks once whether the API servers of some control planes answer, and one through the load balancer.
func (c *Cluster) Answers(ctx context.Context, planes ...nodes.Node) error {
	ctx, cancel := context.WithTimeout(ctx, OneLook)
	defer cancel()
	return readyOn(c, planes)(ctx)
}

// OneLook is how long a single check of a component may take.
const OneLook = 10 * time.Second
