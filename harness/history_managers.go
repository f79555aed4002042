package harness

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/reports"
)

// managers says who manages the fields of the objects of the scenario's namespace that are there now. Histories are
// kept without managedFields, which are often larger than the object.
func (e *evidence) managers(ctx context.Context, parts []history.Part) []reports.HistoryLine {
	var lines []reports.HistoryLine
	seen := map[*history.Stream]bool{}
	for _, part := range parts {
		if seen[part.Stream] || part.Scope.Namespace != e.run.namespace {
			continue
		}
		seen[part.Stream] = true
		resource := part.Stream.Resource()
		list, err := e.run.client.Resource(resource).Namespace(e.run.namespace).List(ctx, metav1.ListOptions{})
		if apierrors.IsNotFound(err) {
			continue // it is cluster-scoped, or not served any more: it has no objects here
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

// managersOf one object.
func managersOf(object *unstructured.Unstructured, resource string) reports.HistoryLine {
	line := reports.HistoryLine{
		Line: "managers", At: time.Now(), Resource: resource, APIVersion: object.GetAPIVersion(), Kind: object.GetKind(),
		Namespace: object.GetNamespace(), Name: object.GetName(), UID: string(object.GetUID()),
		ResourceVersion: object.GetResourceVersion(),
	}
	for _, entry := range object.GetManagedFields() {
		manager := reports.FieldManager{Name: entry.Manager, Subresource: entry.Subresource}
		if entry.FieldsV1 == nil || json.Unmarshal(entry.FieldsV1.GetRawBytes(), &manager.Fields) != nil {
			continue
		}
		line.Managers = append(line.Managers, manager)
	}
	return line
}
