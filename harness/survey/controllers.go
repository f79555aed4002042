package survey

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/harness/canary"
	"github.com/rehearse-dev/rehearse/harness/writes"
)

// controllersWithin is how long controllers may take to handle an object, even on a busy machine.
const controllersWithin = time.Minute

// workingControllers returns the resources whose controllers handle a new object. The others do not work in this
// cluster.
func workingControllers(ctx context.Context, client dynamic.Interface) []schema.GroupVersionResource {
	ctx, cancel := context.WithTimeout(ctx, controllersWithin)
	defer cancel()
	errs := canary.Handled(ctx, client, canaryName(), canary.Workloads())
	return slices.DeleteFunc(canary.Workloads(), func(r schema.GroupVersionResource) bool { return errs[r] != nil })
}

// awaitControllers returns when the controllers that worked at the mark have handled a new object: until then, nothing
// has changed of what the new version will change. It returns an error text if one has not.
func awaitControllers(ctx context.Context, client dynamic.Interface, since Mark) string {
	ctx, cancel := context.WithTimeout(ctx, controllersWithin)
	defer cancel()
	errs := canary.Handled(ctx, client, canaryName(), since.controllers)
	for _, resource := range since.controllers {
		if err := errs[resource]; err != nil {
			return fmt.Sprintf("the controller of %s has not handled a new object: %s", resource.GroupResource(),
				writes.Words(err))
		}
	}
	return ""
}

func canaryName() string { return "rehearse-canary-" + rand.String(8) }
