package fields_test

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/rehearse-dev/rehearse/harness/explore/fields"
)

// answers are what an API server with one kind answers, by path.
var answers = map[string]string{
	"/api":    `{"kind":"APIVersions","versions":["v1"]}`,
	"/apis":   `{"kind":"APIGroupList"}`,
	"/api/v1": `{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"boxes","kind":"Box","namespaced":true,"verbs":["create","list"]},{"name":"boxes/status","kind":"Box","verbs":["update"]},{"name":"reviews","kind":"Review","verbs":["create"]}]}`,
	"/openapi/v3/api/v1": `{"components":{"schemas":{
		"io.k8s.api.core.v1.Box":{"type":"object","properties":{
			"apiVersion":{"type":"string"},"kind":{"type":"string"},
			"metadata":{"allOf":[{"$ref":"#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}]},
			"spec":{"default":{},"allOf":[{"$ref":"#/components/schemas/io.k8s.api.core.v1.BoxSpec"}]},
			"status":{"type":"object"}},
			"x-kubernetes-group-version-kind":[{"group":"","version":"v1","kind":"Box"}]},
		"io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta":{"type":"object","properties":{
			"name":{"type":"string"},"labels":{"type":"object","additionalProperties":{"type":"string"}}}},
		"io.k8s.api.core.v1.BoxSpec":{"type":"object","required":["size"],"properties":{
			"size":{"allOf":[{"$ref":"#/components/schemas/io.k8s.apimachinery.pkg.api.resource.Quantity"}]},
			"policy":{"type":"string","enum":["Open","Shut"]},
			"inside":{"type":"array","items":{"allOf":[{"$ref":"#/components/schemas/io.k8s.api.core.v1.BoxSpec"}]}}}},
		"io.k8s.apimachinery.pkg.api.resource.Quantity":{"oneOf":[{"type":"string"},{"type":"number"}]}}}}`,
}

func found(t *testing.T, answers map[string]string) fields.Found {
	t.Helper()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		text, ok := answers[r.URL.Path]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(web.Close)
	client := discovery.NewDiscoveryClientForConfigOrDie(&rest.Config{Host: web.URL})
	all, err := fields.Kinds(context.Background(), client)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func kinds(t *testing.T) []*fields.Kind {
	t.Helper()
	all := found(t, answers)
	if !all.Complete() {
		t.Errorf("not complete: %+v", all)
	}
	return all.Kinds
}

// Kinds without a schema, and versions that cannot be listed, are known to be missing.
func TestWhatCannotBeReadIsMissing(t *testing.T) {
	some := maps.Clone(answers)
	some["/openapi/v3/api/v1"] = `{}`
	some["/apis"] = `{"kind":"APIGroupList","groups":[{"name":"a.example.com","versions":[{"groupVersion":` +
		`"a.example.com/v1","version":"v1"}]}]}`
	all := found(t, some)
	if len(all.Kinds) > 0 || len(all.Bare) != 1 || all.Bare[0].ID() != "Box.v1" || len(all.Undiscovered) != 1 ||
		all.Complete() {
		t.Errorf("got %+v", all)
	}
}

func TestTheFieldsOfAKindAreRead(t *testing.T) {
	found := kinds(t)
	if len(found) != 1 || found[0].ID() != "Box.v1" || !found[0].Status || found[0].Scale || !found[0].Preferred {
		t.Fatalf("kinds: %+v", found)
	}
	var paths []string
	for _, f := range found[0].Root.All() {
		paths = append(paths, f.Path.String()+" "+string(f.Type))
	}
	want := strings.Join([]string{
		"metadata object", "metadata.labels map", "metadata.labels{} string", "spec object", "spec.inside list",
		"spec.policy string",
		"spec.size quantity",
	}, "\n")
	if got := strings.Join(paths, "\n"); got != want {
		t.Errorf("fields:\n%s\nwant:\n%s", got, want)
	}
	policy, size := found[0].Root.At(fields.Place{"spec", "policy"}), found[0].Root.At(fields.Place{"spec", "size"})
	if strings.Join(policy.Enum, " ") != "Open Shut" || policy.Required || !size.Required {
		t.Errorf("policy %v, required %t; size required %t", policy.Enum, policy.Required, size.Required)
	}
}

func TestPlaces(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"spec.containers[0].name", "spec.containers[0].name"},
		{"spec.containers[0].resources.limits[cpu]", "spec.containers[0].resources.limits.cpu"},
		{`metadata.labels["a b"]`, "metadata.labels.a b"},
		{"", ""},
	} {
		if got := fields.ParsePlace(test.text).String(); got != test.want {
			t.Errorf("%s is parsed as %s, want %s", test.text, got, test.want)
		}
	}
}

func TestObjectsAreChanged(t *testing.T) {
	object := map[string]any{"spec": map[string]any{"items": []any{map[string]any{"a": "b"}}}}
	at := fields.Place{"spec", "items", 0, "a"}
	if !fields.Set(object, at, "c") || !fields.Set(object, fields.Place{"spec", "items", 1}, "d") {
		t.Fatal("not set")
	}
	if got, _ := fields.Get(object, at); got != "c" {
		t.Errorf("after Set: got %v, want c", got)
	}
	if !fields.Remove(object, fields.Place{"spec", "items", 0}) {
		t.Fatal("not removed")
	}
	if got, _ := fields.Get(object, fields.Place{"spec", "items", 0}); got != "d" {
		t.Errorf("after Remove: the first item is %v, want d", got)
	}
	fields.Remove(object, fields.Place{"spec", "items", 0})
	if _, there := fields.Get(object, fields.Place{"spec", "items"}); there {
		t.Error("the empty list was not removed")
	}
	if fields.Remove(object, fields.Place{"spec", "no", "such"}) || fields.Set(object, fields.Place{"no", "such"}, 1) {
		t.Error("what is not there was changed")
	}
}
