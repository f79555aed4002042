package harness_test

import (
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/internal/apitest"
	"github.com/rehearse-dev/rehearse/reports"
)

// A scenario that continues after failed steps reports all of them.
func TestContinue(t *testing.T) {
	const (
		all  = "continue: true"
		uses = "  - name: uses\n    create: {apiVersion: v1, kind: ConfigMap, metadata: {name: b, labels: {by: " +
			"\"${outputs.name}\"}}}\n    outputs: {second: object.metadata.name}\n"
		again = "  - name: again\n    eventually: {apiVersion: v1, kind: ConfigMap, cel: object.metadata.name == " +
			"outputs.second}\n"
		made = "  - name: made\n    patch: {apiVersion: v1, kind: ConfigMap, name: nothing, merge: {data: {x: " +
			"\"1\"}}}\n    outputs: {name: object.metadata.name}\n"
		unknown = "  - name: unknown\n    create: {apiVersion: v1, kind: Service, metadata: {name: a}}\n    timeout: 30ms\n"
		end     = "  - eventually: {apiVersion: v1, kind: ConfigMap, name: a}\n"
		issues  = `known: [{covers: [R1], versions: ["1.34"], step: broken, reason: a bug}, {covers: [R2], versions: ["1.34"], step: made, reason: another}]`
	)
	for name, test := range map[string]struct {
		steps    string
		spec     []string
		want     reports.Status
		statuses string
		says     string
	}{
		"the default is to end": {
			fails + makeMap("a"), nil, reports.Failed, "failed notRun",
			"broken: delete ConfigMap nothing",
		},
		"a step that goes on": {
			fails + "    continue: true\n" + makeMap("a"), nil, reports.Failed, "failed passed",
			"broken: delete",
		},
		"a step that does not": {
			fails + "    continue: false\n" + makeMap("a"),
			[]string{all},
			reports.Failed,
			"failed notRun", "broken",
		},
		"all of them": {
			fails + makeMap("a") + made + end,
			[]string{all},
			reports.Failed,
			"failed passed failed passed", "(and 1 other step did not pass)",
		},
		"nothing fails": {makeMap("a") + end, []string{all}, reports.Passed, "passed passed", ""},
		"an output that is missing": {
			made + uses + again + makeMap("a"),
			[]string{all},
			reports.Failed,
			"failed notRun notRun passed", "made: ",
		},
		"a missing output ends it": {
			made + "    continue: true\n" + uses + makeMap("a"), nil, reports.Failed,
			"failed notRun notRun", "made: ",
		},
		"a failure, then an error": {
			fails + unknown + makeMap("a"),
			[]string{all},
			reports.Failed, "failed error passed",
			"broken: ",
		},
		"an error, then a failure": {
			unknown + fails + makeMap("a"),
			[]string{all},
			reports.Error, "error failed passed",
			"unknown: ",
		},
		"across transitions": {
			fails + transition("1.35") + fails + transition("1.34") + makeMap("a"),
			[]string{all},
			reports.Failed, "failed passed failed passed passed", "broken",
		},
		"all are known": {
			fails + made + makeMap("a"),
			[]string{all, "covers: [R1, R2]", issues},
			reports.Known,
			"known known passed", "broken",
		},
		"one is not known": {
			fails + unknown + made + "  - delete: {apiVersion: v1, kind: ConfigMap, name: a}\n",
			[]string{all, "covers: [R1, R2]", issues},
			reports.Error, "known error known failed", "unknown: ",
		},
		"one known did not happen": {
			fails + makeMap("a") + "  - name: made\n    eventually: {apiVersion: v1, kind: ConfigMap, name: a}\n",
			[]string{all, "covers: [R1, R2]", issues},
			reports.Failed, "known passed passed", "known issue did not happen at step \"made\"",
		},
		"in a table": {
			"  - name: row\n    cases: [{n: a}, {n: b}, {n: c}]\n    delete: {apiVersion: v1, kind: ConfigMap, name: " +
				"\"${case.n}\"}\n    continue: true\n",
			nil, reports.Failed, "failed failed failed", "(and 2 other steps did not pass)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := &provider{misbehave: func(r apitest.Request) *apitest.Fault {
				if r.Verb == "create" && r.Kind == "Service" {
					return &apitest.Fault{Status: apitest.Status(503, "ServiceUnavailable", "not now")}
				}
				return nil
			}}
			run := ran(t, p, scenario("one", test.steps, test.spec...), harness.Options{ReportDir: t.TempDir()})
			s := find(t, run, "one")
			if got := statuses(s.Steps); s.Status != test.want || got != test.statuses {
				t.Fatalf("%s by %s: %s", s.Status, got, s.Message)
			}
			contains(t, s.Message, test.says)
			if artifacts := len(s.Artifacts) > 0; artifacts != (s.Status == reports.Failed || s.Status == reports.Error) {
				t.Errorf("%s leaves %v", s.Status, s.Artifacts)
			}
		})
	}
}

// A step that needs an output of a failed step names that step, even if an earlier row of the table set the output.
func TestNotJudged(t *testing.T) {
	steps := "  - name: make\n    cases: [{n: a}, {n: b}]\n" +
		"    create: {apiVersion: v1, kind: ConfigMap, metadata: {name: \"${case.n}\"}}\n    outputs: {made: " +
		"object.metadata.name}\n" +
		"  - name: look\n    eventually: {apiVersion: v1, kind: ConfigMap, name: a, cel: object.metadata.name == " +
		"outputs.made}\n" +
		"  - name: look at all\n    eventually: {apiVersion: v1, kind: ConfigMap, name: a, cel: size(outputs) == 1}\n"
	p := &provider{misbehave: func(r apitest.Request) *apitest.Fault {
		if r.Verb == "create" && r.Kind == "ConfigMap" && strings.HasSuffix(r.Manager, "-2") {
			return &apitest.Fault{Status: apitest.Status(422, "Invalid", "no such luck")}
		}
		return nil
	}}
	run := ran(t, p, scenario("one", steps, "continue: true"), harness.Options{})
	s := find(t, run, "one")
	if got := statuses(s.Steps); s.Status != reports.Failed || got != "passed failed notRun notRun" {
		t.Fatalf("%s by %s: %s", s.Status, got, s.Message)
	}
	for _, step := range s.Steps[2:] {
		contains(t, step.Message, "not judged: it needs output made of step 2 (make [b]), which failed")
	}
	contains(t, reports.Explain(s), "step 2 of 4", "step 3 of 4", "step 4 of 4")
}

// A time range that begins and ends with failed steps is still judged.
func TestTimesOfFailedSteps(t *testing.T) {
	for judge, want := range map[string]reports.Status{
		"always: {apiVersion: v1, kind: ConfigMap, name: a, throughout: [broken, end]}":                               reports.Passed,
		"never: {apiVersion: v1, kind: ConfigMap, name: a, match: {data: {x: \"2\"}}, throughout: [broken, end]}":     reports.Failed,
		"unchanged: {apiVersion: v1, kind: ConfigMap, name: a, paths: [metadata.uid], throughout: [broken, not run]}": reports.Passed,
	} {
		steps := makeMap("a") + fails +
			"  - patch: {apiVersion: v1, kind: ConfigMap, name: a, merge: {data: {x: \"2\"}}}\n" +
			"  - name: end\n    patch: {apiVersion: v1, kind: ConfigMap, name: b, merge: {data: {x: \"2\"}}}\n    outputs: " +
			"{b: object.metadata.name}\n" +
			"  - name: not run\n    create: {apiVersion: v1, kind: ConfigMap, metadata: {name: c, labels: {b: " +
			"\"${outputs.b}\"}}}\n" +
			"  - name: judge\n    " + judge + "\n"
		run := ran(t, &provider{}, scenario("one", steps, "continue: true"), harness.Options{})
		if got := statuses(find(t, run, "one").Steps); got != "passed failed passed failed notRun "+string(want) {
			t.Errorf("%s: %s", judge, got)
		}
	}
}
