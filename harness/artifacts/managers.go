package artifacts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/reports"
)

// Managers reads who managed the fields just after each of the last changes, and who manages those of the current
// objects in the scenario's namespace.
func (h History) Managers(ctx context.Context, client dynamic.Interface, namespace string) Managers {
	after, now := h.changeManagers(ctx)
	return Managers{After: after, Now: append(now, h.managersNow(ctx, client, namespace)...)}
}

func (h History) managersNow(ctx context.Context, client dynamic.Interface, namespace string) []reports.HistoryLine {
	var lines []reports.HistoryLine
	seen := map[*history.Stream]bool{}
	for _, part := range h.Parts {
		if seen[part.Stream] || part.Scope.Namespace != namespace {
			continue
		}
		seen[part.Stream] = true
		resource := part.Stream.Resource()
		list, err := client.Resource(resource).Namespace(namespace).List(ctx, metav1.ListOptions{})
		if apierrors.IsNotFound(err) {
			continue // it is cluster-scoped, or no longer served: it has no objects here
		}
		if err != nil {
			lines = append(lines, reports.HistoryLine{
				Line: "managers", At: time.Now(), Resource: resource.Resource,
				Error: fmt.Sprintf("its managers could not be read: %v", err),
			})
			continue
		}
		for i := range list.Items {
			lines = append(lines, managersOf(&list.Items[i], resource.Resource))
		}
	}
	return lines
}

// managersOf returns the managers of one object.
func managersOf(object *unstructured.Unstructured, resource string) reports.HistoryLine {
	return reports.HistoryLine{
		Line: "managers", At: time.Now(), Resource: resource, APIVersion: object.GetAPIVersion(), Kind: object.GetKind(),
		Namespace: object.GetNamespace(), Name: object.GetName(), UID: string(object.GetUID()),
		ResourceVersion: object.GetResourceVersion(), Managers: fieldManagers(object.GetManagedFields()),
	}
}

func fieldManagers(entries []metav1.ManagedFieldsEntry) []reports.FieldManager {
	var all []reports.FieldManager
	for _, entry := range entries {
		manager := reports.FieldManager{Name: entry.Manager, Subresource: entry.Subresource}
		if entry.FieldsV1 == nil || json.Unmarshal(entry.FieldsV1.GetRawBytes(), &manager.Fields) != nil {
			continue
		}
		all = append(all, manager)
	}
	return all
}

// mostManaged is for how many changes the managers are read, and managedWithin is the timeout. They limit the load on
// an API server when many scenarios fail.
const (
	mostManaged   = 100
	managedWithin = 5 * time.Second
)

// changeManagers reads who managed the fields just after each of the scenario's last changes, newest first, by number
// of the change. It also returns the errors. Earlier changes are not read, which is no error.
func (h History) changeManagers(ctx context.Context) (map[int64][]reports.FieldManager, []reports.HistoryLine) {
	ctx, cancel := context.WithTimeout(ctx, managedWithin)
	defer cancel()
	type one struct {
		stream *history.Stream
		change history.Change
	}
	var last []one
	for i, change := range history.Merge(h.From, h.To, h.Parts) {
		if change.Type != history.Deleted {
			last = append(last, one{h.Parts[i].Stream, change})
			last = last[max(0, len(last)-mostManaged):]
		}
	}
	known := map[int64][]reports.FieldManager{}
	var lines []reports.HistoryLine
	for _, c := range slices.Backward(last) {
		entries, err := c.stream.Managers(ctx, c.change)
		if err == nil {
			known[c.change.Seq] = fieldManagers(entries)
			continue
		}
		lines = append(lines, reports.HistoryLine{
			Line: "managers", At: c.change.At, Resource: c.stream.Resource().Resource, Namespace: c.change.Namespace,
			Name: c.change.Name, UID: string(c.change.UID), ResourceVersion: c.change.ResourceVersion, Error: err.Error(),
		})
		if ctx.Err() != nil || errors.Is(err, history.ErrForgotten) {
			break // it no longer has older ones either
		}
	}
	return known, lines
}
