package matching_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/harness/matching"
)

func TestChanges(t *testing.T) {
	const (
		deployment = "apps/v1 Deployment"
		pod        = "v1 Pod"
		cron       = "batch/v1 CronJob"
		policy     = "networking.k8s.io/v1 NetworkPolicy"
		custom     = "example.com/v1 Thing"
	)
	for _, tt := range []struct {
		name, kind, before, after string
		// changes has one line for each change.
		changes string
	}{
		{
			"null in a template", deployment, "spec: {template: {metadata: {creationTimestamp: null, labels: {app: web}}}}",
			"spec: {template: {metadata: {labels: {app: web}}}}", "",
		},
		{
			"nothing but null", cron, "spec: {jobTemplate: {metadata: {creationTimestamp: null}}}",
			"spec: {jobTemplate: {metadata: {}}}", "",
		},
		{
			"an empty struct", deployment, "spec: {strategy: {}, template: {spec: {containers: [{name: a, resources: {}}]}}}",
			"spec: {template: {spec: {containers: [{name: a}]}}}", "",
		},
		{
			"an empty map and list", pod, "{metadata: {labels: {}}, spec: {nodeSelector: {}, tolerations: []}}",
			"{metadata: {}, spec: {tolerations: null}}", "",
		},
		{"a whole part of nothing", deployment, "{spec: {a: 1}, status: {}}", "{spec: {a: 1}}", ""},
		{"a whole number", deployment, "spec: {replicas: 1}", "spec: {replicas: 1.0}", ""},

		{
			"an empty volume source", pod, "spec: {volumes: [{name: a, emptyDir: {}}]}", "spec: {volumes: [{name: a}]}",
			"spec.volumes[name=a].emptyDir: {} -> absent",
		},
		{
			"an empty security context", pod, "spec: {a: 1, securityContext: {}}", "spec: {a: 1}",
			"spec.securityContext: {} -> absent",
		},
		{
			"an empty selector of a peer", policy, "spec: {ingress: [{from: [{podSelector: {}}]}]}",
			"spec: {ingress: [{from: [{}]}]}", "spec.ingress[0].from[0].podSelector: {} -> absent",
		},
		{"an empty rule", policy, "spec: {a: 1, ingress: [{}]}", "spec: {a: 1, ingress: []}", "spec.ingress: [{}] -> absent"},
		{
			"an empty value", pod, "metadata: {name: a, labels: {a: ''}}", "metadata: {name: a, labels: {}}",
			`metadata.labels: {"a":""} -> absent`,
		},
		{
			"an empty entry", "v1 ConfigMap", "data: {a: ''}", "data: {b: ''}",
			"data.a: \"\" -> absent\ndata.b: absent -> \"\"",
		},
		{"a new default", pod, "spec: {a: 1}", "spec: {a: 1, hostUsers: true}", "spec.hostUsers: absent -> true"},
		{"false is a value", pod, "spec: {a: 1, hostNetwork: false}", "spec: {a: 1}", "spec.hostNetwork: false -> absent"},

		{"null in a custom resource", custom, "spec: {a: null, b: 1}", "spec: {b: 1}", ""},
		{"an empty map in a custom resource", custom, "spec: {a: {}}", "spec: {}", "spec.a: {} -> absent"},
		{"an empty list in a custom resource", custom, "spec: {a: []}", "spec: {a: null}", "spec.a: [] -> absent"},
		{"null in a list", custom, "spec: {a: [1, null]}", "spec: {a: [1]}", "spec.a: [1,null] -> [1]"},

		{
			"by name", pod, "spec: {containers: [{name: a, image: x}, {name: b, image: w}]}",
			"spec: {containers: [{name: a, image: x}, {name: b, image: z}]}", `spec.containers[name=b].image: "w" -> "z"`,
		},
		{
			"one more", pod, "spec: {containers: [{name: a}]}", "spec: {containers: [{name: b, image: x}, {name: a}]}",
			`spec.containers[name=b]: absent -> {"image":"x","name":"b"}`,
		},
		{
			"one less", pod, "spec: {containers: [{name: a}, {name: b}]}", "spec: {containers: [{name: b}]}",
			`spec.containers[name=a]: {"name":"a"} -> absent`,
		},
		{
			"another order", pod, "spec: {initContainers: [{name: a}, {name: b}]}",
			"spec: {initContainers: [{name: b}, {name: a}]}",
			`spec.initContainers (order): ["[name=a]","[name=b]"] -> ["[name=b]","[name=a]"]`,
		},
		{"an argument", custom, "a: [x, v]", "a: [x, z]", `a[1]: "v" -> "z"`},
		{"arguments in another order", custom, "a: [x, v]", "a: [v, x]", "a[0]: \"x\" -> \"v\"\na[1]: \"v\" -> \"x\""},
		{"another kind of value", custom, "a: {b: 1}", "a: [1]", `a: {"b":1} -> [1]`},
		{"a text is no number", custom, "a: '1'", "a: 1", `a: "1" -> 1`},
		{"sorted", custom, "{b: 1, a: {c: 1}}", "{b: 2, a: {c: 2}, d: 1}", "a.c: 1 -> 2\nb: 1 -> 2\nd: absent -> 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			changes := matching.Changes(objectOf(t, tt.kind, tt.before), objectOf(t, tt.kind, tt.after))
			if got := changed(changes); got != tt.changes {
				t.Errorf("got:\n%s\nwant:\n%s", got, tt.changes)
			}
		})
	}
}

// objectOf returns an object of a kind, such as "v1 Pod", with the fields of a YAML text.
func objectOf(t *testing.T, kind, text string) map[string]any {
	t.Helper()
	fields, ok := parse(t, text).(map[string]any)
	if !ok {
		t.Fatalf("%q is no object", text)
	}
	fields["apiVersion"], fields["kind"], _ = strings.Cut(kind, " ")
	return fields
}

func changed(changes []matching.Change) string {
	lines := make([]string, 0, len(changes))
	for _, change := range changes {
		lines = append(lines, change.String())
	}
	return strings.Join(lines, "\n")
}

func TestAChangeFitsOneLine(t *testing.T) {
	same := strings.Repeat("same ", 400)
	for _, tt := range []struct {
		name     string
		old, new any
		want     string
	}{
		{
			"in the middle", same + "one" + same, same + "two" + same,
			"a: ...e same same onesame same sa... -> ...e same same twosame same sa...",
		},
		{"at the end", same + "1", same + "2", `a: ...e same same 1" -> ...e same same 2"`},
		{"all of it", strings.Repeat("x", 2000), strings.Repeat("y", 2000), `a: "` + strings.Repeat("x", 37) + "..." +
			strings.Repeat("x", 37) + `" -> "` + strings.Repeat("y", 37) + "..." + strings.Repeat("y", 37) + `"`},
		{"new", nil, "short", `a: absent -> "short"`},
		{"lines", "one\ntwo", "one\nthree", `a: "one\ntwo" -> "one\nthree"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := (matching.Change{Path: "a", Old: tt.old, New: tt.new}).String(); got != tt.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, tt.want)
			}
		})
	}
}

func TestChangesOfTheSameAndBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		object := func(label string) map[string]any {
			return map[string]any{"apiVersion": "v1", "kind": "Pod", "spec": values().Draw(rt, label)}
		}
		before, after := object("before"), object("after")
		if changes := matching.Changes(before, matching.Normal(before)); len(changes) > 0 {
			rt.Fatalf("an object differs from its normal form:\n%s", changed(changes))
		}
		forth, back := matching.Changes(before, after), matching.Changes(after, before)
		if (len(forth) == 0) != (len(back) == 0) {
			rt.Fatalf("forth:\n%s\nback:\n%s", changed(forth), changed(back))
		}
		for _, change := range forth {
			if text := change.String(); strings.Contains(text, "\n") || len([]rune(text)) > 300 {
				rt.Fatalf("no short line: %q", text)
			}
		}
	})
}

// The values of environment variables are hidden, also those of a container that is added, and so is what kubectl
// keeps of a manifest.
func TestRedacted(t *testing.T) {
	container := func(name, token string) map[string]any {
		return map[string]any{"name": name, "image": "i", "env": []any{
			map[string]any{"name": "TOKEN", "value": token},
			map[string]any{"name": "FROM", "valueFrom": map[string]any{"secretKeyRef": map[string]any{"name": "s"}}},
		}}
	}
	pod := func(containers ...any) map[string]any {
		return map[string]any{"spec": map[string]any{"containers": containers}}
	}
	last := func(text string) map[string]any {
		return map[string]any{"metadata": map[string]any{"annotations": map[string]any{"kubectl.kubernetes.io/last-applied-configuration": text}}}
	}
	for name, test := range map[string]struct{ before, after map[string]any }{
		"an added container": {pod(container("a", "x")), pod(container("a", "x"), container("b", "s3cret"))},
		"a removed one":      {pod(container("a", "x"), container("b", "s3cret")), pod(container("a", "x"))},
		"all of them":        {map[string]any{"spec": map[string]any{}}, pod(container("b", "s3cret"))},
		"the manifest":       {map[string]any{}, last("s3cret")},
		"another manifest":   {last("x"), last("s3cret")},
	} {
		for _, change := range matching.Changes(test.before, test.after) {
			if text := change.Redacted().String(); strings.Contains(text, "s3cret") && !change.Confidential("Pod") {
				t.Errorf("%s: %s", name, text)
			}
			if text := change.Redacted().String(); name == "an added container" && !strings.Contains(text, `"image":"i"`) {
				t.Errorf("%s: %s hides too much", name, text)
			}
		}
	}
}
