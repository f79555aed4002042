package assertions

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// A judge that followed all changes agrees with one that sees the objects for the first time.
func TestJudgeThatFollows(t *testing.T) {
	scope := history.Scope{Namespace: "x", Selector: labels.SelectorFromSet(labels.Set{"app": "web"})}
	asked := 0
	cel := func(expression string, variables map[string]any) (bool, error) {
		asked++
		number, _ := variables["object"].(map[string]any)["number"].(int64)
		switch expression {
		case "object.number > 2":
			return number > 2, nil
		case "objects.size() > 3":
			return len(variables["objects"].([]any)) > 3, nil
		default: // object.number < objects.size()
			return int(number) < len(variables["objects"].([]any)), nil
		}
	}
	for _, assertion := range []scenarios.Assertion{
		{Match: map[string]any{"number": 1}},
		{CEL: "object.number > 2"},
		{CEL: "objects.size() > 3", Match: map[string]any{"number": 3}},
		{CEL: "object.number < objects.size()"},
	} {
		random := rand.New(rand.NewPCG(1, 2))
		in := Input{Assertion: assertion, Scope: scope, CEL: cel}
		follows := newJudge(in)
		follows.begin(history.View{})
		present := map[string]*unstructured.Unstructured{}
		for step := range 500 {
			name := fmt.Sprintf("o-%d", random.IntN(6))
			change := history.Change{Namespace: "x", Name: name, Type: history.Modified}
			if random.IntN(4) == 0 {
				change.Type = history.Deleted
				delete(present, name)
			} else {
				app := []string{"web", "web", "other"}[random.IntN(3)]
				change.Object = &unstructured.Unstructured{Object: map[string]any{"number": random.Int64N(5)}}
				change.Object.SetNamespace("x")
				change.Object.SetName(name)
				change.Object.SetLabels(map[string]string{"app": app})
				if delete(present, name); app == "web" {
					present[name] = change.Object
				}
			}
			follows.apply(change)
			var view history.View
			for _, object := range present {
				view.Objects = append(view.Objects, object)
			}
			sees := newJudge(in)
			sees.begin(view)
			if follows.matched != sees.matched || len(follows.candidates) != len(sees.candidates) ||
				len(follows.matching()) != sees.matched {
				t.Fatalf("%s %v, after change %d: %d of %d match for the one that followed, %d of %d for the other", assertion.CEL,
					assertion.Match, step,
					follows.matched, len(follows.candidates), sees.matched, len(sees.candidates))
			}
		}
	}
	asked = 0
	all := newJudge(Input{Assertion: scenarios.Assertion{CEL: "objects.size() > 3"}, Scope: scope, CEL: cel})
	all.begin(history.View{Objects: []*unstructured.Unstructured{
		{Object: map[string]any{"number": int64(1)}},
		{Object: map[string]any{"number": int64(2), "metadata": map[string]any{"name": "b"}}},
	}})
	if asked != 1 {
		t.Errorf("what is said of all objects was asked %d times for two of them, want once", asked)
	}
}

// A field with the name of a variable is not the variable, and neither is a text.
func TestMentions(t *testing.T) {
	for expression, want := range map[string]bool{
		"objects.size() > 1":                     true,
		"object.n < objects.size()":              true,
		"!objects.exists(o, o.a)":                true,
		"object.spec.objects.size() > 3":         false,
		`object.metadata.name == "objects"`:      false,
		`object.metadata.name == 'all objects'`:  false,
		`"a" + objects[0].b == "c"`:              true,
		`object.spec["objects"] == "x\"objects"`: false,
	} {
		if got := mentions(expression, objectsVariable); got != want {
			t.Errorf("%s: %t", expression, got)
		}
	}
}
