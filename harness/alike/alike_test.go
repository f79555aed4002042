package alike_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

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
	return server, v
}

func compare(ctx context.Context, views ...alike.View) ([]string, error) {
	return alike.Compare(ctx, views, []string{"data"})
}

// What stays different is reported.
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
			if got, err := compare(t.Context(), one, two); err != nil || !slices.Equal(got, test.want) {
				t.Errorf("%q, %v; want %q", got, err, test.want)
			}
		})
	}
}

// A difference of the first look is no result if there was no time to look again.
func TestNoTimeToLookAgain(t *testing.T) {
	_, one := view(t, "one")
	_, two := view(t, "two", configMap("a", "red"))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond) // the first pause is longer
	defer cancel()
	if got, err := compare(ctx, one, two); !errors.Is(err, context.DeadlineExceeded) || got != nil {
		t.Errorf("%q, %v", got, err)
	}
}

// An object that is created later does not count, not even if each look sees another one through one server only.
func TestObjectsThatAreCreatedLater(t *testing.T) {
	_, one := view(t, "one", configMap("a", "red"))
	second, two := view(t, "two", configMap("a", "red"))
	second.Put(maps.Resource, configMap("later", "red"))
	if got, err := compare(t.Context(), one, two); err != nil || got != nil {
		t.Errorf("%q, %v", got, err)
	}
}

// A difference that is not there at each look is no result.
func TestADifferenceThatComesAndGoes(t *testing.T) {
	_, one := view(t, "one", configMap("a", "red"), configMap("b", "red"))
	second, two := view(t, "two", configMap("a", "red"), configMap("b", "red"))
	var lists atomic.Int32
	second.Misbehave(func(r apitest.Request) *apitest.Fault {
		if r.Verb == "list" && r.Kind == "ConfigMap" {
			gone, back := "a", "b"
			if lists.Add(1)%2 == 0 {
				gone, back = back, gone
			}
			second.Delete(maps.Resource, "default", gone)
			second.Put(maps.Resource, configMap(back, "red"))
		}
		return nil
	})
	got, err := compare(t.Context(), one, two)
	if err == nil || got != nil {
		t.Errorf("%q, %v", got, err)
	}
}
