package leaderworkerset_test

import (
	"cmp"
	"testing"

	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/expressions"
)

// step finds a step of a scenario in its first row.
func step(t *testing.T, list []*scenarios.Scenario, scenario, name string) scenarios.Step {
	t.Helper()
	for _, c := range list {
		if c.Metadata.Name != scenario {
			continue
		}
		for _, s := range c.Spec.Steps {
			if s.Name == name {
				return s
			}
		}
	}
	t.Fatalf("there is no step %s in %s", name, scenario)
	return scenarios.Step{}
}

// A wait that lasts a fixed time proves nothing about a slower manager: it needs a witness, or a period of the past.
func TestNothingSleeps(t *testing.T) {
	for _, c := range suite().Load(t).Scenarios {
		for i := range c.Spec.Steps {
			step := &c.Spec.Steps[i]
			for _, assertion := range []*scenarios.Assertion{step.Always, step.Never} {
				if assertion != nil && assertion.For != 0 {
					t.Errorf("%s: %s lasts %v", c.Title(), step.Title(), assertion.For)
				}
			}
		}
	}
}

// A period in which an object must exist does not begin with the step that waits for the object: a correct manager may
// create it while that step runs.
func TestPeriodsBeginWhenTheObjectIsThere(t *testing.T) {
	for _, c := range suite().Load(t).Scenarios {
		for i := range c.Spec.Steps {
			step := &c.Spec.Steps[i]
			var needs scenarios.Selection
			switch a := step.Always; {
			case step.Unchanged != nil:
				needs = step.Unchanged.Selection
			case a != nil && !a.Absent && (a.Count == nil || a.Count.Min != nil):
				needs = a.Selection
			}
			first, last, ok := c.Span(i)
			if !ok || first == i || last == first || needs.Kind == "" {
				continue
			}
			if waits := c.Spec.Steps[first].Eventually; waits != nil && waits.Kind == needs.Kind {
				t.Errorf("%s: the period of %q begins with %q, which waits for a %s", c.Title(), step.Title(),
					c.Spec.Steps[first].Title(), needs.Kind)
			}
		}
	}
}

// What steps say about objects that a correct manager may make, and that a wrong one makes. With never, true is wrong.
func TestAllowed(t *testing.T) {
	tests := map[string]struct {
		scenario, step string
		outputs        map[string]any
		objects        string
		want           bool
	}{
		"the two labels": {
			"lws-unique-selectors", "what they select", nil, services(`{NAME: my-lws, INDEX: "0"}`), true,
		},
		"a third label": {
			"lws-unique-selectors", "what they select", nil, services(`{NAME: my-lws, INDEX: "0", other: label}`), true,
		},
		"one label": {
			"lws-unique-selectors", "what they select", nil, services(`{INDEX: "0"}`), false,
		},
		"no selector": {
			"lws-unique-selectors", "what they select", nil, services(`null`), false,
		},
		"a leader that was replaced twice": {
			"lws-leader-deleted", "with a Service of its own",
			map[string]any{"service": "s", "leader": "first"},
			service("third"), true,
		},
		"the Service of the first leader": {
			"lws-leader-deleted", "with a Service of its own",
			map[string]any{"service": "s", "leader": "first"},
			service("first"), false,
		},
		"another Service of a leader that was replaced twice": {
			"lws-service-of-the-leader-before", "the new leader owns it",
			map[string]any{"leader": "first"},
			service("third"), true,
		},
		"the Service of the leader before": {
			"lws-service-of-the-leader-before", "it has another Service at the latest now",
			map[string]any{"leader": "first"},
			service("first"), false,
		},
		"workers wait until the Service is there": {
			"lws-service-of-the-leader-before", "the StatefulSets of the new group are complete",
			map[string]any{"leader": "first"},
			statefulSets(""), true,
		},
		"StatefulSets without labels and owners": {
			"lws-service-of-the-leader-before", "the StatefulSets of the new group are complete",
			map[string]any{"leader": "first"},
			statefulSets("1"), true,
		},
		"a StatefulSet that is not complete": {
			"lws-service-of-the-leader-before", "the StatefulSets of the new group are complete",
			map[string]any{"leader": "first"},
			statefulSets("0"), false,
		},
		"a group that was recreated twice": {
			"lws-leader-killed-unique-to-shared", "with its Service",
			map[string]any{"subdomain": "my-lws-0", "pods": []any{"first"}},
			service("third"), true,
		},
		"the Service of the group before": {
			"lws-leader-killed-unique-to-shared", "with its Service",
			map[string]any{"subdomain": "my-lws-0", "pods": []any{"first"}},
			service("first"), false,
		},
		"a worker that stays without its leader": {
			"lws-manager-ends-in-the-middle", "its group runs again, in one subdomain",
			map[string]any{"first": "leader-0"},
			pods("new"), true,
		},
		"the leader is not replaced yet": {
			"lws-manager-ends-in-the-middle", "its group runs again, in one subdomain",
			map[string]any{"first": "leader-0"},
			pods("leader-0"), false,
		},
		"addresses with and without a namespace": {
			"lws-leader-killed-unique-to-shared", "no group mixed its policies", nil,
			group("my-lws-0.my-lws-0", "my-lws-0.my-lws-0.default"), false,
		},
		"a subdomain that begins alike": {
			"lws-leader-killed-unique-to-shared", "no group mixed its policies", nil,
			group("my-lws-0.my-lws-01", "my-lws-0.my-lws-01"), true,
		},
		"an address in the other subdomain": {
			"lws-leader-killed-unique-to-shared", "no group mixed its policies", nil,
			group("my-lws-0.my-lws.default", "my-lws-0.my-lws.default"), true,
		},
		"a second owner": {
			"lws-unique-owners", "their Services", map[string]any{"uids": []any{"a", "b"}}, owned("a", "b"), true,
		},
		"the leaders before": {
			"lws-unique-owners", "their Services now", map[string]any{"uids": []any{"a", "b"}}, owned("a", "b"), false,
		},
		"one leader is new": {
			"lws-unique-owners", "their Services now", map[string]any{"uids": []any{"a", "b"}}, owned("a", "c"), true,
		},
	}
	list, evaluator := suite().Load(t).Scenarios, expressions.New()
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var objects []any
			golden.Must(t, yaml.Unmarshal([]byte(test.objects), &objects))
			tested := step(t, list, test.scenario, test.step)
			got, err := evaluator.EvalBool(cmp.Or(tested.Eventually, tested.Never).CEL, expressions.Variables{
				"object": objects[0], "objects": objects, "outputs": test.outputs,
			})
			if err != nil || got != test.want {
				t.Errorf("%t, %v; want %t", got, err, test.want)
			}
		})
	}
}
