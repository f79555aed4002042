package survey

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/harness/canary"
)

// controllersWithin is how long controllers may take to handle an object, even on a busy machine.
const controllersWithin = time.Minute

// workingControllers returns the resources whose controllers handle a new object. The others do not work in this
// cluster.
func workingControllers(ctx context.Context, client dynamic.Interface) []schema.GroupVersionResource {
	ctx, cancel := context.WithTimeout(ctx, controllersWithin)
	defer cancel()
	handled, _ := canary.Handled(ctx, client, canaryName(), canary.Workloads())
	return handled
}

// awaitControllers returns when the controllers that worked at the mark have handled a new object: until then, nothing
// has changed of what the new version will change. It returns an error text if one has not.
func awaitControllers(ctx context.Context, client dynamic.Interface, since Mark) string {
	ctx, cancel := context.WithTimeout(ctx, controllersWithin)
	defer cancel()
	_, late := canary.Handled(ctx, client, canaryName(), since.controllers)
	if len(late) == 0 {
		return ""
	}
	return fmt.Sprintf("the controller of %s has not handled a new object for %s", late[0].GroupResource(),
		controllersWithin)
}

func canaryName() string { return "rehearse-canary-" + rand.String(8) }
