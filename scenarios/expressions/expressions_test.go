package expressions

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

func variables() Variables {
	return Variables{
		"namespace": "ns-1",
		"scenario":  map[string]string{"id": "web-1", "name": "web"},
		"case":      map[string]any{"port": int64(80), "names": []any{"a", "b"}, "none": nil, "text": "${namespace}"},
		"outputs":   map[string]any{"uid": "u-1", "count": int64(3)},
		"object": named{
			"metadata": map[string]any{"name": "web", "namespace": "ns-1", "labels": map[string]any{"namespace": "label"}},
			"spec":     map[string]any{"replicas": int64(2), "cpu": "1500m", "ratio": 0.5, "on": true},
		},
		"objects": []any{map[string]any{"n": int64(1)}, map[string]any{"n": int64(2)}},
		"answers": []string{"10.0.0.1"},
		"value":   3.0,
		"delta":   1.0,
		"stdout":  "out\n",
		"stderr":  "",
	}
}

func TestEval(t *testing.T) {
	e := New()
	for _, test := range []struct {
		expression string
		want       any
	}{
		{`namespace`, "ns-1"},
		{`"namespace" + ' namespace ' + r'namespace\' + namespace`, `namespace namespace namespace\ns-1`},
		{`object.metadata.namespace == namespace`, true},
		{`object.metadata . namespace`, "ns-1"},
		{`object.metadata.?namespace.orValue("none")`, "ns-1"},
		{`object.metadata. ? namespace.orValue(namespace)`, "ns-1"},
		{`case.?namespace.orValue("none") + outputs.?namespace.orValue("none")`, "nonenone"},
		{`object.metadata.labels.?namespace.hasValue() ? namespace : "none"`, "ns-1"},
		{"object.metadata.`namespace`", "ns-1"},
		{`object.metadata.labels["namespace"]`, "label"},
		{`has(object.metadata.namespace) && !has(object.metadata.generateName)`, true},
		{`{"namespace": namespace}`, map[string]any{"namespace": "ns-1"}},
		{`["a"].map(namespace, namespace + "b")`, []any{"ab"}},
		{"// namespace\nnamespace", "ns-1"},
		{`scenario.id + "/" + scenario.name`, "web-1/web"},
		{`case.port + 1`, int64(81)},
		{`case.names`, []any{"a", "b"}},
		{`case.none`, nil},
		{`outputs.count * 2`, int64(6)},
		{`object.spec.replicas == 2 && object.spec.replicas == 2.0`, true},
		{`object.spec.ratio`, 0.5},
		{`object`, map[string]any{
			"metadata": map[string]any{"name": "web", "namespace": "ns-1", "labels": map[string]any{"namespace": "label"}},
			"spec":     map[string]any{"replicas": int64(2), "cpu": "1500m", "ratio": 0.5, "on": true},
		}},
		{`object.?spec.missing.orValue("other")`, "other"},
		{`objects.filter(o, o.n > 1).size()`, int64(1)},
		{`objects.all(i, o, o.n == i + 1)`, true},
		{`objects.map(o, o.n).sum()`, int64(3)},
		{`answers == ["10.0.0.1"]`, true},
		{`value >= 3.0 && delta < 2`, true},
		{`stdout.trim() + stderr`, "out"},
		{`quantity(object.spec.cpu).isLessThan(quantity("2"))`, true},
		{`isQuantity("x")`, false},
		{`ip("10.0.0.1").family()`, int64(4)},
		{`cidr("10.0.0.0/8").containsIP("10.1.1.1")`, true},
		{`url("https://a.b/c").getHost()`, "a.b"},
		{`semver("1.34.4").isLessThan(semver("1.35.0"))`, true},
		{`"abc".find("b+")`, "b"},
		{`!format.named("dns1123Label").value().validate("a-b").hasValue()`, true},
		{`sets.contains(["a", "b"], ["b"])`, true},
		{`"%s-%d".format(["a", 1])`, "a-1"},
		{`[3, 1, 2].sort()`, []any{int64(1), int64(2), int64(3)}},
		{`timestamp("2024-01-02T03:04:05Z")`, "2024-01-02T03:04:05Z"},
		{`duration("90s")`, "1m30s"},
		{`b"hi"`, "aGk="},
		{`7u`, int64(7)},
		{`optional.of(1)`, int64(1)},
	} {
		t.Run(test.expression, func(t *testing.T) {
			got, err := e.Eval(test.expression, variables())
			golden.Must(t, err)
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %#v, want %#v", got, test.want)
			}
		})
	}
}

func TestEvalErrors(t *testing.T) {
	e := New()
	for _, test := range []struct{ expression, want string }{
		{`namspace`, `expressions have no "namspace"`},
		{`namespace + 1`, "+ does not take (string, int)"},
		{`namespace.`, "not a CEL expression"},
		{`object.missing`, "no such key: missing"},
		{`outputs.missing`, "no such key: missing"},
		{`optional.none()`, "is missing"},
		{`quantity("1")`, "cannot be written as YAML"},
		{`{1: 2}`, "keys must be strings"},
		{`18446744073709551615u`, "64-bit"},
		{`value == 3`, "== does not take (double, int)"},
		{`1 / 0`, "division by zero"},
		{`"abc".matches("(")`, "invalid matches argument"},
	} {
		t.Run(test.expression, func(t *testing.T) {
			_, err := e.Eval(test.expression, variables())
			golden.Error(t, err, test.want)
			if err != nil && strings.Contains(err.Error(), namespaceVariable) {
				t.Errorf("the error shows our inner name: %v", err)
			}
		})
	}
	for expression, want := range map[string]bool{
		"object.missing": true, "objects[7].n": true, "object.?missing": true, "object.?missing.value()": true,
		"object.spec.replicas > '1'": false, "int(object.spec.cpu) > 1": false,
		// An object cannot lack what is the same for all.
		"outputs.typo == 'a'": false, "object.metadata.name == case.typo": false, "case.names[7] == 'a'": false,
		"objects.exists(o, o.n == outputs['typo'])": false, "outputs.uid == object.typo": true,
		"has(outputs.typo) || object.missing": true, "outputs.?typo.hasValue() || object.missing": true,
	} {
		_, err := e.Eval(expression, variables())
		var missing *MissingError
		if is := errors.As(err, &missing); err == nil || is != want {
			t.Errorf("%s: %v says that something is not there: %t, want %t", expression, err, is, want)
		}
	}
	_, err := e.Eval("1", Variables{"nonsense": 1})
	golden.Error(t, err, `"nonsense"`)
	_, err = e.Eval("object", Variables{})
	golden.Error(t, err, "object")
}

func TestEvalBool(t *testing.T) {
	e := New()
	for expression, want := range map[string]bool{"object.spec.on": true, "1 > 2": false} {
		if got, err := e.EvalBool(expression, variables()); err != nil || got != want {
			t.Errorf("%s: %v, %v", expression, got, err)
		}
	}
	_, err := e.EvalBool("object.metadata.name", variables())
	golden.Error(t, err, "want true or false")
}

func TestCostAndCancellation(t *testing.T) {
	var objects []any
	for i := range 3000 {
		objects = append(objects, map[string]any{"n": int64(i)})
	}
	vars := Variables{"objects": objects}
	e := New()
	e.cache.costLimit = 100_000
	const square = "objects.all(a, objects.all(b, a.n + b.n >= 0))"
	_, err := e.Eval(square, vars)
	golden.Error(t, err, "exceeds the cost limit")
	if _, err := e.Eval("objects.all(a, objects[0].n <= a.n)", vars); err != nil {
		t.Errorf("one pass over %d objects must be possible: %v", len(objects), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.WithContext(ctx).Eval(square, vars); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestConcurrentUse(t *testing.T) {
	e := New()
	var wg sync.WaitGroup
	errs := make(chan error, 16)
	for i := range 16 {
		wg.Go(func() {
			got, err := e.Eval("outputs.n + 1", Variables{"outputs": map[string]any{"n": int64(i)}})
			if err != nil || got != int64(i+1) {
				errs <- fmt.Errorf("%d: %v, %w", i, got, err)
			}
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		t.Error(err)
	}
}

func TestBraces(t *testing.T) {
	for _, test := range []struct{ expression, want string }{
		{`object.x == "${y}"`, "[] [13]"},
		{`object.x == ${y}`, "[12] []"},
		{`"a" + '${"b"}' + ${c} // ${d}`, "[17] [7]"},
		{`"""${a}${b}""" == r"\${c}"`, "[] [3 7 21]"},
		{`object.x`, "[] []"},
	} {
		if outside, inside := Braces(test.expression); fmt.Sprint(outside, inside) != test.want {
			t.Errorf("%s: got %v %v, want %s", test.expression, outside, inside, test.want)
		}
	}
}

func TestUses(t *testing.T) {
	e := New()
	for _, test := range []struct{ expression, want string }{
		{`case.a + case["b"] + string(has(case.c))`, "case.a case.b case.c"},
		{`outputs[?"x"].orValue(outputs.?y.orValue("")) + outputs[namespace]`, "outputs.x outputs.y outputs. namespace."},
		{`objects.all(object, object.x) && object.y`, "objects. object.y"},
		{`objects.exists(o, o.case.a == outputs.b)`, "objects. outputs.b"},
		{`{"a": [value, delta]}`, "value. delta."},
		{`"case.x"`, ""},
		{
			`loads["a b"].sent + loads.?x.?lost.orValue(0) + loads[namespace].p50`,
			"loads.a b.sent loads.x.lost loads. namespace.",
		},
		{`has(object.a.b.c) && objects[0].x.y == 1`, "object.a.b objects."},
	} {
		var got []string
		for _, u := range e.Check(test.expression).Uses {
			text := u.Variable + "." + u.Field
			if u.Inner != "" {
				text += "." + u.Inner
			}
			got = append(got, text)
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s: got %q, want %q", test.expression, got, test.want)
		}
	}
}
