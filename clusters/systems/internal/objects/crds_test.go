package objects

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/internal/apitest"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// TestMature: nothing of a new kind is created while the API server would delay it.
func TestMature(t *testing.T) {
	c := apitest.New(t, apitest.Extensions()...)
	c.Put(crdResource.Resource, map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": CRDKind.Kind, "metadata": map[string]any{"name": "a"},
	})
	client, err := New(c.Config())
	golden.Must(t, err)
	established := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"2026-01-02T03:04:05Z": established.Add(youth), "": time.Time{}.Add(youth), "soon": time.Time{}.Add(youth),
	} {
		c.Render(crdResource.Resource, "", "a", func(crd *unstructured.Unstructured) {
			crd.Object["status"] = map[string]any{"conditions": []any{
				map[string]any{"type": "NamesAccepted", "status": "True", "lastTransitionTime": "2027-01-01T00:00:00Z"},
				map[string]any{"type": "Established", "status": "True", "lastTransitionTime": text},
			}}
		})
		at, err := client.mature(t.Context(), []Reference{{Kind: CRDKind, Version: "v1", Name: "a"}})
		if err != nil || !at.Equal(want) {
			t.Errorf("established at %q: mature at %s, %v; want %s", text, at, err, want)
		}
	}
}
