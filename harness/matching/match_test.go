package matching_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/rehearse-dev/rehearse/harness/matching"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// parse reads YAML through JSON, as the API machinery does. All numbers are float64.
func parse(t testing.TB, text string) any {
	t.Helper()
	var value any
	golden.Must(t, yaml.Unmarshal([]byte(text), &value))
	return value
}

func lines(mismatches []matching.Mismatch) string {
	var b strings.Builder
	for _, mismatch := range mismatches {
		b.WriteString(mismatch.String() + "\n")
	}
	return b.String()
}

func TestMatch(t *testing.T) {
	for _, tt := range []struct {
		name, want, got string
		// differs has one line for each mismatch.
		differs string
	}{
		{"a field among others", "a: 1", "{a: 1, b: 2}", ""},
		{"another value", "a: 1", "{a: 2}", "a: wanted 1, is 2"},
		{"a missing field", "a: {b: 1}", "{}", `a: wanted {"b":1}, not there`},
		{"a null field is missing", "a: 1", "{a: null}", "a: wanted 1, not there"},
		{
			"deep, in order", "{z: 1, a: {c: 1, b: 1}}", "{z: 2, a: {c: 2, b: 2}}",
			"a.b: wanted 1, is 2\na.c: wanted 1, is 2\nz: wanted 1, is 2",
		},
		{
			"keys that are no words", "metadata: {labels: {app.kubernetes.io/name: x}}", "metadata: {labels: {}}",
			`metadata.labels["app.kubernetes.io/name"]: wanted "x", not there`,
		},

		{"a string is no number", `a: "80"`, "a: 80", `a: wanted "80", is 80`},
		{"a number is no string", `a: 80`, `a: "80"`, `a: wanted 80, is "80"`},
		{"true is no string", "a: true", `a: "true"`, `a: wanted true, is "true"`},
		{"a whole float", "a: 1.0", "a: 1", ""},
		{"a broken float", "a: 0.5", "a: 0.5", ""},
		{"quantities are texts", "a: 1Gi", "a: 1024Mi", `a: wanted "1Gi", is "1024Mi"`},
		{"empty text", `a: ""`, `a: ""`, ""},
		{"empty text is not absent", `a: ""`, `{}`, `a: wanted "", not there`},

		{"null wants absence", "a: null", "b: 1", ""},
		{"null is null", "a: null", "a: null", ""},
		{"null, and it is there", "a: null", "a: false", "a: must be absent, is false"},
		{"null inside of what is absent", "a: {b: {c: null}}", "{}", ""},
		{"null beside what is absent", "a: {b: null, c: 1}", "{}", `a: wanted {"b":null,"c":1}, not there`},
		{"an empty map wants a map", "a: {}", "a: {b: 1}", ""},
		{"an empty map is not absent", "a: {}", "{}", "a: wanted {}, not there"},
		{"an empty list wants none", "a: []", "a: [1]", "a: wanted [], is [1]"},
		{"an empty list, empty", "a: []", "a: []", ""},
		{"an empty list, absent", "a: []", "{}", ""},

		{"map for scalar", "a: {b: 1}", "a: 1", `a: wanted {"b":1}, is 1`},
		{"scalar for map", "a: 1", "a: {b: 1}", `a: wanted 1, is {"b":1}`},
		{"list for map", "a: [1]", "a: {b: 1}", `a: wanted [1], is {"b":1}`},
		{"map for list", "a: {b: 1}", "a: [1]", `a: wanted {"b":1}, is [1]`},
		{"list for scalar", "a: [1]", "a: 1", "a: wanted [1], is 1"},

		{"scalars in any order", "a: [x, v]", "a: [u, v, x]", ""},
		{"a scalar that is not in the list", "a: [x]", "a: [u, v]", `a[0]: wanted "x", not in ["u","v"]`},
		{"a scalar of an empty list", "a: [x]", "a: []", `a[0]: wanted "x", not there`},
		{"twice wanted, once there", "a: [x, x]", "a: [x, u]", `a[1]: wanted "x", not in ["x","u"]`},
		{"twice wanted, twice there", "a: [x, x]", "a: [x, u, x]", ""},
		{"null in a list", "a: [null]", "a: [1, null]", ""},
		{"a list in a list", "a: [[1]]", "a: [[2], [1, 3]]", ""},

		{
			"by name", "c: [{name: web, image: b}]", "c: [{name: db, image: b}, {name: web, image: a}]",
			`c[name=web].image: wanted "b", is "a"`,
		},
		{
			"by type", "status: {conditions: [{type: Ready, status: 'True'}]}",
			"status: {conditions: [{type: Old, status: 'True'}, {type: Ready, status: 'False'}]}",
			`status.conditions[type=Ready].status: wanted "True", is "False"`,
		},
		{
			"by port and protocol", "p: [{port: 53, protocol: UDP, k: 1}, {port: 53, protocol: TCP, k: 1}]",
			"p: [{port: 53, protocol: TCP, k: 1}, {port: 53, protocol: UDP, k: 2}]",
			"p[port=53,protocol=UDP].k: wanted 1, is 2",
		},
		{
			"by port, of which there are two", "p: [{port: 53, k: 1}]",
			"p: [{port: 53, protocol: TCP, k: 2}, {port: 53, protocol: UDP, k: 1}]", "",
		},
		{
			"by key, not there", "c: [{name: web, image: b}]", "c: [{name: db, image: b, x: z}]",
			`c[name=web]: wanted {"image":"b","name":"web"}, not in [{"image":"b","name":"db"}]`,
		},
		{
			"by another key when names are not unique", "c: [{name: a, containerPort: 1}, {name: a, containerPort: 2}]",
			"c: [{name: a, containerPort: 2}, {name: a, containerPort: 3}]",
			`c[containerPort=1]: wanted {"containerPort":1,"name":"a"}, not in [{"containerPort":2,"name":"a"},{"containerPort":3,"name":"a"}]`,
		},
		{"without keys", "r: [{host: a, k: 1}]", "r: [{host: b, k: 2}, {host: a, k: 2}]", "r[0].k: wanted 1, is 2"},
		{
			"without keys, twice", "r: [{host: a}, {host: a}]", "r: [{host: a, k: 1}]",
			`r[1]: wanted {"host":"a"}, not in [{"host":"a"}]`,
		},
		{"a map for a list of scalars", "r: [{host: a}]", "r: [a]", `r[0]: wanted {"host":"a"}, not in ["a"]`},
		{"a key that is no scalar", "r: [{name: {a: 1}}]", "r: [{name: {a: 1, b: 1}}]", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want, got := parse(t, tt.want), parse(t, tt.got)
			mismatches := matching.Match(want, got)
			if lines := strings.TrimSpace(lines(mismatches)); lines != tt.differs {
				t.Errorf("got:\n%s\nwant:\n%s", lines, tt.differs)
			}
			if (matching.Diff(want, got) == "") != (tt.differs == "") {
				t.Errorf("the diff disagrees:\n%s", matching.Diff(want, got))
			}
		})
	}
}

func TestMatchOfGoTypes(t *testing.T) {
	type text string
	replicas := int32(3)
	for _, tt := range []struct {
		name      string
		want, got any
		matches   bool
	}{
		{"int and int64", map[string]any{"a": 1}, map[string]any{"a": int64(1)}, true},
		{"int and float64", map[string]any{"a": 1}, map[string]any{"a": 1.0}, true},
		{"float64 and int64", map[string]any{"a": 1.0}, map[string]any{"a": int64(1)}, true},
		{"float64 is not rounded", map[string]any{"a": 1.5}, map[string]any{"a": int64(1)}, false},
		{"large numbers are exact", int64(1<<53 + 1), float64(1 << 53), false},
		{"the largest", uint64(1<<64 - 1), json.Number("18446744073709551615"), true},
		{"json.Number", json.Number("1.50"), 1.5, true},
		{"a broken json.Number", json.Number("one"), "one", true},
		{"a pointer", &replicas, int64(3), true},
		{"a nil pointer wants nothing there", map[string]any{"a": (*int)(nil)}, map[string]any{}, true},
		{"a named type", text("a"), "a", true},
		{"a map of strings", map[string]string{"a": "b"}, map[string]any{"a": "b", "c": "d"}, true},
		{"a list of maps", []map[string]any{{"name": "a"}}, []any{map[string]any{"name": "a"}}, true},
		{"a list of strings", []string{"a"}, []any{"b"}, false},
		{"a map with other keys", map[any]any{1: "a"}, map[string]any{"1": "a"}, true},
		{"a time that YAML made of a text", time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC), "2024-01-02T03:04:05Z", true},
		{"bytes", []byte("a"), "a", true},
		{"nothing wanted", nil, map[string]any{"a": 1}, true},
		{"an empty wish of an object", map[string]any(nil), map[string]any{"a": 1}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if mismatches := matching.Match(tt.want, tt.got); (len(mismatches) == 0) != tt.matches {
				t.Errorf("matches: %v, want %v: %s", !tt.matches, tt.matches, lines(mismatches))
			}
		})
	}
}

func TestClosest(t *testing.T) {
	want := parse(t, "{spec: {a: 1, b: 2, c: 3}, metadata: {name: x}}")
	for _, tt := range []struct {
		name       string
		candidates []any
		order      []int
	}{
		{"none", nil, []int{}},
		{"the only one", []any{"nonsense"}, []int{0}},
		{"fewest differences", []any{parse(t, "spec: {a: 1, b: 0, c: 0}"), parse(t, "{spec: {a: 1, b: 2, c: 0}, metadata: "+
			"{name: y}}")}, []int{1, 0}},
		{"a missing part counts all its values", []any{
			parse(t, "metadata: {name: x}"),
			parse(t, "{spec: {a: 1, b: 0, c: 0}, metadata: {name: x}}"),
		}, []int{1, 0}},
		{"the first of equals", []any{map[string]any{}, map[string]any{}}, []int{0, 1}},
		{"a match", []any{parse(t, "spec: {a: 1}"), want}, []int{1, 0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := matching.Closest(want, tt.candidates); !slices.Equal(got, tt.order) {
				t.Errorf("the order is %v, want %v", got, tt.order)
			}
		})
	}
}
