package writes

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/fieldpath"
)

func object(t *testing.T, text string) map[string]any {
	t.Helper()
	var read map[string]any
	golden.Must(t, yaml.Unmarshal([]byte(text), &read))
	exact, err := plain(read)
	golden.Must(t, err)
	return exact
}

// A sent field was dropped if the returned object lacks it. A field with another value was not dropped.
func TestDropped(t *testing.T) {
	const pod = "apiVersion: v1\nkind: Pod\n"
	const custom = "apiVersion: x.io/v1\nkind: Thing\n"
	for name, test := range map[string]struct {
		sent, got string
		dropped   []string
	}{
		"a field": {
			"spec: {containers: [{name: a, restartPolicyRules: [{action: Restart}]}]}",
			pod + "spec: {containers: [{name: a, image: x}]}",
			[]string{"spec.containers[0].restartPolicyRules"},
		},
		"another value": {"spec: {nodeName: a}", pod + "spec: {nodeName: b}", nil},
		"another way of writing": {
			`spec: {containers: [{name: a, resources: {limits: {cpu: "1000m", memory: 1Gi}}}]}`,
			pod + `spec: {containers: [{name: a, resources: {limits: {cpu: "1", memory: 1Gi}}}]}`, nil,
		},
		"a quantity": {
			`spec: {containers: [{name: a, resources: {limits: {cpu: "1000m", memory: 1Gi}}}]}`,
			pod + `spec: {containers: [{name: a, resources: {limits: {cpu: "1"}}}]}`,
			[]string{"spec.containers[0].resources.limits.memory"},
		},
		"more than was sent": {
			"spec: {containers: [{name: a}]}",
			pod + "spec: {containers: [{name: a}, {name: sidecar}], priority: 0}", nil,
		},
		"in another order": {
			"spec: {containers: [{name: a, image: x}, {name: b, image: y}]}",
			pod + "spec: {containers: [{name: b, image: y}, {name: a, image: x}]}", nil,
		},
		"an element by its name": {
			"spec: {containers: [{name: a}, {name: b}]}",
			pod + "spec: {containers: [{name: a}, {name: c}]}",
			[]string{"spec.containers[1]"},
		},
		"null": {
			"metadata: {creationTimestamp: null, labels: null}\nspec: {nodeName: null}",
			pod + "spec: {}", nil,
		},
		"empty, and told from none": {
			"spec: {volumes: [{name: v, emptyDir: {}}], hostUsers: false, containers: " +
				"[{name: a, securityContext: {privileged: false}}]}",
			pod + "spec: {volumes: [{name: v}], containers: [{name: a, securityContext: {}}]}",
			[]string{"spec.containers[0].securityContext.privileged", "spec.hostUsers", "spec.volumes[0].emptyDir"},
		},
		"empty, and not told from none": {
			"metadata: {labels: {}, annotations: {}}\nspec: {hostNetwork: false, " +
				"nodeName: '', tolerations: [], containers: [{name: a, resources: {}, tty: false}]}",
			pod + "spec: {containers: [{name: a}]}", nil,
		},
		"empty, of a custom kind": {
			"spec: {paused: false, replicas: 0, name: '', list: [], map: {}}",
			custom + "spec: {}", nil,
		},
		"empty texts in a map": {
			"data: {a: ''}", "apiVersion: v1\nkind: ConfigMap\ndata: {}",
			[]string{"data.a"},
		},
		"a whole branch": {"spec: {a: {b: {c: 1}}}", custom + "spec: {d: 1}", []string{"spec.a"}},
		"what the API server decides": {"apiVersion: v1\nmetadata: {name: a, namespace: b, uid: c, resourceVersion: " +
			"'1', generation: 3, managedFields: [{manager: x}], creationTimestamp: x}", pod + "metadata: {name: other}", nil},
		"a label": {
			"metadata: {labels: {a.b/c: d}}", pod + "metadata: {name: a}",
			[]string{"metadata.labels"},
		},
		"a finalizer of two": {
			"metadata: {finalizers: [a/b, c/d]}", custom + "metadata: {finalizers: [c/d]}",
			[]string{"metadata.finalizers[0]"},
		},
		"a text that was changed": {
			"spec: {ips: ['::0001', 10.0.0.1]}", custom + "spec: {ips: ['::1', 10.0.0.1]}",
			nil,
		},
		"a Secret's texts": {
			"stringData: {a: b, c: ''}",
			"apiVersion: v1\nkind: Secret\ndata: {a: Yg==, c: ''}", nil,
		},
		"a Secret's text": {
			"stringData: {a: b, c: d}", "apiVersion: v1\nkind: Secret\ndata: {a: Yg==}",
			[]string{"stringData.c"},
		},
		"Endpoints are repacked": {
			"subsets: [{addresses: [{ip: 1.2.3.4}]}, {addresses: [{ip: 1.2.3.5}]}]",
			"apiVersion: v1\nkind: Endpoints\nsubsets: [{addresses: [{ip: 1.2.3.4}, {ip: 1.2.3.5}]}]", nil,
		},
		"elements without keys": {
			"spec: {rules: [{to: a, extra: 1}, {to: b}]}",
			custom + "spec: {rules: [{to: b}, {to: a}]}",
			[]string{"spec.rules[0].extra"},
		},
		"an element without keys": {
			"spec: {rules: [{to: a}, {to: b}]}", custom + "spec: {rules: [{to: b}]}",
			[]string{"spec.rules[0]"},
		},
		"an empty element": {
			"spec: {ingress: [{}], podSelector: {}}",
			"apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nspec: {ingress: [{}], podSelector: {}}", nil,
		},
		"a key that others have, too": {
			"spec: {tasks: [{type: init, init: {description: more}}]}",
			custom + "spec: {tasks: [{type: init, init: {}}, {type: init, init: {description: more}}]}", nil,
		},
		"a name that is given": {
			"metadata: {generateName: a-, labels: {a: b}}",
			custom + "metadata: {name: c, labels: {a: b}}", nil,
		},
		"keys that were changed": {"spec: {ports: [{port: 80, protocol: tcp, name: ''}, {port: 81, protocol: " +
			"tcp}]}", custom + "spec: {ports: [{port: 80, protocol: TCP}, {port: 81, protocol: TCP}]}", nil},
		"directives of a patch": {
			"spec: {containers: [{$patch: delete, name: a}, {name: b, image: x}], " +
				"$setElementOrder/containers: [{name: b}], $retainKeys: [x]}", pod + "spec: {containers: [{name: b, image: x}]}",
			nil,
		},
		"a definition's empty values": {
			"spec: {preserveUnknownFields: false, versions: [{name: v1, schema: " +
				"{openAPIV3Schema: {properties: {a: {default: 0, nullable: false}}}}}]}",
			"apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspec: {versions: [{name: v1, schema: " +
				"{openAPIV3Schema: {properties: {a: {}}}}}]}",
			[]string{"spec.versions[0].schema.openAPIV3Schema.properties.a.default"},
		},
		"a scale of none": {
			"spec: {replicas: 0}", "apiVersion: autoscaling/v1\nkind: Scale\nspec: {}",
			nil,
		},
		"a field that no type here has yet": {
			"spec: {fromTheFuture: 1, flag: false}", pod + "spec: {}",
			[]string{"spec.fromTheFuture"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := object(t, test.got)
			var paths []string
			for _, d := range lostOf(whole(object(t, test.sent))(got), got) {
				paths = append(paths, fieldpath.Format(d.Path))
			}
			if slices.Sort(paths); !slices.Equal(paths, test.dropped) {
				t.Errorf("got %q, want %q", paths, test.dropped)
			}
		})
	}
}

func TestDroppedByAJSONPatch(t *testing.T) {
	const got = "spec: {a: 1, list: [{name: x, b: 2}, {name: y}], texts: [k, m], typed: [{type: t, x: {}}, {type: t, " +
		"x: {y: 1}}]}\nmetadata: {labels: {a/b: c}}\nkind: Thing"
	for name, test := range map[string]struct {
		patch   string
		dropped []string
	}{
		"set": {"[{op: add, path: /spec/a, value: 5}, {op: replace, path: /metadata/labels/a~1b, " +
			"value: d}]", nil},
		"dropped": {"[{op: add, path: /spec/z, value: 5}]", []string{"spec.z"}},
		"dropped in what was set": {
			"[{op: add, path: /spec/list/0, value: {name: x, z: 1}}]",
			[]string{"spec.list[0].z"},
		},
		"dropped of an element":     {"[{op: add, path: /spec/list/0/z, value: 1}]", []string{"spec.list[0].z"}},
		"in an element that moved":  {"[{op: add, path: /spec/list/1/b, value: 2}]", nil},
		"at the end of a list":      {"[{op: add, path: /spec/texts/-, value: m}]", nil},
		"not at the end of a list":  {"[{op: add, path: /spec/texts/-, value: q}]", []string{"spec.texts.-"}},
		"beside one of its type":    {"[{op: add, path: /spec/typed/-, value: {type: t, x: {y: 1}}}]", nil},
		"set, and removed again":    {"[{op: add, path: /spec/z, value: 5}, {op: remove, path: /spec/z}]", nil},
		"set, and removed with all": {"[{op: add, path: /spec/z/y, value: 5}, {op: remove, path: /spec/z}]", nil},
		"set, and moved": {
			"[{op: add, path: /spec/z, value: 5}, {op: move, from: /spec/z, path: /spec/a}]",
			nil,
		},
		"added and removed in a list": {"[{op: add, path: /spec/texts/0, value: q}, {op: remove, path: /spec/texts/0}]", nil},
		"nothing is set":              {"[{op: test, path: /spec/a, value: 1}, {op: remove, path: /spec/q}]", nil},
		"what the API server decides": {"[{op: add, path: /metadata/uid, value: x}]", nil},
		"an empty value":              {"[{op: add, path: /spec/z, value: false}]", nil},
	} {
		t.Run(name, func(t *testing.T) {
			operations := object(t, "list: "+test.patch)["list"].([]any)
			returned := object(t, got)
			var paths []string
			for _, d := range lostOf(setBy(operations), returned) {
				paths = append(paths, fieldpath.Format(d.Path))
			}
			if !slices.Equal(paths, test.dropped) {
				t.Errorf("got %q, want %q", paths, test.dropped)
			}
		})
	}
}

func TestTouched(t *testing.T) {
	for operations, want := range map[string][]string{
		`[{op: add, path: /status/phase, value: x}]`:                                    {"status"},
		`[{op: test, path: /spec/a, value: 1}, {op: remove, path: /status}]`:            {"status"},
		`[{op: remove, path: /metadata/labels/a}, {op: add, path: /status, value: {}}]`: {"metadata", "status"},
		`[{op: move, from: /spec/a, path: /status/a}]`:                                  {"status", "spec"},
		`[{op: replace, path: "", value: {}}]`:                                          {""},
	} {
		var all []any
		golden.Must(t, yaml.Unmarshal([]byte(operations), &all))
		if got := touched(all); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", operations, got, want)
		}
	}
}

func TestWhatWasSentIsComparedWithWhatIsExpected(t *testing.T) {
	for name, test := range map[string]struct {
		sent, got, subresource string
		dropped                []string
		validation             string
		patched                []string
		says, notes            string // "": nothing
	}{
		"nothing dropped": {sent: "spec: {a: 1}", got: "spec: {a: 1}"},
		"dropped": {
			sent: "spec: {a: 1, b: {c: 1, d: 1}}", got: "spec: {a: 1}",
			says: "spec.b was dropped: it was sent, but the returned object lacks it: a gate",
		},
		"expected": {
			sent: "spec: {a: 1, b: {c: 1, d: 1}}", got: "spec: {a: 1}",
			dropped: []string{"spec.b"},
		},
		"expected in all items": {
			sent: "spec: {l: [{name: x, b: 1}, {name: y, b: 1}]}",
			got:  "spec: {l: [{name: x}, {name: y}]}", dropped: []string{"spec.l[*].b"},
		},
		"expected in part": {
			sent: "spec: {a: 1, b: {c: 1, d: 1}}", got: "spec: {a: 1}",
			dropped: []string{"spec.b.c"}, says: "spec.b.d was dropped",
		},
		"expected, and kept": {
			sent: "spec: {a: 1, b: 1}", got: "spec: {a: 1, b: 2}",
			dropped: []string{"spec.b"}, says: "spec.b was expected to be dropped, but spec.b is in the returned " +
				"object",
		},
		"expected, and kept in part": {
			sent: "spec: {a: 1, b: {c: 1, d: 1}}", got: "spec: {b: {c: 1}}",
			dropped: []string{"spec.b", "spec.a"}, says: "spec.b was expected to be dropped, but spec.b.c is in the " +
				"returned object",
		},
		"expected, and not sent": {
			sent: "spec: {a: 1}", got: "spec: {a: 1}", dropped: []string{"spec.b"},
			says: "spec.b was expected to be dropped, but it was not sent, or had no value",
		},
		"another is dropped": {
			sent: "spec: {a: 1, b: 1}", got: "spec: {z: 1}", dropped: []string{"spec.b"},
			says: "spec.a was dropped",
		},
		"not looked at": {sent: "spec: {a: 1}", got: "spec: {}", validation: "Ignore"},
		"only warned of": {
			sent: "spec: {a: 1}", got: "spec: {}", validation: "Warn",
			says: "spec.a was dropped",
		},
		"status with the object": {
			sent: "spec: {a: 1}\nstatus: {b: 1}", got: "spec: {a: 1}",
			notes: "not stored by this request, as the API has it: status",
		},
		"status with the object, named": {
			sent: "spec: {a: 1}\nstatus: {b: 1}", got: "spec: {a: 1}",
			dropped: []string{"status"},
		},
		"spec with the status": {
			sent: "spec: {a: 1}\nstatus: {b: 1}", got: "status: {b: 1}",
			subresource: "status", notes: "not stored by this request, as the API has it: spec",
		},
		"a field of the status": {
			sent: "status: {a: 1, b: 1}", got: "status: {b: 1}", subresource: "status",
			says: "status.a was dropped",
		},
		"a status that is known to exist": {
			sent: "status: {a: 1}", got: "status: {a: 1}", dropped: []string{"status.a"},
			says: "status.a was expected to be dropped, but",
		},
		"only a status, without its subresource": {
			patched: []string{"status"}, sent: "status: {phase: Failed}", got: "spec: {a: 1}\nstatus: {phase: Pending}",
			says: "status.phase was not stored, and nothing else was sent; set subresource: status",
		},
		"only a status, which is not there": {
			patched: []string{"status"}, sent: "status: {phase: Failed}", got: "spec: {a: 1}", says: "set subresource: status",
			notes: "not stored by this request, as the API has it: status",
		},
		"a label is removed beside a status": {
			patched: []string{"metadata", "status"}, sent: "status: {phase: Failed}", got: "status: {phase: Pending}",
		},
		"only a status, of a kind without the subresource": {
			patched: []string{"status"}, sent: "status: {phase: Failed, n: 1}", got: "status: {phase: Pending, n: 1}",
		},
		"only a spec, with the subresource of the status": {
			patched: []string{"spec"}, sent: "spec: {a: 2}", got: "spec: {a: 1}", subresource: "status", says: "omit subresource",
		},
		"only a status, which is meant to be ignored": {
			patched: []string{"status"}, sent: "status: {phase: Failed}", got: "status: {phase: Pending}", validation: "Ignore",
		},
		"an answer that is only a status": {sent: "target: {name: x}", got: "kind: Status"},
	} {
		t.Run(name, func(t *testing.T) {
			w := Writer{Blame: func(schema.GroupVersionKind, []any) string { return "a gate" }}
			op := &operation{subresource: test.subresource, sent: whole(object(t, test.sent)), patched: test.patched}
			step := &scenarios.Step{FieldValidation: test.validation}
			if test.dropped != nil {
				step.Expect = &scenarios.Expect{Dropped: test.dropped}
			}
			problems, note := w.compareSent(op, step, answer{object: &unstructured.Unstructured{Object: object(t, test.got)}})
			got := strings.Join(problems, "\n")
			if (test.says == "") != (got == "") || !strings.Contains(got, test.says) {
				t.Errorf("got %q, want %q", got, test.says)
			}
			if (test.notes == "") != (note == "") || !strings.Contains(note, test.notes) {
				t.Errorf("noted %q, want %q", note, test.notes)
			}
		})
	}
}

// An object that is returned as it was sent, with additional fields, has lost nothing. If one field is removed,
// exactly that field is lost, unless it is empty.
func TestNothingIsDroppedOfWhatComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var value func(depth int) *rapid.Generator[any]
		value = func(depth int) *rapid.Generator[any] {
			scalar := rapid.OneOf(rapid.Just[any](nil), rapid.Map(rapid.Bool(), toAny), rapid.Map(rapid.Int64Range(0, 2), toAny),
				rapid.Map(rapid.SampledFrom([]string{"", "a", "b"}), toAny))
			if depth == 0 {
				return scalar
			}
			maps := rapid.Map(rapid.MapOfN(rapid.SampledFrom([]string{"name", "key", "x", "y"}),
				rapid.Deferred(func() *rapid.Generator[any] { return value(depth - 1) }), 0, 3), toAny)
			lists := rapid.Map(rapid.SliceOfN(rapid.Deferred(func() *rapid.Generator[any] { return value(depth - 1) }), 0, 3),
				toAny)
			return rapid.OneOf(scalar, maps, lists)
		}
		sent := map[string]any{"spec": value(3).Draw(t, "spec"), "more": value(2).Draw(t, "more")}
		back := runtime.DeepCopyJSON(sent)
		back["apiVersion"], back["kind"], back["status"] = "x.io/v1", "Thing", "new"
		if lost := lostOf(whole(sent)(back), back); len(lost) > 0 {
			t.Fatalf("%v of %v", lost, sent)
		}
		less := maps.Clone(back)
		delete(less, "more")
		lost := lostOf(whole(sent)(less), less)
		if said := len(lost) == 1 && lost[0].String() == "more"; said != (pruned(sent["more"], nil, nil) != nil) {
			t.Fatalf("%v of %v", lost, sent)
		}
	})
}

func toAny[T any](value T) any { return value }
