package schemas

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
)

const core = `{"components": {"schemas": {
  "io.k8s.api.core.v1.Pod": {"type": "object", "x-kubernetes-group-version-kind": [{"group": "", "version": "v1", "kind": "Pod"}], "properties": {
    "metadata": {"allOf": [{"$ref": "#/components/schemas/Meta"}], "default": {}},
    "status": {"allOf": [{"$ref": "#/components/schemas/Status"}]},
    "anything": {"type": "object"}, "raw": {"x-kubernetes-preserve-unknown-fields": true, "type": "object", "properties": {"a": {"type": "string"}}},
    "lost": {"$ref": "#/components/schemas/Nowhere"}}},
  "Meta": {"type": "object", "properties": {"labels": {"type": "object", "additionalProperties": {"type": "string"}}, "uid": {"type": "string"}}},
  "Status": {"type": "object", "properties": {"phase": {"type": "string"},
    "byName": {"type": "object", "additionalProperties": {"$ref": "#/components/schemas/Meta"}},
    "conditions": {"type": "array", "items": {"allOf": [{"$ref": "#/components/schemas/Meta"}]}}}}}}}`

const gadget = `{"spec": {"versions": [
  {"name": "v1", "schema": {"openAPIV3Schema": {"type": "object", "properties": {
    "metadata": {"type": "object", "properties": {"name": {"type": "string", "maxLength": 63}}}, "spec": {"type": "object", "properties": {
    "size": {"type": "integer"}, "port": {"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]},
    "template": {"type": "object", "x-kubernetes-embedded-resource": true, "properties": {"spec": {"type": "object"}}}}}}}}},
  {"name": "v2", "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]}}`

func TestUnknown(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/openapi/v3/api/v1":
			_, _ = w.Write([]byte(core))
		case "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gadgets.example.com":
			_, _ = w.Write([]byte(gadget))
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	client, err := discovery.NewDiscoveryClientForConfig(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	schemas := New(client.RESTClient())
	pod := schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
	gadgetV1 := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Gadget"}
	for _, tt := range []struct {
		kind    schema.GroupVersionKind
		path    string
		unknown string // "" if an object may have the path
	}{
		{pod, "status phase", ""},
		{pod, "status phaze", "phaze"},
		{pod, "statuz phase", "statuz"},
		{pod, "status conditions [*] uid", ""},
		{pod, "status conditions [*] type", "type"},
		{pod, "status byName x uid", ""},
		{pod, "status byName [*] uid", ""},
		{pod, "status byName x uuid", "uuid"},
		{pod, "metadata labels whatever", ""},
		{pod, "metadata label", "label"},
		{pod, "anything goes", ""},
		{pod, "raw b c", ""},
		{pod, "lost field", ""},
		{pod, "status phase x", ""}, // a string has no fields, but Unknown does not report that
		{pod, "status [*] x", ""},
		{gadgetV1, "spec size", ""},
		{gadgetV1, "spec sise", "sise"},
		{gadgetV1, "metadata name", ""},
		{gadgetV1, "metadata uid", ""},
		{gadgetV1, "status", "status"},
		{gadgetV1, "spec port", ""},
		{gadgetV1, "spec template metadata labels", ""},
		{gadgetV1, "spec template spec x", ""},
		{gadgetV1, "spec template stauts", "stauts"},
		{gadgetV1.GroupKind().WithVersion("v2"), "spec whatever", ""},
		{gadgetV1.GroupKind().WithVersion("v3"), "spec whatever", ""},
	} {
		resource := strings.ToLower(tt.kind.Kind) + "s"
		s, err := schemas.Of(t.Context(), tt.kind, resource)
		if err != nil || s == nil {
			t.Fatalf("%v: %v, %v", tt.kind, s, err)
		}
		path, unknown := strings.Fields(tt.path), ""
		i, known := s.Unknown(path)
		if i >= 0 {
			unknown = path[i]
		}
		if unknown != tt.unknown {
			t.Errorf("%s %s: unknown is %q, want %q", tt.kind.Kind, tt.path, unknown, tt.unknown)
		}
		if tt.unknown == "phaze" && !slices.Equal(known, []string{"byName", "conditions", "phase"}) {
			t.Errorf("known are %v", known)
		}
	}
	for _, kind := range []schema.GroupVersionKind{{Version: "v1", Kind: "Other"}, {
		Group:   "aggregated.example.com",
		Version: "v1", Kind: "Pod",
	}} {
		if s, err := schemas.Of(t.Context(), kind, "others"); s != nil || err != nil {
			t.Errorf("%v has a schema: %v, %v", kind, s, err)
		}
	}
}
