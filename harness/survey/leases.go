package survey

import (
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/clusters/pauses"
)

// takeOver is how long a new leader may take after the old one's lease has expired. longestLease is the longest lease
// that a survey waits for. lookAgain is the pause between two checks.
const (
	takeOver     = 30 * time.Second
	longestLease = 2 * time.Minute
	lookAgain    = 250 * time.Millisecond
)

// lease is a Lease that a leader renews.
type lease struct {
	name, holder, renewed string
	lasts                 time.Duration
}

// renewedSince reports whether the old holder or a new one has renewed the lease since it was read before.
func (l lease) renewedSince(before lease) bool { return l.holder != "" && l.renewed != before.renewed }

// awaitLeaders returns when the leaders of the mark have renewed their leases, or others have taken them over: a new
// manager does nothing before that. If a lease is not renewed, the wait ends soon after the lease has expired.
func awaitLeaders(ctx context.Context, read func(context.Context) ([]lease, error), since Mark) error {
	if len(since.leases) == 0 {
		return nil
	}
	began := time.Now()
	first, err := read(ctx)
	if err != nil {
		return err
	}
	for now := first; ; {
		left := slices.DeleteFunc(slices.Clone(since.leases), func(l lease) bool {
			at := slices.IndexFunc(first, func(o lease) bool { return o.name == l.name })
			is := slices.IndexFunc(now, func(o lease) bool { return o.name == l.name })
			return at < 0 || is < 0 || now[is].renewedSince(first[at]) || time.Since(began) > l.lasts+takeOver
		})
		if len(left) == 0 {
			return nil
		}
		if !pauses.For(ctx, lookAgain) {
			return context.Cause(ctx)
		}
		if now, err = read(ctx); err != nil {
			return err
		}
	}
}

// elections is the Lease of the API server that elects the leaders of other components (CoordinatedLeaderElection).
// Its holder changes only Leases. If an API server does not have the feature, no component takes the Lease over.
const elections = "kube-system/leader-election-controller"

// ofLeader reports whether a Lease is that of a leader, not the heartbeat of a node or an API server.
func ofLeader(o *unstructured.Unstructured) bool {
	_, ofServer := o.GetLabels()["apiserver.kubernetes.io/identity"]
	return !ofServer && o.GetNamespace() != "kube-node-lease" && o.GetNamespace()+"/"+o.GetName() != elections
}

// leases reads the Leases of leaders, except given objects.
func (s *Survey) leases(ctx context.Context) ([]lease, error) {
	list, err := s.client.Resource(schema.GroupVersionResource{
		Group: "coordination.k8s.io", Version: "v1", Resource: "leases",
	}).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("read the leases of leaders: %w", err)
	}
	given := make(map[string]bool, len(s.targets))
	for _, t := range s.targets {
		given[t.UID] = true
	}
	var all []lease
	for i := range list.Items {
		o := &list.Items[i]
		if ofLeader(o) && !given[string(o.GetUID())] {
			all = append(all, leaseOf(o))
		}
	}
	return all, nil
}

func leaseOf(o *unstructured.Unstructured) lease {
	l := lease{name: o.GetNamespace() + "/" + o.GetName()}
	l.holder, _, _ = unstructured.NestedString(o.Object, "spec", "holderIdentity")
	l.renewed, _, _ = unstructured.NestedString(o.Object, "spec", "renewTime")
	seconds, _, _ := unstructured.NestedInt64(o.Object, "spec", "leaseDurationSeconds")
	l.lasts = min(time.Duration(seconds)*time.Second, longestLease)
	return l
}

// held are the leases that have a holder and have not expired.
func held(all []lease, now time.Time) []lease {
	return slices.DeleteFunc(all, func(l lease) bool {
		renewed, err := time.Parse(metav1.RFC3339Micro, l.renewed)
		age := now.Sub(renewed)
		return l.holder == "" || err != nil || age > l.lasts || age < -l.lasts
	})
}
