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
		"objects.exists_one(p, p.spec.subdomain == 'x')":                                   `2 of 3 elements of objects with p.spec.subdomain == "x", wanted exactly one: a, c`,
		"objects.exists_one(p, p.spec.subdomain == 'z')":                                   `none of the 3 elements of objects: wanted one with p.spec.subdomain == "z"; there are: a, b, c`,
		"objects.exists_one(p, p.spec.gone == 'z')":                                        `objects.exists_one(p, p.spec.gone == "z"): no such key: gone`,
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

// Only a condition that must be true, of a value that does not depend on the object, says what the expression requires.
func TestWants(t *testing.T) {
	vars := Variables{"outputs": map[string]any{"uid": "u-1", "generation": int64(2)}, "namespace": "team"}
	for expression, want := range map[string]any{
		"object.metadata.uid == outputs.uid":                                     "u-1",
		"'u-2' == object.metadata.uid":                                           "u-2",
		"object.status.ready && (object.x == 1 && object.metadata.uid == 'u-3')": "u-3",
		"object.metadata.uid == namespace":                                       "team",
		"object.metadata.uid != outputs.uid":                                     nil,
		"object.metadata.uid == outputs.uid || object.status.ready":              nil,
		"!(object.metadata.uid == outputs.uid)":                                  nil,
		"object.metadata.uid == outputs.other":                                   nil,
		"object.metadata.uid == object.spec.uid":                                 nil,
		"object.metadata.uid in [outputs.uid]":                                   nil,
		"object.metadata.ownerReferences.exists(o, o.uid == outputs.uid)":        nil,
		"objects.all(o, o.metadata.uid == outputs.uid)":                          nil,
		"(object.status.ready ? object.metadata.uid == outputs.uid : true)":      nil,
		"object.metadata.generation == outputs.generation":                       nil,
		"not an expression":                                                      nil,
	} {
		if got := New().Wants(expression, "object.metadata.uid", vars); got != want {
			t.Errorf("%s: got %v, want %v", expression, got, want)
		}
	}
	if got := New().Wants("object.metadata.generation == outputs.generation", "object.metadata.generation",
		vars); got != int64(2) {
		t.Errorf("generation: got %v", got)
	}
}
