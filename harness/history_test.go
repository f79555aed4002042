package harness_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/internal/apitest"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
)

// across is a scenario that creates ConfigMap a, goes up, changes a, goes down, and looks back.
func across(judge string) string {
	return scenario("one", makeMap("a")+"  - name: up\n    transition: {version: \"1.35\"}\n"+
		"  - name: change\n    patch: {apiVersion: v1, kind: ConfigMap, name: a, merge: {data: {x: \"2\"}}}\n"+
		"  - name: down\n    transition: {version: \"1.34\"}\n"+"  - name: judge\n    "+judge+"\n")
}

func TestStepsThatLookBack(t *testing.T) {
	const a = "apiVersion: v1, kind: ConfigMap, name: a"
	for name, test := range map[string]struct {
		judge string
		want  reports.Status
		says  string
	}{
		"always": {
			"always: {" + a + ", throughout: [up, down]}", reports.Passed,
			"Held: 2 states of 1 configmaps",
		},
		"always, violated": {
			"always: {" + a + ", match: {data: {x: \"1\"}}, throughout: [up, down]}", reports.Failed,
			`during "change", when a was modified`,
		},
		"always, before": {"always: {" + a + ", match: {data: {x: \"1\"}}, throughout: [up, up]}", reports.Passed, ""},
		"always, to itself": {
			"always: {" + a + ", match: {data: {x: \"2\"}}, throughout: [down, judge]}", reports.Passed,
			"",
		},
		"always, expression": {
			"always: {" + a + ", cel: object.metadata.namespace == namespace, throughout: [up, down]}",
			reports.Passed, "",
		},
		"always, not served": {"always: {apiVersion: v1, kind: Strange, throughout: [up, down], cel: \"true\"}\n    " +
			"timeout: 500ms", reports.Failed, "Strange"},
		"never": {
			"never: {" + a + ", match: {data: {x: \"2\"}}, throughout: [up, down]}", reports.Failed,
			`It was true at`,
		},
		"unchanged": {"unchanged: {" + a + ", paths: [metadata.uid], throughout: [up, down]}", reports.Passed, ""},
		"unchanged, changed": {
			"unchanged: {" + a + ", paths: [data], throughout: [up, judge]}", reports.Failed,
			`during "change"`,
		},
		"sequence": {"sequence: {events: [{" + a + ", type: modified, cel: object.data.x == \"2\" && " +
			"before.data.x == \"1\"}], throughout: [up, down]}", reports.Passed, ""},
		"sequence, too late": {
			"sequence: {events: [{" + a + ", type: modified}], throughout: [down, down]}",
			reports.Failed, "Event 1 did not occur",
		},
		"sequence, waited for": {"sequence: {events: [{" + a + ", type: modified}, {" + a +
			", type: deleted}], throughout: [up, judge], within: 50ms}", reports.Failed, "Event 2 did not occur"},
		"sequence, from now": {"sequence: {events: [{" + a + "}], within: 50ms}", reports.Failed, "within 50ms"},
	} {
		t.Run(name, func(t *testing.T) {
			run := ran(t, &provider{}, across(test.judge), harness.Options{})
			s := find(t, run, "one")
			if got := statuses(s.Steps); got != "passed passed passed passed "+string(test.want) {
				t.Fatalf("steps are %s: %s", got, s.Message)
			}
			if test.want != reports.Passed {
				contains(t, s.Steps[4].Message, test.says)
			}
		})
	}
}

// lines returns the lines of a history file.
func lines(t *testing.T, path string) []map[string]any {
	t.Helper()
	file, err := os.Open(path)
	golden.Must(t, err)
	defer file.Close()
	var all []map[string]any
	for scanner := bufio.NewScanner(file); scanner.Scan(); {
		var line map[string]any
		golden.Must(t, json.Unmarshal(scanner.Bytes(), &line))
		all = append(all, line)
	}
	return all
}

func TestHistoryIsKept(t *testing.T) {
	for name, test := range map[string]struct {
		judge string
		keep  bool
		want  bool
	}{
		"of what failed": {"always: {apiVersion: v1, kind: ConfigMap, name: a, match: {data: {x: \"1\"}}, " +
			"throughout: [up, down]}", false, true},
		"not of what passed": {
			"always: {apiVersion: v1, kind: ConfigMap, name: a, throughout: [up, down]}", false,
			false,
		},
		"of what passed, if it is to": {
			"always: {apiVersion: v1, kind: ConfigMap, name: a, throughout: [up, down]}", true,
			true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			run := ran(t, &provider{}, across(test.judge), harness.Options{
				ReportDir:   dir,
				KeepHistory: test.keep,
			})
			listed := strings.Contains(strings.Join(find(t, run, "one").Artifacts, " "), "one/history.jsonl")
			_, err := os.Stat(filepath.Join(dir, "one", "history.jsonl"))
			if listed != test.want || (err == nil) != test.want {
				t.Fatalf("listed %t, file %v, want %t", listed, err, test.want)
			}
			if !test.want {
				return
			}
			var got []string
			for _, line := range lines(t, filepath.Join(dir, "one", "history.jsonl")) {
				switch line["line"] {
				case "step":
					got = append(got, "step "+line["title"].(string)+" in "+line["state"].(string))
				case "change":
					text := line["change"].(string) + " " + line["name"].(string)
					if patch, ok := line["patch"].(map[string]any); ok {
						text += " x=" + patch["data"].(map[string]any)["x"].(string)
					}
					if _, ok := line["object"]; ok {
						text += " whole"
					}
					got = append(got, text)
				}
			}
			want := []string{
				"step create ConfigMap/a in 1.34.4", "added a whole", "step up in 1.34.4", "step change in 1.35.4",
				"modified a x=2", "step down in 1.35.4", "step judge in 1.34.4",
			}
			if strings.Join(got, ", ") != strings.Join(want, ", ") {
				t.Errorf("got  %v\nwant %v", got, want)
			}
		})
	}
}

func TestSnapshots(t *testing.T) {
	p := &provider{}
	text := scenario("one", "  - snapshot: {name: empty}\n"+makeMap("a")+
		"  - eventually: {apiVersion: v1, kind: ConfigMap, name: a}\n"+
		"  - restore: {name: empty}\n  - eventually: {apiVersion: v1, kind: ConfigMap, name: a, absent: true}\n"+makeMap("a"))
	run := ran(t, p, text, harness.Options{})
	if s := find(t, run, "one"); s.Status != reports.Passed {
		t.Errorf("%s: %s", s.Status, s.Message)
	}
	p.rejectSnapshots = errors.New("the disk is full")
	run = ran(t, p, text, harness.Options{})
	if s := find(t, run, "one"); s.Status != reports.Error || !strings.Contains(s.Message, "the disk is full") {
		t.Errorf("%s: %s", s.Status, s.Message)
	}
}

// A time that begins while the watch is away begins when the history has caught up, since the step waits for that. What
// was missed before does not count. A sequence from now on may have missed its events.
func TestATimeBeginsWhileTheWatchIsAway(t *testing.T) {
	for verb, test := range map[string]struct {
		step string
		want reports.Status
	}{
		"never": {
			makeMap("b") + "  - never: {apiVersion: v1, kind: ConfigMap, name: z, throughout: [two, two]}\n",
			reports.Passed,
		},
		"sequence": {
			"  - sequence:\n      within: 50ms\n      events: [{apiVersion: v1, kind: ConfigMap, type: added, name: z}, " +
				"{apiVersion: v1, kind: ConfigMap, type: deleted, name: z}]\n",
			reports.Error,
		},
	} {
		t.Run(verb, func(t *testing.T) {
			// away: the watch was broken. watches and lists are those since then, but not the lists of what it missed.
			var away, watches, lists atomic.Int32
			p := &provider{}
			tooOld, later := apitest.TooOld(), apitest.Status(503, "ServiceUnavailable", "later")
			p.misbehave = func(r apitest.Request) *apitest.Fault {
				switch {
				case r.Verb == "create" && r.Kind == "Node":
					server := p.clusters[0].server
					watched := server.Requests("watch", "")
					away.Store(1)
					server.Hold()
					for _, name := range []string{"missed", "missed too"} {
						server.Put("configmaps", map[string]any{
							"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name, "namespace": "one"},
						})
					}
					server.BreakWatches()
					server.Release()
					server.AwaitRequests("watch", watched+1)
				case r.Kind != "ConfigMap" || away.Load() == 0:
				case r.Verb == "list" && r.ResourceVersion != "":
					return &apitest.Fault{Status: &tooOld}
				case r.Verb == "list":
					lists.Add(1)
				case r.Verb == "watch" && watches.Add(1) == 1:
					return &apitest.Fault{Status: &tooOld}
				case r.Verb == "watch" && lists.Load() < 2: // the stream's own, and the one with which the time begins
					return &apitest.Fault{Status: later}
				}
				return nil
			}
			run := ran(t, p, scenario("one", makeMap("a")+
				"  - never: {apiVersion: v1, kind: ConfigMap, name: z, for: 1ms}\n"+
				"  - create: {apiVersion: v1, kind: Node, metadata: {name: node}}\n"+
				strings.Replace(test.step, "  - ", "  - name: two\n    ", 1)), harness.Options{})
			if s := find(t, run, "one"); s.Status != test.want {
				t.Errorf("%s, want %s\n%s", s.Status, test.want, reports.Explain(s))
			}
		})
	}
}

// A time that is past is judged by what was recorded of it, even if the kind is not served any more.
func TestAPastTimeOfAKindThatIsGone(t *testing.T) {
	box := schema.GroupVersionKind{Group: "x.io", Version: "v1", Kind: "Box"}
	p := &provider{serves: []apitest.Kind{{GVK: box, Resource: "boxes", Namespaced: true}}}
	p.restart = func(_ context.Context, c *cluster) error {
		c.server.Withdraw(box)
		return nil
	}
	const of = "{apiVersion: x.io/v1, kind: Box, name: a"
	run := ran(t, p, scenario("one", "  - name: made\n    create: {apiVersion: x.io/v1, kind: Box, metadata: {name: a}, spec: {n: 1}}\n"+
		"  - name: work\n    eventually: "+of+"}\n"+
		"  - restart: {component: kube-apiserver}\n"+transition("1.35")+
		"  - unchanged: "+of+", paths: [spec], throughout: [work, work]}\n"+
		"  - always: "+of+", throughout: [work, work]}\n"+
		"  - sequence: {throughout: [made, work], events: ["+of+", type: added}]}\n"+
		"  - eventually: "+of+"}\n    timeout: 10ms\n"), harness.Options{})
	s := find(t, run, "one")
	for i, want := range []reports.Status{
		reports.Passed, reports.Passed, reports.Passed, reports.Passed, reports.Passed, reports.Passed, reports.Passed,
		reports.Failed,
	} {
		if s.Steps[i].Status != want {
			t.Errorf("step %d is %s, want %s\n%s", i+1, s.Steps[i].Status, want, s.Steps[i].Message)
		}
	}
}
