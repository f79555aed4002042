package readback

import (
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/clusters/pauses"
	"github.com/rehearse-dev/rehearse/harness/history"
)

// Source is where the objects are read from.
type Source struct {
	Client dynamic.NamespaceableResourceInterface
	// Stream has the deletions since change number Since; nil if there was no watch. Then it is unknown whether an object
	// that is not there is lost or was deleted. The same is true if the watch may have missed a change since Began.
	Stream *history.Stream
	Since  int64
	Began  time.Time
}

// unseen returns why the watch may have missed a deletion; "" if it has not. If the storage went back to an earlier
// state, what is gone is lost.
func (s Source) unseen() string {
	for _, gap := range s.gaps() {
		if ended := !gap.To.IsZero(); ended && (!gap.Relisted || gap.WentBack) {
			continue
		}
		return fmt.Sprintf("the watch was interrupted and may have missed a deletion (%v)", gap.Err)
	}
	return ""
}

// wentBack reports whether the storage went back to an earlier state since the load began. Then the watch may never
// reach a version that was acknowledged.
func (s Source) wentBack() bool {
	return slices.ContainsFunc(s.gaps(), func(gap history.Gap) bool { return gap.WentBack })
}

// gaps are the times since the load began during which the watch was not connected. It had caught up when the load
// began, so what was before does not matter.
func (s Source) gaps() []history.Gap {
	return slices.DeleteFunc(s.Stream.Gaps(), func(gap history.Gap) bool {
		return !gap.To.IsZero() && gap.To.Before(s.Began)
	})
}

// list reads the stored objects, page by page. After an error it starts again.
func list(ctx context.Context, api dynamic.ResourceInterface) (map[name]state, error) {
	there := map[name]state{}
	again := pauses.Growing(25*time.Millisecond, 500*time.Millisecond)
	options := metav1.ListOptions{Limit: 500}
	var last error
	for {
		page, err := api.List(ctx, options)
		if err != nil {
			if last == nil || ctx.Err() == nil { // an earlier error says more than a timeout
				last = err
			}
			if options.Continue = ""; !pauses.Wait(ctx, again) {
				return nil, last
			}
			clear(there)
			continue
		}
		for i := range page.Items {
			o := &page.Items[i]
			there[name{o.GetNamespace(), o.GetName()}] = state{o.GetUID(), o.GetResourceVersion()}
		}
		if options.Continue = page.GetContinue(); options.Continue == "" {
			return there, nil
		}
	}
}

// deletions are the objects of the kind whose deletion the watch showed.
func (a Acknowledged) deletions(ctx context.Context, source Source, gone []name) (map[types.UID]bool, error) {
	if err := a.catchUp(ctx, source); err != nil {
		return nil, err
	}
	if !source.wentBack() {
		// The watch may still have to report that an object was made, and then that it was deleted.
		for _, at := range gone {
			source.Stream.Told(ctx, a[at].version)
		}
		if err := a.catchUp(ctx, source); err != nil {
			return nil, err
		}
	}
	all := map[types.UID]bool{}
	until := source.Stream.View(history.Scope{Name: "none"}).Seq
	for change := range source.Stream.Replay(source.Since, until, history.Scope{}) {
		if change.Type == history.Deleted && !change.Relisted {
			all[change.UID] = true
		}
	}
	return all, nil
}

func (a Acknowledged) catchUp(ctx context.Context, source Source) error {
	for _, namespace := range a.namespaces() {
		if err := source.Stream.CatchUp(ctx, history.Scope{Namespace: namespace}); err != nil {
			return fmt.Errorf("deletions of written objects could not be observed: %w", err)
		}
	}
	return nil
}
