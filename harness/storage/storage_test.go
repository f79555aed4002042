package storage

import (
	"bytes"
	"encoding/json"
	"math/rand"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	"k8s.io/apimachinery/pkg/api/equality"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/randfill"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

func TestKey(t *testing.T) {
	for want, r := range map[string]Resource{
		"/registry/deployments/ns/a":        {Group: "apps", Name: "deployments", Namespaced: true},
		"/registry/services/specs/ns/a":     {Name: "services", Namespaced: true},
		"/registry/services/endpoints/ns/a": {Name: "endpoints", Namespaced: true},
		"/registry/controllers/ns/a":        {Name: "replicationcontrollers", Namespaced: true},
		"/registry/ingress/ns/a": {
			Group: "networking.k8s.io", Name: "ingresses",
			Namespaced: true,
		},
		"/registry/minions/a": {Name: "nodes"},
		"/registry/example.com/orders/ns/a": {
			Group: "example.com", Name: "orders", Namespaced: true,
			Custom: true,
		},
		"/registry/example.com/nodes/a":                              {Group: "example.com", Name: "nodes", Custom: true},
		"/registry/apiextensions.k8s.io/customresourcedefinitions/a": {Group: Extensions, Name: "customresourcedefinitions"},
		"/registry/apiregistration.k8s.io/apiservices/a":             {Group: Aggregation, Name: "apiservices"},
	} {
		if got := r.Key("ns", "a"); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// An object of any kind loses nothing when it is stored and read.
func TestEncodingLosesNothing(t *testing.T) {
	raw := func(serializer.CodecFactory) []any {
		return []any{
			func(r *runtime.RawExtension, c randfill.Continue) {
				r.Raw, _ = json.Marshal(map[string]any{"a": c.Int63(), "b": c.String(0)})
			},
		}
	}
	filler := fuzzer.FuzzerFor(fuzzer.MergeFuzzerFuncs(metafuzzer.Funcs, raw), rand.NewSource(1), scheme.Codecs)
	kinds := 0
	for gvk := range scheme.Scheme.AllKnownTypes() {
		typed, err := scheme.Scheme.New(gvk)
		if err != nil || gvk.Version == runtime.APIVersionInternal || strings.HasSuffix(gvk.Kind, "List") ||
			strings.HasSuffix(gvk.Kind, "Options") || gvk.Kind == "WatchEvent" {
			continue
		}
		kinds++
		for range 5 {
			filler.Fill(typed)
			typed.GetObjectKind().SetGroupVersionKind(gvk)
			data, err := json.Marshal(typed)
			o := &unstructured.Unstructured{}
			if err == nil {
				err = o.UnmarshalJSON(data)
			}
			if err != nil {
				t.Fatalf("%s: %v", gvk, err)
			}
			value, err := Encode(Resource{Kind: gvk.Kind}, o)
			if err != nil {
				t.Fatalf("%s: %v", gvk, err)
			}
			if !bytes.HasPrefix(value, protobufBegins) {
				t.Errorf("%s is not stored as protobuf", gvk)
			}
			stored, err := Decode(value)
			if err != nil {
				t.Fatalf("%s: %v", gvk, err)
			}
			unstructured.RemoveNestedField(o.Object, "metadata", "resourceVersion")
			unstructured.RemoveNestedField(o.Object, "metadata", "selfLink")
			want, got := retyped(t, o), retyped(t, stored)
			if !equality.Semantic.DeepEqual(want, got) {
				t.Errorf("%s:\n%v\nis read as\n%v", gvk, want, got)
			}
		}
	}
	if kinds < 100 {
		t.Errorf("%d kinds", kinds)
	}
}

func retyped(t *testing.T, o *unstructured.Unstructured) runtime.Object {
	t.Helper()
	typed, err := scheme.Scheme.New(o.GroupVersionKind())
	if err == nil {
		err = runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, typed)
	}
	golden.Must(t, err)
	return typed
}

// An object with an unknown kind or field is stored as JSON, because protobuf would lose it.
func TestEncodeKeepsWhatIsNotKnown(t *testing.T) {
	for _, o := range []map[string]any{
		{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a"}, "newField": "x"},
		{
			"apiVersion": "new.k8s.io/v1", "kind": "New", "metadata": map[string]any{"name": "a"},
			"spec": map[string]any{"n": int64(9007199254740993)},
		},
	} {
		value, err := Encode(Resource{}, &unstructured.Unstructured{Object: o})
		golden.Must(t, err)
		got, err := Decode(value)
		if err != nil || !equality.Semantic.DeepEqual(got.Object, o) {
			t.Errorf("%v is read as %v, %v", o, got, err)
		}
	}
	if _, err := Decode([]byte("k8s:enc:aescbc:v1:key:...")); err == nil {
		t.Error("an encrypted value is read")
	}
	if got := Encrypted([]byte("k8s:enc:aescbc:v1:key:...")); got != "aescbc" {
		t.Errorf("encrypted by %q", got)
	}
}

func TestNamed(t *testing.T) {
	for key, want := range map[string]string{
		"pods/shop/web": "pods shop/web", "deployments/shop/web": "deployments.apps shop/web", "minions/one": "nodes one",
		"services/specs/shop/web": "services shop/web", "services/endpoints/shop/web": "endpoints shop/web",
		"controllers/shop/web": "replicationcontrollers shop/web", "ingress/shop/web": "ingresses.networking.k8s.io shop/web",
		"controllerrevisions/shop/web":  "controllerrevisions.apps shop/web",
		"networkpolicies/shop/web":      "networkpolicies.networking.k8s.io shop/web",
		"a.example.com/orders/shop/one": "orders.a.example.com shop/one",
		"a.example.com/plain/one":       "plain.a.example.com one",
		Extensions + "/customresourcedefinitions/orders.a.example.com": "customresourcedefinitions." + Extensions +
			" orders.a.example.com",
	} {
		if r, name := Named(Prefix + key); r.String()+" "+name != want {
			t.Errorf("%s: got %s %s, want %s", key, r, name, want)
		}
	}
}
