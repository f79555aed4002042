package harness_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/internal/apitest"
	"github.com/rehearse-dev/rehearse/reports"
)

// underLoad returns a transition with loads, and a step after it.
func underLoad(loads ...string) string {
	return "  - name: up\n    transition: {version: \"1.35\"}\n    during:\n    - " + strings.Join(loads, "\n    - ") +
		"\n" + makeMap("behind")
}

const (
	maps  = `{name: maps, create: {apiVersion: v1, kind: ConfigMap, metadata: {name: "m-${index}"}}, rate: 100`
	nodes = `{name: nodes, create: {apiVersion: v1, kind: Node, metadata: {generateName: n-}}, rate: 100`
)

func TestDuring(t *testing.T) {
	away := apitest.Status(503, "ServiceUnavailable", "not now")
	rejected := apitest.Status(422, "Invalid", "no such luck")
	for name, test := range map[string]struct {
		steps string
		// fault answers the first creation of ConfigMap m-3.
		fault *apitest.Fault
		// meanwhile runs after 20 maps were made.
		meanwhile func(context.Context, *cluster) error
		want      string
		says      string
	}{
		"all is accepted":       {underLoad(maps + "}"), nil, nil, "passed passed", "0 rejected, 0 failed"},
		"several loads":         {underLoad(maps+"}", nodes+"}"), nil, nil, "passed passed", `load "nodes": `},
		"failures are reported": {underLoad(maps + "}"), &apitest.Fault{Status: away}, nil, "passed passed", "1 failed from"},
		"one more than allowed": {
			underLoad(maps + ", allowed: {failures: 0}}"), &apitest.Fault{Status: away}, nil,
			"failed notRun", "requests failed; allowed: 0",
		},
		"and it goes on": {strings.Replace(underLoad(maps+", allowed: {failures: 0}}"), "during:",
			"continue: true\n    during:", 1), &apitest.Fault{Status: away}, nil, "failed passed", "allowed: 0"},
		"a rejection": {
			underLoad(maps + "}"), &apitest.Fault{Status: rejected}, nil, "failed notRun",
			"requests were not accepted",
		},
		"a request that can't be made": {
			underLoad(`{name: maps, create: {apiVersion: v1, kind: ConfigMap, metadata: {name: ` +
				`"m-${index == 5 ? string(index / (index - 5)) : string(index)}"}}, rate: 100}`), nil, nil, "error notRun",
			`load "maps": request 5 could not be sent: evaluate its expressions: `,
		},
		"as it should be rejected": {
			underLoad(`{name: bad, create: {apiVersion: v1, kind: Node, metadata: {name: "bad-${index}"}}, rate: 100, expect: {rejected: {code: 422}}}`, maps+"}"),
			nil, nil, "passed passed", "0 accepted",
		},
		"accepted, and should not": {
			underLoad(maps + ", expect: {rejected: {code: 422}}}"), nil, nil, "failed notRun",
			"should have been rejected",
		},
		"lost": {underLoad(maps + "}"), nil, func(_ context.Context, c *cluster) error {
			c.restore()
			c.server.BreakWatches()
			return nil
		}, "failed notRun", "an acknowledged write is lost: m-"},
		"deleted by somebody": {underLoad(maps + "}"), nil, func(ctx context.Context, c *cluster) error {
			return c.deleteMap(ctx, "m-0")
		}, "passed passed", "deleted by somebody: 1"},
		"a patch": {
			makeMap("p") +
				underLoad(`{name: patches, patch: {apiVersion: v1, kind: ConfigMap, name: p, merge: {data: {n: "${index}"}}}, rate: 100}`, maps+"}"),
			nil, nil, "passed passed passed", "1 written objects read back, acknowledged writes lost: 0",
		},
		"reads": {
			underLoad(`{name: reads, read: {apiVersion: v1, kind: ConfigMap}, rate: 100}`, maps+"}"), nil, nil,
			"passed passed", `load "reads": `,
		},
		"a read of nothing": {
			underLoad(`{name: reads, read: {apiVersion: v1, kind: ConfigMap, name: nothing}, rate: 100}`, maps+"}"),
			nil, nil, "failed notRun", "404",
		},
		"a kind that nobody serves": {
			underLoad(`{name: maps, read: {apiVersion: v1, kind: Strange}}`) + "    timeout: 500ms\n",
			nil, nil, "error notRun", "Strange",
		},
		"what outputs have": {
			underLoad(maps+"}") + "  - eventually: {apiVersion: v1, kind: ConfigMap, cel: objects.size() == outputs.made + 1}\n",
			nil, nil, "passed passed passed", "",
		},
		"the cluster does not arrive": {
			underLoad(maps + "}"), nil,
			func(context.Context, *cluster) error { return fmt.Errorf("it is too old") }, "error notRun", "it is too old",
		},
		"while a program runs": {
			"  - command: {run: [sleep, \"0.1\"]}\n    during: [" + maps + "}]\n" + transition("1.35"), nil, nil,
			"passed passed", `load "maps": `,
		},
		"read back later": {
			"  - kill: {component: etcd}\n    during: [" + maps + ", for: 50ms}]\n" + transition("1.35"), nil, nil,
			"passed passed", "are read back after the next",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var made atomic.Int64
			enough := make(chan struct{})
			p := &provider{misbehave: func(r apitest.Request) *apitest.Fault {
				switch {
				case r.Verb == "create" && r.Kind == "Node" && strings.Contains(test.steps, "bad-"):
					return &apitest.Fault{Status: rejected}
				case r.Verb == "create" && r.Kind == "ConfigMap" && strings.Contains(r.Manager, "load"):
					switch made.Add(1) {
					case 4:
						return test.fault
					case 20:
						close(enough)
					}
				}
				return nil
			}}
			p.converge = func(ctx context.Context, _ clusters.State) error {
				c := p.clusters[0]
				if test.meanwhile != nil {
					c.restore = c.server.Snapshot()
				}
				if strings.Contains(test.steps, "up\n") {
					select {
					case <-enough:
					case <-ctx.Done():
					}
				}
				if test.meanwhile != nil {
					return test.meanwhile(ctx, c)
				}
				return nil
			}
			steps := strings.Replace(test.steps, "  - create: {apiVersion: v1, kind: ConfigMap, metadata: {name: \"behind\"}",
				"    outputs: {made: 'loads[\"maps\"].accepted'}\n"+
					"  - create: {apiVersion: v1, kind: ConfigMap, metadata: {name: \"behind\"}", 1)
			run := ran(t, p, scenario("one", steps), harness.Options{StepTimeout: time.Minute})
			s := find(t, run, "one")
			if got := statuses(s.Steps); got != test.want {
				t.Fatalf("%s: %s\n%s", got, s.Message, reports.Explain(s))
			}
			said := ""
			for _, step := range s.Steps {
				said += step.Message + step.Evidence
			}
			contains(t, said, test.says)
			if left := p.clusters[0].server.Count("nodes"); left != 0 {
				t.Errorf("%d nodes are left", left)
			}
		})
	}
}

// deleteMap deletes a ConfigMap of scenario one.
func (c *cluster) deleteMap(ctx context.Context, name string) error {
	client, err := dynamic.NewForConfig(c.RESTConfig())
	if err != nil {
		return err
	}
	return client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace("one").Delete(ctx,
		name, metav1.DeleteOptions{})
}

// What a load wrote is read back when nothing is down any more, not when one of two components is.
func TestReadBackAfterTwoKills(t *testing.T) {
	p := &provider{restart: func(context.Context, *cluster) error { return nil }}
	run := ran(t, p, scenario("one",
		"  - kill: {component: etcd}\n    during: ["+maps+", for: 50ms}]\n"+
			"  - kill: {component: kube-apiserver}\n"+
			"  - restart: {component: kube-apiserver}\n"+
			"  - restart: {component: etcd}\n"), harness.Options{})
	s := find(t, run, "one")
	if s.Status != reports.Passed {
		t.Fatal(s.Message)
	}
	for i, step := range s.Steps {
		if read := strings.Contains(step.Evidence, "acknowledged writes lost: 0"); read != (i == 3) {
			t.Errorf("step %d: %s", i+1, step.Evidence)
		}
	}
}

// A load whose writes could never be read back leaves its scenario without a verdict.
func TestWritesThatAreNeverReadBack(t *testing.T) {
	p := &provider{restart: func(context.Context, *cluster) error { return nil }}
	run := ran(t, p, scenario("one",
		"  - kill: {component: etcd}\n    during: ["+maps+", for: 50ms}]\n"+
			"  - kill: {component: kube-apiserver}\n"+
			"  - restart: {component: etcd}\n"), harness.Options{})
	s := find(t, run, "one")
	if s.Status != reports.Error {
		t.Errorf("%s: %s", s.Status, s.Message)
	}
	contains(t, s.Message, "was never read back")
}

// A load that begins while a component is down has no watch: what is gone may be lost, or deleted by somebody.
func TestLoadThatBeginsWithoutAWatch(t *testing.T) {
	for name, test := range map[string]struct {
		during bool // a map is deleted while the load runs
		want   reports.Status
		says   string
	}{
		"nothing is gone": {false, reports.Passed, "acknowledged writes lost: 0"},
		"a map is gone":   {true, reports.Error, "m-0: not there, and it is unknown whether the writes are lost"},
	} {
		t.Run(name, func(t *testing.T) {
			var made atomic.Int64
			enough := make(chan struct{})
			p := &provider{misbehave: func(r apitest.Request) *apitest.Fault {
				if r.Verb == "create" && strings.Contains(r.Manager, "load") && made.Add(1) == 20 {
					close(enough)
				}
				return nil
			}}
			p.restart = func(ctx context.Context, c *cluster) error {
				select {
				case <-enough:
				case <-ctx.Done():
				}
				if test.during {
					return c.deleteMap(ctx, "m-0")
				}
				return nil
			}
			run := ran(t, p, scenario("one", "  - kill: {component: etcd}\n"+
				"  - restart: {component: etcd}\n    during: ["+maps+"}]\n"), harness.Options{})
			s := find(t, run, "one")
			if s.Status != test.want {
				t.Errorf("%s, want %s: %s", s.Status, test.want, s.Message)
			}
			contains(t, s.Message+s.Steps[1].Evidence, test.says)
		})
	}
}

// A load that is cut short says nothing, even if nothing was wrong until then.
func TestLoadsThatAreCutShort(t *testing.T) {
	const (
		reads    = `{name: it, read: {apiVersion: v1, kind: ConfigMap}, rate: 100, for: 1h}`
		rejected = `{name: it, create: {apiVersion: v1, kind: Node, metadata: {name: "bad-${index}"}}, rate: 100, for: 1h, ` +
			`expect: {rejected: {code: 422}}}`
	)
	for name, test := range map[string]struct {
		load string
		dies bool
		want reports.Status
		says string
	}{
		"a component dies under reads":      {reads, true, reports.Error, "kube-apiserver ended"},
		"a component dies under rejections": {rejected, true, reports.Error, "kube-apiserver ended"},
		"the run is interrupted":            {reads, false, reports.NotRun, "the run was interrupted"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var sent atomic.Int64
			p := &provider{}
			p.misbehave = func(r apitest.Request) *apitest.Fault {
				bad := r.Verb == "create" && r.Kind == "Node"
				if (bad || r.Verb == "list" && r.Kind == "ConfigMap") && sent.Add(1) == 20 {
					if test.dies {
						p.clusters[0].died <- errors.New("kube-apiserver ended")
					} else {
						cancel()
					}
				}
				if bad {
					return &apitest.Fault{Status: apitest.Status(422, "Invalid", "no such luck")}
				}
				return nil
			}
			steps := "  - command: {run: [\"true\"]}\n    during: [" + test.load + "]\n"
			run, err := execute(ctx, t, p, scenario("one", steps), harness.Options{})
			if interrupted := err != nil; interrupted == test.dies {
				t.Error(err)
			}
			s := find(t, run, "one")
			if s.Status != test.want || s.Steps[0].Status != test.want {
				t.Errorf("%s, its step %s: %s", s.Status, s.Steps[0].Status, s.Message)
			}
			contains(t, s.Message, test.says)
		})
	}
}

// The loads of a scenario start when all scenarios of its track have arrived. One that limits latency runs alone.
func TestLoadsOnATrack(t *testing.T) {
	p := &provider{}
	text := scenario("one", underLoad(maps+"}")) + scenario("other", makeMap("x")+transition("1.35")+makeMap("y"))
	run := ran(t, p, text, harness.Options{})
	for _, name := range []string{"one", "other"} {
		if s := find(t, run, name); s.Status != reports.Passed {
			t.Errorf("%s: %s", name, s.Message)
		}
	}
	if len(run.Tracks) != 1 {
		t.Errorf("%d tracks", len(run.Tracks))
	}
	alone := scenario("one", underLoad(maps+", allowed: {latency: {p99: 1s}}}")) + scenario("other",
		makeMap("x")+transition("1.35")+makeMap("y"))
	plan := planned(t, p, alone, harness.PlanOptions{})
	if len(plan.Tracks) != 2 || plan.Tracks[0].Alone != "limits the latency of a load during up" {
		t.Errorf("%s", plan)
	}
}
