package matching

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

func TestDoubtful(t *testing.T) {
	for name, test := range map[string]struct{ want, got, says string }{
		"a zero that is omitted":      {"status: {num: 0}", "status: {}", "status.num is absent"},
		"a zero without its parent":   {"status: {num: 0}", "spec: {}", ""},
		"false that is omitted":       {"spec: {paused: false}", "spec: {a: 1}", "spec.paused is absent"},
		"a text that is omitted":      {`spec: {nodeName: ""}`, "spec: {a: 1}", "spec.nodeName is absent"},
		"a value that is absent":      {"spec: {num: 1}", "spec: {}", ""},
		"an empty label":              {`metadata: {labels: {a: ""}}`, "metadata: {labels: {b: x}}", ""},
		"a number for a text":         {"metadata: {labels: {a: 2}}", `metadata: {labels: {a: "2"}}`, "another type: 2"},
		"a number for another text":   {"metadata: {labels: {a: 2}}", `metadata: {labels: {a: "3"}}`, ""},
		"a text for a number":         {`spec: {a: "2"}`, "spec: {a: 2}", `another type: "2"`},
		"a port by number or name":    {"spec: {port: 80}", "spec: {port: http}", ""},
		"brackets forgotten":          {"status: {c: {type: A}}", "status: {c: [{type: A}]}", "status.c is a list"},
		"a text for a list":           {"metadata: {finalizers: a}", "metadata: {finalizers: [a]}", "metadata.finalizers is a list"},
		"an element that is absent":   {"status: {c: [{type: A}]}", "status: {c: [{type: B}]}", ""},
		"no element":                  {"status: {c: [{type: A}]}", "status: {c: []}", ""},
		"doubtful in an element":      {"c: [{type: A, num: 0}]", "c: [{type: A}]", "c[type=A].num is absent"},
		"doubtful beside a certain":   {"status: {num: 0, m: 1}", "status: {m: 2}", ""},
		"must be absent, and is zero": {"status: {num: null}", "status: {num: 0}", ""},
		"a number in a list":          {"c: [80]", `c: ["a", "80"]`, `c[0] is "80", and match has a value of another type`},
		"a key of another type":       {`p: [{port: "80"}]`, "p: [{port: 80}, {port: 81}]", `p[port=80].port is 80`},
		"no such number in a list":    {"c: [80]", `c: ["a", 81]`, ""},
		"nothing differs":             {"a: 1", "a: 1", ""},
		"equal quantities":            {`l: {cpu: "0.5"}`, "l: {cpu: 500m}", `l.cpu is "500m", and match has the same quantity`},
		"a number for a quantity":     {"l: {cpu: 0.5}", "l: {cpu: 500m}", "the same quantity"},
		"another quantity":            {"l: {memory: 1Gi}", "l: {memory: 1G}", ""},
		"versions":                    {`spec: {v: "1.10"}`, `spec: {v: "1.1"}`, ""},
		"a text":                      {`data: {v: 1000m}`, `data: {v: "1"}`, ""},
		"an equal label":              {`metadata: {labels: {v: "1.0"}}`, `metadata: {labels: {v: "1"}}`, ""},
		"any element may be doubtful": {`t: [{k: a, v: ""}]`, "t: [{k: a, v: b}, {k: a, o: c}]", "v is absent"},
		"in any order":                {`t: [{k: a, v: ""}]`, "t: [{k: a, o: c}, {k: a, v: b}]", "v is absent"},
	} {
		t.Run(name, func(t *testing.T) {
			var want, got map[string]any
			if err := yaml.Unmarshal([]byte(test.want), &want); err != nil {
				t.Fatal(err)
			}
			if err := yaml.Unmarshal([]byte(test.got), &got); err != nil {
				t.Fatal(err)
			}
			reason := Doubtful(Match(want, got))
			if (reason == "") != (test.says == "") || !strings.Contains(reason, test.says) {
				t.Errorf("got %q, want %q", reason, test.says)
			}
		})
	}
}
