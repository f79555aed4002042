package existing

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"

	authorization "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/rehearse-dev/rehearse/clusters"
)

// reachTimeout is the timeout for the first answer of a cluster.
const reachTimeout = 10 * time.Second

// Reach checks that the kubeconfig's user may create namespaces, which every scenario needs.
func (p *Provider) Reach(ctx context.Context) error {
	client, err := kubernetes.NewForConfig(p.rest)
	if err != nil {
		return fmt.Errorf("make a client for cluster %s: %w", p.name, err)
	}
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	review, err := client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorization.SelfSubjectAccessReview{
		Spec: authorization.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorization.ResourceAttributes{
			Verb:     "create",
			Resource: "namespaces",
		}},
	}, metav1.CreateOptions{})
	const advice = "name a kubeconfig and a context with the credentials of an administrator: --kubeconfig, --context"
	switch {
	case apierrors.IsUnauthorized(err) || apierrors.IsForbidden(err):
		return fmt.Errorf("cluster %s at %s does not accept the credentials of the kubeconfig: %w; %s", p.name, p.rest.Host,
			err, advice)
	case apierrors.IsNotFound(err): // an API server without authorization
		return nil
	case unanswered(err):
		return fmt.Errorf("cluster %s at %s: %w: %w", p.name, p.rest.Host, clusters.ErrUnreachable, err)
	case err != nil:
		return fmt.Errorf("ask cluster %s at %s for the permissions of the kubeconfig's user: %w",
			p.name, p.rest.Host, err)
	case !review.Status.Allowed:
		return fmt.Errorf("cluster %s at %s does not allow the kubeconfig's user to create namespaces, which every "+
			"scenario needs; %s", p.name, p.rest.Host, advice)
	}
	return nil
}

// unanswered reports whether an error means that no working API server answered. An untrusted certificate does not
// count: it is a mistake in the kubeconfig.
func unanswered(err error) bool {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return status.Status().Code >= 500
	}
	var dial *net.OpError
	var request *url.Error
	return errors.As(err, &dial) || errors.As(err, &request) && request.Timeout() ||
		errors.Is(err, context.DeadlineExceeded)
}
