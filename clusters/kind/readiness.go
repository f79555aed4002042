package kind

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rehearse-dev/rehearse/clusters"
)

const (
	// lookInterval is between two looks at what is awaited.
	lookInterval = 200 * time.Millisecond
	// patience with one thing that is awaited: far more than it takes on a busy machine.
	patience = 5 * time.Minute
	// tellAfter is when a person is told what is awaited, and tellEvery when again.
	tellAfter = 3 * time.Second
	tellEvery = 5 * time.Second
)

// errLate is why a wait ends that took all the patience there is.
var errLate = errors.New("not within " + patience.String())

// await repeats a look until it returns nil. What it is waiting for, and why it is not there yet, is told once it takes long; an error that
// is final ends it at once, and one that came for all our patience is a *lateError.
func (c *Cluster) await(ctx context.Context, what string, look func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errLate)
	defer cancel()
	toTell, told := time.Now().Add(tellAfter), ""
	var last error
	for {
		err := look(ctx)
		if err == nil {
			return nil
		}
		var final *finalError
		if errors.As(err, &final) {
			return final.err
		}
		if ctx.Err() == nil || last == nil {
			last = err
		}
		if text := brief(err); time.Now().After(toTell) && text != told && ctx.Err() == nil {
			c.provider.Progress("kind cluster %s: waiting for %s: %s", c.record.Name, what, text)
			toTell, told = time.Now().Add(tellEvery), text
		}
		select {
		case <-ctx.Done():
			switch cause := context.Cause(ctx); {
			case errors.Is(cause, errLate):
				return &lateError{what, last}
			case errors.Is(cause, context.DeadlineExceeded):
				return fmt.Errorf("%s: still not there when time was up: %w", what, last)
			default:
				return fmt.Errorf("wait for %s: %w", what, cause)
			}
		case <-time.After(lookInterval):
		}
	}
}

var failedCheck = regexp.MustCompile(`\[-\](\S+) failed`)

// brief is an error in one line of a bearable length; of an API server's long list of checks only those that failed.
func brief(err error) string {
	text := err.Error()
	var checks []string
	for _, m := range failedCheck.FindAllStringSubmatch(text, -1) {
		checks = append(checks, m[1])
	}
	if len(checks) > 0 {
		return "not ready yet: " + strings.Join(checks, ", ")
	}
	text, _, _ = strings.Cut(text, "\n")
	if runes := []rune(text); len(runes) > 200 {
		text = string(runes[:200]) + "..."
	}
	return text
}

// finalError is one that waiting longer does not mend.
type finalError struct{ err error }

func (e *finalError) Error() string { return e.err.Error() }

func final(err error) error { return &finalError{err} }

// usable waits for all that a scenario may count on in a state.
func (c *Cluster) usable(ctx context.Context, state clusters.State) error {
	if err := c.await(ctx, "the API server", c.apiReady); err != nil {
		return err
	}
	waiting, waitingCtx := errgroup.WithContext(ctx)
	waiting.Go(func() error {
		if err := c.await(waitingCtx, "the nodes", c.nodesReady); err != nil {
			return err
		}
		return c.await(waitingCtx, "CoreDNS", c.dnsComes(dnsPatience))
	})
	waiting.Go(func() error { return c.await(waitingCtx, "the default ServiceAccount", c.accountReady) })
	waiting.Go(func() error { return c.led(waitingCtx, state) })
	return waiting.Wait()
}

// apiReady looks whether every API server is ready, and is reached by the way that all others go.
func (c *Cluster) apiReady(ctx context.Context) error {
	for _, n := range c.controlPlanes() {
		if err := n.api.ready(ctx); err != nil {
			return fmt.Errorf("%s: %w", n.name, err)
		}
	}
	if len(c.controlPlanes()) == 1 {
		return nil
	}
	return c.api.ready(ctx)
}

// ready looks whether a real request is answered and Services can get addresses: readiness alone promises neither.
func (a *apiServer) ready(ctx context.Context) error {
	if _, err := a.get(ctx, "/readyz?verbose"); err != nil {
		return err
	}
	if _, err := a.client.CoreV1().Services(metav1.NamespaceDefault).Get(ctx, "kubernetes", metav1.GetOptions{}); err != nil {
		return err
	}
	return a.rolesKnown(ctx)
}

// rolesKnown asks whether the API server knows the roles by which others may do what they do. We ourselves need none.
func (a *apiServer) rolesKnown(ctx context.Context) error {
	const user = "system:kube-scheduler"
	review, err := a.client.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
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

func (c *Cluster) nodesReady(ctx context.Context) error {
	list, err := c.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	if len(list.Items) < len(c.nodes) {
		return fmt.Errorf("%d of %d have joined", len(list.Items), len(c.nodes))
	}
	for _, n := range list.Items {
		if why := notReady(n.Status.Conditions); why != "" {
			return fmt.Errorf("%s is not Ready: %s", n.Name, why)
		}
	}
	return nil
}

// notReady says why a node is not Ready, "" when it is.
func notReady(conditions []corev1.NodeCondition) string {
	for _, condition := range conditions {
		if condition.Type != corev1.NodeReady {
			continue
		}
		if condition.Status == corev1.ConditionTrue {
			return ""
		}
		return strings.TrimSpace(condition.Reason + " " + condition.Message)
	}
	return "it has not said so yet"
}

// dnsPatience is how long CoreDNS may take before it is told to begin anew, and again after as long.
const dnsPatience = 5 * time.Second

// dnsComes looks for CoreDNS, and has it begin anew where that takes long: if it asked for the API server before kube-proxy knew the way there, it hears
// nothing of that for half a minute.
func (c *Cluster) dnsComes(patience time.Duration) func(context.Context) error {
	var since time.Time
	return func(ctx context.Context) error {
		err := c.dnsReady(ctx)
		switch {
		case err == nil:
			return nil
		case since.IsZero():
			since = time.Now()
		case time.Since(since) > patience:
			since = time.Now()
			err = errors.Join(err, c.reloadDNS(ctx))
		}
		return err
	}
}

func (c *Cluster) dnsReady(ctx context.Context) error {
	deployment, err := c.client.AppsV1().Deployments(metav1.NamespaceSystem).Get(ctx, "coredns", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if s := deployment.Status; s.AvailableReplicas == 0 {
		return fmt.Errorf("0 of %d pods are available", s.Replicas)
	}
	return nil
}

func (c *Cluster) accountReady(ctx context.Context) error {
	_, err := c.client.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
	return err
}
