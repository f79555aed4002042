package storage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// writer is a cluster with these writes.
type writer struct {
	clusters.Cluster
	written map[int64][]string
	err     error
}

func (w writer) Written(_ context.Context, after, upTo int64) (map[int64][]string, error) {
	if after != 1 || upTo != 9 {
		return nil, fmt.Errorf("asked for %d to %d", after, upTo)
	}
	return w.written, w.err
}

// A revision is left out only if its key is certainly of another resource.
func TestWrites(t *testing.T) {
	w := writer{written: map[int64][]string{
		2: {"/registry/pods/x/web"},
		3: {"/registry/services/specs/x/web"},
		4: {"/registry/services/endpoints/x/web"},
		5: {"/registry/example.com/pods/x/web"},
		6: {"/registry/deployments/x/web"},
		7: {"compact_rev_key"},
		8: {"/registry/leases/x/a", "/registry/fromthefuture/x/web"},
	}}
	for resource, want := range map[schema.GroupResource]string{
		{Resource: "pods"}:                                 "[2 8]",
		{Resource: "services"}:                             "[3 8]",
		{Resource: "endpoints"}:                            "[4 8]",
		{Group: "example.com", Resource: "pods"}:           "[2 5 8]",
		{Group: "example.com", Resource: "widgets"}:        "[8]",
		{Group: "extensions", Resource: "deployments"}:     "[6 8]",
		{Group: "apps", Resource: "deployments"}:           "[6 8]",
		{Group: "coordination.k8s.io", Resource: "leases"}: "[8]",
	} {
		got, err := Writes(w)(t.Context(), resource, 1, 9)
		golden.Must(t, err)
		slices.Sort(got)
		if fmt.Sprint(got) != want {
			t.Errorf("%s: revisions %v, want %s", resource, got, want)
		}
	}
	w.err = errors.New("compacted")
	if _, err := Writes(w)(t.Context(), schema.GroupResource{Resource: "pods"}, 1, 9); !errors.Is(err, w.err) {
		t.Errorf("got %v, want the error of the cluster", err)
	}
	if Writes(struct{ clusters.Cluster }{}) != nil {
		t.Error("a cluster that cannot be asked has no writes")
	}
}
