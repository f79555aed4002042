package expressions

import (
	"testing"
)

func TestWhy(t *testing.T) {
	pod := func(name, subdomain string, ready bool) any {
		return map[string]any{
			"metadata": map[string]any{"name": name}, "spec": map[string]any{"subdomain": subdomain},
			"status": map[string]any{"ready": ready},
		}
	}
	vars := Variables{
		"objects": []any{pod("a", "x", true), pod("b", "y", true), pod("c", "x", false)},
		"object":  pod("a", "x", true), "namespace": "team",
	}
	for expression, want := range map[string]string{
		"objects.map(o, o.metadata.name) == ['a', 'c', 'd']":                               `objects.map(o, o.metadata.name): missing "d", too many "b"; it is ["a","b","c"]`,
		"objects.map(o, o.metadata.name) == ['b', 'a', 'c']":                               `objects.map(o, o.metadata.name): in another order than wanted; it is ["a","b","c"]`,
		"objects.size() == 4":                                                              `objects.size() is 3, wanted 4: a, b, c`,
		"size(objects) >= 4 && objects.size() < 9":                                         `size(objects) is 3, wanted at least 4: a, b, c`,
		"objects.size() == 3 && objects.all(p, p.spec.subdomain == 'x' && p.status.ready)": `1 of 3 without p.spec.subdomain == "x": b has "y"` + "\n" + `1 of 3 without p.status.ready: c`,
		"objects.exists(p, p.metadata.name == 'z')":                                        `none of the 3 elements of objects: wanted one with p.metadata.name == "z"; there are: a, b, c`,
		"object.spec.subdomain == 'y'":                                                     `object.spec.subdomain is "x", wanted "y"`,
		"object.spec.subdomain in ['y', 'z']":                                              `object.spec.subdomain is "x", wanted one of ["y","z"]`,
		"!object.status.ready":                                                             `!object.status.ready is false`,
		"object.status.gone":                                                               `object.status.gone: no such key: gone`,
		"namespace == 'other'":                                                             `namespace is "team", wanted "other"`,
		"objects.all(p, objects.exists(q, q.spec.subdomain == p.metadata.name))":           `3 of 3 without objects.exists(q, q.spec.subdomain == p.metadata.name): a, b, c`,
		"object.status.ready":                                                              "",
		"not an expression":                                                                "",
	} {
		if got := New().Why(expression, vars); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", expression, got, want)
		}
	}
}
