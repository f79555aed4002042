package alike_test

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/harness/alike"
	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/internal/apitest"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

var maps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

func configMap(name, color string) map[string]any {
	return map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name, "namespace": "default"},
		"data": map[string]any{"color": color},
	}
}

// view watches a server that has these objects when the time begins.
func view(t *testing.T, name string, objects ...map[string]any) (*apitest.Server, alike.View) {
	t.Helper()
	server := apitest.New(t)
	for _, object := range objects {
		server.Put(maps.Resource, object)
	}
	recorder, err := history.New(server.Config())
	golden.Must(t, err)
	t.Cleanup(recorder.Close)
	v := alike.View{Name: name, Stream: recorder.Stream(maps), Scope: history.Scope{Namespace: "default"}}
	golden.Must(t, v.Stream.CatchUp(t.Context(), v.Scope))
	v.Since = recorder.Seq()
	v.Until = v.Since
	return server, v
}

func compare(views ...alike.View) ([]string, error) {
	return alike.Compare(views, []string{"data"})
}

// What differs is reported.
func TestCompare(t *testing.T) {
	for name, test := range map[string]struct {
		second []map[string]any
		want   []string
	}{
		"alike":    {[]map[string]any{configMap("a", "red")}, nil},
		"a value":  {[]map[string]any{configMap("a", "blue")}, []string{`a, one -> two: data.color: "red" -> "blue"`}},
		"one less": {nil, []string{"a is not there through two"}},
		"one more": {
			[]map[string]any{configMap("a", "red"), configMap("b", "red")},
			[]string{"b is not there through one"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, one := view(t, "one", configMap("a", "red"))
			_, two := view(t, "two", test.second...)
			if got, err := compare(one, two); err != nil || !slices.Equal(got, test.want) {
				t.Errorf("%q, %v; want %q", got, err, test.want)
			}
		})
	}
}

// An object that is created later does not count, even if only one server shows it at the end of the time.
func TestObjectsThatAreCreatedLater(t *testing.T) {
	_, one := view(t, "one", configMap("a", "red"))
	second, two := view(t, "two", configMap("a", "red"))
	second.Put(maps.Resource, configMap("later", "red"))
	golden.Must(t, two.Stream.CatchUp(t.Context(), two.Scope))
	two.Until = 1 << 30
	if got, err := compare(one, two); err != nil || got != nil {
		t.Errorf("%q, %v", got, err)
	}
}

// What changes after the time does not count: neither a new difference, nor one that ends.
func TestWhatChangesLater(t *testing.T) {
	for now, test := range map[string]struct {
		later string
		want  []string
	}{
		"red":  {"blue", nil},
		"blue": {"red", []string{`a, one -> two: data.color: "red" -> "blue"`}},
	} {
		_, one := view(t, "one", configMap("a", "red"))
		second, two := view(t, "two", configMap("a", now))
		second.Put(maps.Resource, configMap("a", test.later))
		golden.Must(t, two.Stream.CatchUp(t.Context(), two.Scope))
		if got, err := compare(one, two); err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%q, %v; want %q", got, err, test.want)
		}
	}
}

// What was there through no server at the end of the time was not compared.
func TestNothingToCompare(t *testing.T) {
	first, one := view(t, "one", configMap("a", "red"))
	second, two := view(t, "two", configMap("a", "red"))
	for _, server := range []*apitest.Server{first, second} {
		server.Delete(maps.Resource, "default", "a")
	}
	for _, v := range []*alike.View{&one, &two} {
		golden.Must(t, v.Stream.CatchUp(t.Context(), v.Scope))
		v.Until = 1 << 30
	}
	if got, err := compare(one, two); err == nil {
		t.Errorf("%q, and no error", got)
	}
}

// Objects are followed even if their labels change: the selector only says which objects there were at the beginning.
func TestLabelsThatChange(t *testing.T) {
	labeled := func(app string) map[string]any {
		object := configMap("a", "red")
		object["metadata"].(map[string]any)["labels"] = map[string]any{"app": app}
		return object
	}
	var views []alike.View
	for _, name := range []string{"one", "two"} {
		server, v := view(t, name, labeled("web"))
		v.Scope.Selector = labels.SelectorFromSet(labels.Set{"app": "web"})
		server.Put(maps.Resource, labeled("other"))
		golden.Must(t, v.Stream.CatchUp(t.Context(), history.Scope{Namespace: "default"}))
		v.Until = 1 << 30
		views = append(views, v)
	}
	if got, err := compare(views...); err != nil || got != nil {
		t.Errorf("%q, %v", got, err)
	}
}
