package nodes

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
)

// client deletes a pod as kubelets do: the one that is being deleted, never another one of its name. kwok deletes
// whatever has the name (v0.8.0), so a repeated deletion would end the pod that replaced the first one.
type client struct{ kubernetes.Interface }

// CoreV1 implements kubernetes.Interface.
func (c client) CoreV1() corev1client.CoreV1Interface { return coreClient{c.Interface.CoreV1()} }

type coreClient struct{ corev1client.CoreV1Interface }

// Pods implements corev1client.CoreV1Interface.
func (c coreClient) Pods(namespace string) corev1client.PodInterface {
	return podClient{c.CoreV1Interface.Pods(namespace)}
}

type podClient struct{ corev1client.PodInterface }

// Delete implements corev1client.PodInterface.
func (p podClient) Delete(ctx context.Context, name string, options metav1.DeleteOptions) error {
	var pod *corev1.Pod
	err := wait.PollUntilContextCancel(ctx, retryEvery, true, func(ctx context.Context) (bool, error) {
		var err error
		pod, err = p.Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return false, err
		}
		return err == nil, nil // kwok would drop the deletion
	})
	if err != nil {
		return fmt.Errorf("read the pod before its end: %w", err)
	}
	if pod.DeletionTimestamp == nil {
		return nil // it is the next pod of this name
	}
	options.Preconditions = &metav1.Preconditions{UID: &pod.UID}
	return p.PodInterface.Delete(ctx, name, options)
}
