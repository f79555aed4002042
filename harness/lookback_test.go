package harness_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/internal/apitest"
	"github.com/rehearse-dev/rehearse/reports"
)

// What was there through the load balancer, and is gone, needs not be seen through each API server.
func TestAbsenceThroughEach(t *testing.T) {
	const remove = "  - delete: {apiVersion: v1, kind: ConfigMap, name: a}\n"
	for title, test := range map[string]struct {
		name, via string
		want      reports.Status
	}{
		"it was there":                          {"a", "", reports.Passed},
		"it was there, through each":            {"a", "    via: each\n", reports.Passed},
		"it was there, through the other":       {"a", "    via: 1\n", reports.Passed},
		"there never was one":                   {"z", "", reports.Failed},
		"there never was one, asked one by one": {"z", "    via: each\n", reports.Failed},
	} {
		t.Run(title, func(t *testing.T) {
			text := strings.Replace(scenario("gone", makeMap("a")+remove+
				"  - eventually: {apiVersion: v1, kind: ConfigMap, name: "+test.name+
				", match: {data: {x: \"1\"}}, absent: true, within: 100ms}\n"+test.via),
				"cluster: {version: \"1.34\"}", twoPlanes, 1)
			run := ran(t, &rolling{provider: provider{t: t}}, text, harness.Options{})
			s := find(t, run, "gone")
			if s.Status != test.want {
				t.Errorf("%s, want %s: %s", s.Status, test.want, s.Message)
			}
			if test.want == reports.Failed {
				contains(t, s.Message, "The condition was never checked")
			}
		})
	}
}

// What a later step looks back on is watched before anything is written.
func TestWritesWaitForTheWatch(t *testing.T) {
	created := make(chan struct{})
	create := sync.OnceFunc(func() { close(created) })
	early := false
	p := &provider{misbehave: func(r apitest.Request) *apitest.Fault {
		switch {
		case r.Verb == "create" && r.Kind == "ConfigMap":
			create()
		case r.Verb == "list" && r.Kind == "ConfigMap" && r.Number == 1:
			select {
			case <-created:
				early = true
			case <-time.After(100 * time.Millisecond):
			}
		}
		return nil
	}}
	text := scenario("one", makeMap("a")+
		"  - delete: {apiVersion: v1, kind: ConfigMap, name: a}\n"+
		"  - eventually: {apiVersion: v1, kind: ConfigMap, name: a, match: {data: {x: \"1\"}}, absent: true}\n")
	if s := find(t, ran(t, p, text, harness.Options{}), "one"); s.Status != reports.Passed || early {
		t.Errorf("%s; it was created before the first list: %t\n%s", s.Status, early, s.Message)
	}
}

// What a scenario wrote through one API server must be reported through each one, before a step judges that time.
// Here the other API server has not reported an object that came and went before that write.
func TestLookBackWaitsForWrites(t *testing.T) {
	text := strings.Replace(scenario("writes", strings.Replace(makeMap("a"), "- create", "- name: up\n    create", 1)+
		"  - never: {apiVersion: v1, kind: ConfigMap, name: z, throughout: [up, up]}\n    via: each\n    timeout: 2s\n"),
		"cluster: {version: \"1.34\"}", twoPlanes, 1)
	p := &rolling{provider: provider{t: t}}
	p.made = func(c *rollingCluster) {
		c.server.Misbehave(func(r apitest.Request) *apitest.Fault {
			if r.Verb == "create" && r.Kind == "ConfigMap" {
				c.second.Hold()
				for range 10 {
					c.second.Put("configmaps", map[string]any{
						"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "z", "namespace": "writes"},
					})
					c.second.Delete("configmaps", "writes", "z")
				}
			}
			return nil
		})
	}
	s := find(t, ran(t, p, text, harness.Options{}), "writes")
	if s.Status != reports.Error {
		t.Errorf("%s: %s", s.Status, s.Message)
	}
	contains(t, s.Message, "of a write")
}

// A step that looks back through several API servers judges what each one showed, and whether they agree.
func TestLookBack(t *testing.T) {
	const (
		name   = "window"
		second = "kube-apiserver@1 (1.34.4)"
	)
	change := func(c *rollingCluster, change func(*unstructured.Unstructured)) {
		c.second.Render("configmaps", name, "a", change)
	}
	for title, test := range map[string]struct {
		// during runs during the transition.
		during func(*rollingCluster)
		// before runs before the first step.
		before func(*rollingCluster)
		// later runs during another transition, after the time.
		later func(*rollingCluster)
		judge string
		want  string
	}{
		"alike": {
			judge: "    via: each\n",
		},
		"one of them shows another thing": {
			during: func(c *rollingCluster) {
				change(c, func(o *unstructured.Unstructured) { o.SetLabels(map[string]string{"was": "dropped"}) })
			},
			judge: "    via: each\n",
			want:  "asked through " + second + ": unchanged",
		},
		"nobody asks the one that shows another thing": {
			during: func(c *rollingCluster) {
				change(c, func(o *unstructured.Unstructured) { o.SetLabels(map[string]string{"was": "dropped"}) })
			},
			judge: "    via: 0\n",
		},
		"each shows the same all the time, but not the same as the other": {
			before: func(c *rollingCluster) {
				change(c, func(o *unstructured.Unstructured) { o.SetLabels(map[string]string{"of": "the second"}) })
			},
			judge: "    via: each\n",
			want:  "API servers show different objects",
		},
		"only later do they show different things": {
			later: func(c *rollingCluster) {
				change(c, func(o *unstructured.Unstructured) { o.SetLabels(map[string]string{"of": "the second"}) })
			},
			judge: "    via: each\n",
		},
		"they show different things, and later the same": {
			before: func(c *rollingCluster) {
				change(c, func(o *unstructured.Unstructured) { o.SetLabels(map[string]string{"of": "the second"}) })
			},
			later: func(c *rollingCluster) {
				change(c, func(o *unstructured.Unstructured) { o.SetLabels(map[string]string{"x": "y"}) })
			},
			judge: "    via: each\n",
			want:  "API servers show different objects",
		},
		"one of them was not there": {
			before: func(c *rollingCluster) { c.second.Delete("configmaps", name, "a") },
			judge:  "    via: each\n",
			want:   "There was no ConfigMap",
		},
	} {
		t.Run(title, func(t *testing.T) {
			rest := ""
			if test.later != nil {
				rest = transition("1.35")
			}
			text := strings.Replace(scenario(name,
				"  - eventually: {apiVersion: v1, kind: ConfigMap, name: a}\n"+
					"  - name: up\n    transition: {version: \"1.35\", upTo: 1}\n"+rest+
					"  - unchanged: {apiVersion: v1, kind: ConfigMap, name: a, paths: [metadata.name, metadata.labels], "+
					"throughout: [up, up]}\n"+test.judge),
				"cluster: {version: \"1.34\"}", twoPlanes, 1)
			p := &rolling{provider: provider{t: t}}
			p.made = func(c *rollingCluster) {
				for _, server := range []interface {
					Put(string, map[string]any) *unstructured.Unstructured
				}{c.server, c.second} {
					server.Put("configmaps", map[string]any{
						"apiVersion": "v1", "kind": "ConfigMap",
						"metadata": map[string]any{"name": "a", "namespace": name, "labels": map[string]any{"x": "y"}},
					})
				}
				if test.before != nil {
					test.before(c)
				}
				converged := 0
				p.converge = func(context.Context, clusters.State) error {
					switch converged++; {
					case converged == 1 && test.during != nil:
						test.during(c)
					case converged == 2 && test.later != nil:
						test.later(c)
					}
					return nil
				}
			}
			run := ran(t, p, text, harness.Options{})
			result := run.Tracks[0].Scenarios[0]
			if test.want == "" {
				if result.Status != reports.Passed {
					t.Errorf("%s: %s", result.Status, result.Message)
				}
				return
			}
			if result.Status != reports.Failed {
				t.Errorf("%s: %s", result.Status, result.Message)
			}
			contains(t, result.Message, test.want)
		})
	}
}
