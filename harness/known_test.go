package harness_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/apitest"
	"github.com/rehearse-dev/rehearse/reports"
)

// knownAs is the spec of a scenario whose step "broken" has known issues with these messages.
func knownAs(messages ...string) []string {
	var all []string
	for i, message := range messages {
		all = append(all, fmt.Sprintf(`{covers: [R1], versions: ["1.34"], step: broken, message: %q, reason: bug %d}`, message,
			i+1))
	}
	return []string{"covers: [R1]", "known: [" + strings.Join(all, ", ") + "]"}
}

// A step with several problems is known only if its known issues explain each of them.
func TestKnownIssueOfOneProblem(t *testing.T) {
	const (
		write = "  - name: broken\n    create: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {x: \"1\"}}\n" +
			"    expect: {match: {data: {x: \"2\"}}, cel: \"object.data.x == '3'\"}\n"
		writes = "  - name: broken\n    parallel:\n      steps:\n" +
			"      - create: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n" +
			"      - create: {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}\n"
		look = "  - name: broken\n    eventually: {apiVersion: v1, kind: ConfigMap, cel: object.data.x == \"2\", " +
			"count: 2, within: 500ms}\n"
		loads = "  - name: broken\n    eventually: {apiVersion: v1, kind: ConfigMap, name: zzz, within: 500ms}\n    during:\n" +
			"    - {name: first, read: {apiVersion: v1, kind: ConfigMap, name: nothing}, rate: 100}\n"
	)
	for name, test := range map[string]struct {
		steps    string
		messages []string
		want     reports.Status
		says     string
	}{
		"none of a write's":     {write, []string{"no such thing"}, reports.Failed, "was accepted, but: the returned object"},
		"one of a write's":      {write, []string{"the returned object is not"}, reports.Failed, "was accepted, but: cel: "},
		"both of a write's":     {write, []string{"the returned object is not", "is false for"}, reports.Known, ""},
		"one of two writes":     {writes, []string{"first luck"}, reports.Failed, "write 2 of 2: "},
		"both of two writes":    {writes, []string{"first luck", "second luck"}, reports.Known, ""},
		"both, with one issue":  {writes, []string{" luck"}, reports.Known, ""},
		"one of two objects":    {makeMap("a") + makeMap("b") + look, []string{"\na:\n"}, reports.Failed, "\nb:\n"},
		"both objects":          {makeMap("a") + makeMap("b") + look, []string{"wanted \"2\""}, reports.Known, ""},
		"the action, or a load": {loads, []string{"There is no ConfigMap"}, reports.Failed, `load "first": `},
		"a load, or the action": {loads, []string{"requests were not accepted"}, reports.Failed, "eventually: "},
		"the action and a load": {loads, []string{"There is no ConfigMap", "requests were not accepted"}, reports.Known, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := &provider{misbehave: func(r apitest.Request) *apitest.Fault {
				switch {
				case strings.HasSuffix(r.Manager, "-1-1"):
					return &apitest.Fault{Status: apitest.Status(422, "Invalid", "first luck")}
				case strings.HasSuffix(r.Manager, "-1-2"):
					return &apitest.Fault{Status: apitest.Status(422, "Invalid", "second luck")}
				}
				return nil
			}}
			s := find(t, ran(t, p, scenario("one", test.steps, knownAs(test.messages...)...), harness.Options{}), "one")
			said := s.Steps[len(s.Steps)-1].Message
			unknown, _, partly := strings.Cut(said, "\nThis is not known")
			if s.Status != test.want || partly != (test.want == reports.Failed && test.messages[0] != "no such thing") {
				t.Errorf("%s: %s\n%s", s.Status, s.Message, reports.Explain(s))
			}
			contains(t, unknown, test.says)
			if partly && strings.Contains(unknown, test.messages[0]) {
				t.Errorf("what is known is among what is not: %s", said)
			}
		})
	}
}

// If the first of several API servers gives a wrong answer that is known, the others are asked, too.
func TestKnownIssueThroughOneServer(t *testing.T) {
	for message, want := range map[string]reports.Status{
		"through kube-apiserver@0": reports.Failed, "through kube-apiserver@1": reports.Failed, "asked through": reports.Known,
	} {
		text := scenario("one", "  - name: broken\n    eventually: {apiVersion: v1, kind: ConfigMap, name: zzz, within: 500ms}\n"+
			"    via: each\n", knownAs(message)...)
		text = strings.Replace(text, "cluster: {version: \"1.34\"}", twoPlanes, 1)
		s := find(t, ran(t, &rolling{provider: provider{t: t}}, text, harness.Options{}), "one")
		if s.Status != want {
			t.Errorf("%s: %s: %s", message, s.Status, s.Message)
		}
		contains(t, s.Steps[0].Message, "asked through kube-apiserver@0", "asked through kube-apiserver@1")
	}
}

// What a step said while a component died does not explain why that component died.
func TestKnownIssueOfADeath(t *testing.T) {
	for message, want := range map[string]reports.Status{
		"panic: nil map": reports.Known, "ConfigMap": reports.Error, "what the step said": reports.Error,
	} {
		p := &provider{}
		p.misbehave = func(r apitest.Request) *apitest.Fault {
			if r.Verb == "watch" && r.Kind == "ConfigMap" && r.Number == 1 {
				p.clusters[0].died <- errors.New("kube-scheduler ended: panic: nil map")
			}
			return nil
		}
		steps := "  - name: broken\n    eventually: {apiVersion: v1, kind: ConfigMap, name: never, within: 1h}\n"
		s := find(t, ran(t, p, scenario("one", steps, knownAs(message)...), harness.Options{}), "one")
		if s.Status != want {
			t.Errorf("%s: %s: %s", message, s.Status, s.Message)
		}
		contains(t, s.Steps[0].Message, "panic: nil map", "what the step said then: ", "ConfigMap")
	}
}
