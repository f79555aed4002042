package harness_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/reports"
)

// While the only scenario waits, another cluster starts, and its start creates what that scenario waits for.
func TestAnotherClusterBeginsWhileOneWaits(t *testing.T) {
	var made atomic.Int32
	p := &provider{t: t}
	p.create = func(context.Context) error {
		if made.Add(1) == 2 {
			p.clusters[0].server.Put("configmaps", configMap("first", "late"))
		}
		return nil
	}
	text := scenario("first", waitFor("late"), "exclusive: true") + scenario("second", makeMap("a"), "exclusive: true")
	run := ran(t, p, text, harness.Options{
		Parallel: 2, Clusters: 1, SpareClusters: 1, IdleAfter: time.Millisecond,
	})
	for _, name := range []string{"first", "second"} {
		if s := find(t, run, name); s.Status != reports.Passed {
			t.Errorf("%s: %s: %s", name, s.Status, s.Message)
		}
	}
}

// Scenarios that wait let others run on the same cluster, unless only one scenario may run at once, or too many wait.
func TestAnotherScenarioBeginsWhileOthersWait(t *testing.T) {
	for _, test := range []struct {
		parallel int
		waiting  string
		timeout  string // short if the wait must fail
		want     reports.Status
	}{
		{2, "ab", "1m", reports.Passed},
		{2, "abdefghijklmnopqr", "1m", reports.Passed},
		{2, "abdefghijklmnopqrs", "1s", reports.Failed},
		{1, "ab", "1s", reports.Failed},
	} {
		p := &provider{t: t}
		// No scenario made these objects, so a slow scenario finds them even after the last one has ended.
		p.metrics = func() (string, error) {
			for _, namespace := range strings.Split(test.waiting, "") {
				p.clusters[0].server.Put("configmaps", configMap(namespace, "late"))
			}
			return "m 1\n", nil
		}
		var text strings.Builder
		for _, name := range strings.Split(test.waiting, "") {
			text.WriteString(scenario(name, waitFor("late"), "timeout: "+test.timeout))
		}
		text.WriteString(scenario("c", "  - metric: {component: kube-apiserver, name: m, expect: {value: 1}}\n"))
		run := ran(t, p, text.String(), harness.Options{
			Parallel: test.parallel, IdleAfter: time.Millisecond,
		})
		if s := find(t, run, "c"); s.Status != reports.Passed {
			t.Errorf("c: %s: %s", s.Status, s.Message)
		}
		if s := find(t, run, "a"); s.Status != test.want {
			t.Errorf("%d at once, %d wait: %s, want %s: %s", test.parallel, len(test.waiting), s.Status, test.want, s.Message)
		}
	}
}

// A time ends with the step that waits, even if its scenario must then wait for a place.
func TestTimeEndsBeforeThereIsAPlace(t *testing.T) {
	p := &provider{t: t}
	var busy atomic.Int32
	ended := make(chan struct{})
	p.metrics = func() (string, error) {
		if busy.Add(1) < 2 {
			<-ended
			return "m 1\n", nil
		}
		defer close(ended) // a is waiting, and has given its place to this scenario
		server := p.clusters[0].server
		lists := server.Requests("list", "ConfigMap")
		server.Put("configmaps", configMap("a", "late"))
		// Each time that ends is read with a list. When the second is read, the first has ended.
		for deadline := time.Now().Add(10 * time.Second); server.Requests("list", "ConfigMap") < lists+2; {
			if time.Now().After(deadline) {
				t.Error("the times of a did not end before it had a place")
				break
			}
			runtime.Gosched()
		}
		changed := configMap("a", "kept")
		changed["data"] = map[string]any{"x": "2"}
		server.Put("configmaps", changed)
		return "m 1\n", nil
	}
	metric := "  - metric: {component: kube-apiserver, name: m, expect: {value: 1}}\n"
	unchanged := "  - unchanged: {apiVersion: v1, kind: ConfigMap, name: %s, paths: [data], throughout: [wait, wait]}\n"
	text := scenario("a", makeMap("kept")+makeMap("other")+strings.Replace(waitFor("late"), "- ", "- name: wait\n    ", 1)+
		fmt.Sprintf(unchanged, "kept")+fmt.Sprintf(unchanged, "other"), "timeout: 1m")
	run := ran(t, p, text+scenario("b", metric)+scenario("c", metric), harness.Options{
		Parallel: 2, IdleAfter: time.Millisecond,
	})
	if s := find(t, run, "a"); s.Status != reports.Passed {
		t.Errorf("%s: %s", s.Status, s.Message)
	}
}

// waitFor is a step that waits until a ConfigMap exists.
func waitFor(name string) string {
	return "  - eventually: {apiVersion: v1, kind: ConfigMap, name: " + name + "}\n"
}

func configMap(namespace, name string) map[string]any {
	return map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name, "namespace": namespace},
	}
}

// While a transition that is expected to break takes long, another cluster starts.
func TestAnotherClusterBeginsWhileOneDoesNotGetReady(t *testing.T) {
	var made atomic.Int32
	second := make(chan struct{})
	p := &provider{t: t}
	p.create = func(context.Context) error {
		if made.Add(1) == 2 {
			close(second)
		}
		return nil
	}
	p.converge = func(ctx context.Context, _ clusters.State) error {
		select {
		case <-second:
			return brokenBy(clusters.APIServer, "no kind Workload is registered")
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	text := strings.Replace(scenario("first", makeMap("a")+breaks), `"1.34"`, `"1.35"`, 1) +
		scenario("second", makeMap("a"))
	run := ran(t, p, text, harness.Options{Clusters: 1, SpareClusters: 1, IdleAfter: time.Millisecond})
	for _, name := range []string{"first", "second"} {
		if s := find(t, run, name); s.Status != reports.Passed {
			t.Errorf("%s: %s: %s", name, s.Status, s.Message)
		}
	}
}
