package faults

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/rehearse-dev/rehearse/harness"
)

// emptyTimeout is how long the deletion of leftover pods may take.
const emptyTimeout = time.Minute

// empty deletes the pods of scenarios that have ended, and returns when they are gone. Otherwise they would take the
// room of later pods, and a fault would be blamed for that. Their terminating namespaces may disappear later:
// kube-controller-manager waits for half of the pods' grace period before it checks again.
func empty(ctx context.Context, client kubernetes.Interface) error {
	left := ""
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, emptyTimeout, true, func(ctx context.Context) (bool,
		error,
	) {
		namespaces, err := client.CoreV1().Namespaces().List(ctx, metav1.ListOptions{LabelSelector: harness.ScenarioLabel})
		if err != nil {
			return false, err
		}
		left = ""
		for i := range namespaces.Items {
			n, err := emptyNamespace(ctx, client, &namespaces.Items[i])
			if err != nil {
				return false, err
			}
			if n > 0 {
				left = fmt.Sprintf("%d in namespace %s", n, namespaces.Items[i].Name)
			}
		}
		return left == "", nil
	})
	if err != nil {
		return fmt.Errorf("remove the pods of earlier scenarios (%s left): %w", left, err)
	}
	return nil
}

// emptyNamespace deletes a namespace and its pods, and returns their number.
func emptyNamespace(ctx context.Context, client kubernetes.Interface, namespace *corev1.Namespace) (int, error) {
	if namespace.DeletionTimestamp == nil {
		if err := client.CoreV1().Namespaces().Delete(ctx, namespace.Name, metav1.DeleteOptions{}); err != nil &&
			!apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return 0, err
		}
	}
	pods, err := client.CoreV1().Pods(namespace.Name).List(ctx, metav1.ListOptions{})
	if err != nil {
		return 0, err
	}
	for i := range pods.Items {
		if err := client.CoreV1().Pods(namespace.Name).Delete(ctx, pods.Items[i].Name,
			*metav1.NewDeleteOptions(0)); err != nil && !apierrors.IsNotFound(err) {
			return 0, err
		}
	}
	return len(pods.Items), nil
}
