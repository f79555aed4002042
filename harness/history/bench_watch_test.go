package history

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

// BenchmarkWatch measures reading, decoding and recording one change of a pod. A thousand pods change in turn. The
// events are encoded beforehand, and nothing waits for single changes.
func BenchmarkWatch(b *testing.B) {
	const objects = 1000
	events := make([][]byte, b.N)
	for n := range events {
		pod := podOf(n%objects, n/objects)
		pod.Object["metadata"].(map[string]any)["managedFields"] = managedFields()
		text, err := json.Marshal(map[string]any{"type": "MODIFIED", "object": pod.Object})
		golden.Must(b, err)
		events[n] = append(text, '\n')
	}
	served := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Query().Get("watch") == "" {
			_, _ = w.Write([]byte(`{"apiVersion":"v1","kind":"PodList","metadata":{"resourceVersion":"1"},"items":[]}`))
			return
		}
		b.ResetTimer()
		for _, event := range events {
			_, _ = w.Write(event)
		}
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	defer served.Close()
	recorder, err := New(&rest.Config{Host: served.URL, QPS: -1})
	golden.Must(b, err)
	defer recorder.Close()
	b.ReportAllocs()
	stream := recorder.Stream(things)
	stream.Told(b.Context(), podOf((b.N-1)%objects, (b.N-1)/objects).GetResourceVersion())
	b.StopTimer()
	if n := recorder.Seq(); n != int64(b.N) {
		b.Fatalf("%d changes were recorded of %d", n, b.N)
	}
}

// managedFields returns entries as long as those of a pod after a controller, the scheduler and a kubelet.
func managedFields() []any {
	owned := func(manager, subresource string, fields ...string) any {
		set := map[string]any{".": map[string]any{}}
		for _, field := range fields {
			set["f:"+field] = map[string]any{
				".": map[string]any{}, "f:name": map[string]any{},
				"k:{\"type\":\"Ready\"}": map[string]any{},
			}
		}
		return map[string]any{
			"manager": manager, "operation": "Update", "apiVersion": "v1", "time": "2026-01-02T03:04:05Z",
			"fieldsType": "FieldsV1",
			"fieldsV1":   map[string]any{"f:spec": set}, "subresource": subresource,
		}
	}
	return []any{
		owned("kube-controller-manager", "", "containers", "dnsPolicy", "enableServiceLinks", "hostname", "restartPolicy",
			"schedulerName", "securityContext", "volumes"),
		owned("kube-scheduler", "binding", "conditions"),
		owned("kubelet", "status", "conditions", "containerStatuses", "hostIP", "phase", "podIP", "podIPs", "startTime"),
	}
}
