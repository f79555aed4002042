package survey

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/harness/canary"
)

// undisturbed is how long controllers may take to handle an object while nothing disturbs the cluster. restarted is how
// long they may take after a transition, even on a busy machine.
const (
	undisturbed = 5 * time.Second
	restarted   = time.Minute
)

// workingControllers returns the resources whose controllers handle a new object. There are none in a cluster without
// the ConfigMap that each controller-manager maintains.
func workingControllers(ctx context.Context, client dynamic.Interface) []schema.GroupVersionResource {
	ctx, cancel := context.WithTimeout(ctx, undisturbed)
	defer cancel()
	_, err := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).
		Namespace(metav1.NamespaceSystem).Get(ctx, "kube-root-ca.crt", metav1.GetOptions{})
	if err != nil {
		return nil
	}
	handled, _ := canary.Handled(ctx, client, canaryName(), canary.Workloads())
	return handled
}

// awaitControllers returns when the controllers that worked at the mark have handled a new object: until then, nothing
// has changed of what the new version will change. It returns an error text if one has not.
func awaitControllers(ctx context.Context, client dynamic.Interface, since Mark) string {
	ctx, cancel := context.WithTimeout(ctx, restarted)
	defer cancel()
	_, late := canary.Handled(ctx, client, canaryName(), since.controllers)
	if len(late) == 0 {
		return ""
	}
	return fmt.Sprintf("the controller of %s has not handled a new object for %s", late[0].GroupResource(), restarted)
}

func canaryName() string { return "rehearse-canary-" + rand.String(8) }
