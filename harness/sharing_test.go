package harness_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/internal/apitest"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
)

// A scenario whose path is the beginning of another path shares its cluster, and does not delay the others.
func TestShorterPathsRide(t *testing.T) {
	p := &provider{}
	text := scenario("short", makeMap("a")) +
		scenario("middle", makeMap("a")+transition("1.35")+makeMap("b")) +
		scenario("long", makeMap("a")+transition("1.35")+transition("1.34")+makeMap("b")) +
		scenario("elsewhere", makeMap("a")+transition("1.33")) +
		scenario("alone", makeMap("a"), "exclusive: true")
	plan, err := planOf(t, p, text, harness.PlanOptions{})
	golden.Must(t, err)
	golden.Check(t, "testdata/riders.txt", plan.String())
	run := ran(t, p, text, harness.Options{})
	for name, versions := range map[string]string{
		"short": "1.34.4", "middle": "1.34.4 1.35.4", "long": "1.34.4 1.35.4",
		"elsewhere": "1.34.4 1.33.4", "alone": "1.34.4",
	} {
		s := find(t, run, name)
		if s.Status != reports.Passed || strings.Join(s.Versions, " ") != versions {
			t.Errorf("%s: %s in %v: %s", name, s.Status, s.Versions, s.Message)
		}
	}
	if len(p.clusters) != 3 {
		t.Errorf("%d clusters, want 3", len(p.clusters))
	}
}

// A known issue does not apply to a scenario if only other scenarios go to the version.
func TestRidersKnowTheirOwnPathOnly(t *testing.T) {
	known := `known: [{covers: [R1], versions: ["1.35"], step: made, reason: a bug}]`
	text := scenario("short", "  - name: made\n    create: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n",
		"covers: [R1]", known) +
		scenario("long", makeMap("a")+transition("1.35"))
	run := ran(t, &provider{}, text, harness.Options{})
	if s := find(t, run, "short"); s.Status != reports.Passed {
		t.Errorf("%s: %s", s.Status, s.Message)
	}
}

// Objects that can't be removed during another scenario's transition are removed afterwards.
func TestRemovalOutlastsATransition(t *testing.T) {
	const patience = time.Second // timeout of a removal; the transition takes longer
	crossing, removing := make(chan struct{}), make(chan struct{}, 100)
	cross := sync.OnceFunc(func() { close(crossing) })
	defer cross()
	p := &provider{}
	p.converge = func(ctx context.Context, _ clusters.State) error {
		cross()
		select {
		case <-removing: // the removal has failed at least once
		case <-ctx.Done():
			return ctx.Err()
		}
		<-time.After(patience + patience/4)
		p.clusters[0].server.Misbehave(nil)
		return nil
	}
	p.misbehave = func(r apitest.Request) *apitest.Fault {
		if r.Verb == "delete" && r.Kind == "Namespace" && r.Name == "short" {
			<-crossing
			removing <- struct{}{}
			return &apitest.Fault{}
		}
		return nil
	}
	text := scenario("short", makeMap("a")) + scenario("long", makeMap("a")+transition("1.35")+makeMap("b"))
	run := ran(t, p, text, harness.Options{CleanupTimeout: patience})
	for _, name := range []string{"short", "long"} {
		if s := find(t, run, name); s.Status != reports.Passed {
			t.Errorf("%s: %s: %s", name, s.Status, s.Message)
		}
	}
}

// A namespace that nothing holds is awaited for longer than one that something holds. The scenario's custom resources
// are deleted at once, so that their operator does not fill the namespace again.
func TestRemovalOutlastsAQueue(t *testing.T) {
	box := schema.GroupVersionKind{Group: "x.io", Version: "v1", Kind: "Box"}
	p := &provider{serves: []apitest.Kind{{GVK: box, Resource: "boxes", Namespaced: true}}}
	deletions := 0
	p.misbehave = func(r apitest.Request) *apitest.Fault {
		if r.Verb != "delete" || r.Kind != "Namespace" || r.Name != "short" {
			return nil
		}
		server := p.clusters[0].server
		if deletions++; deletions > 1 {
			server.Put("configmaps", map[string]any{
				"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "over", "namespace": "long"},
			})
			return nil
		}
		server.Render("namespaces", "", r.Name, func(namespace *unstructured.Unstructured) {
			now := metav1.Now()
			namespace.SetDeletionTimestamp(&now)
		})
		return &apitest.Fault{Text: `{"kind":"Status","apiVersion":"v1","status":"Success"}`, Code: http.StatusOK}
	}
	text := scenario("short", "  - create: {apiVersion: x.io/v1, kind: Box, metadata: {name: a}}\n") +
		scenario("long", "  - eventually: {apiVersion: v1, kind: ConfigMap, name: over, within: 1m}\n")
	run := ran(t, p, text, harness.Options{CleanupTimeout: time.Second})
	for _, name := range []string{"short", "long"} {
		if s := find(t, run, name); s.Status != reports.Passed || deletions != 2 {
			t.Errorf("%s: %s after %d deletions: %s", name, s.Status, deletions, s.Message)
		}
	}
	if n := p.clusters[0].server.Requests("delete", "Box"); n == 0 {
		t.Error("the custom resource was left to the namespace controller")
	}
}

// A namespace whose pods have finalizers is not in a queue: the removal ends, and names them.
func TestRemovalNamesHeldPods(t *testing.T) {
	p := &provider{}
	waits := 0
	p.misbehave = func(r apitest.Request) *apitest.Fault {
		if r.Verb != "delete" || r.Kind != "Namespace" || r.Name != "short" {
			return nil
		}
		if waits++; waits == 1 {
			server := p.clusters[0].server
			server.Put("pods", map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{
				"name": "held", "namespace": "short", "finalizers": []any{"x.io/keep"},
			}})
			server.Render("namespaces", "", r.Name, func(namespace *unstructured.Unstructured) {
				now := metav1.Now()
				namespace.SetDeletionTimestamp(&now)
			})
		}
		return &apitest.Fault{Text: `{"kind":"Status","apiVersion":"v1","status":"Success"}`, Code: http.StatusOK}
	}
	text := scenario("short", makeMap("a")) +
		scenario("long", "  - always: {apiVersion: v1, kind: ConfigMap, absent: true, for: 3s}\n")
	run := ran(t, p, text, harness.Options{CleanupTimeout: time.Second})
	s := find(t, run, "short")
	if s.Status != reports.Error || waits != 1 {
		t.Fatalf("%s after %d waits: %s", s.Status, waits, s.Message)
	}
	contains(t, s.Message, "its pods have finalizers: held (x.io/keep)")
}

func TestNamesThatCollide(t *testing.T) {
	node := func(name string) string {
		return "  - create: {apiVersion: v1, kind: Node, metadata: {name: \"" + name + "\"}}\n"
	}
	crd := "  - create: {apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: " +
		"\"${scenario.id}\"}, spec: {group: x.io, scope: Cluster, names: {kind: Queue}}}\n"
	queue := "  - apply: {apiVersion: x.io/v1, kind: Queue, metadata: {name: q}}\n"
	copies := func(name string) string {
		return "  - parallel: {count: 2, steps: [{create: {apiVersion: v1, kind: Node, metadata: {name: \"" + name + "\"}}}]}\n"
	}
	ofLoad := func(name string) string {
		return "  - always: {apiVersion: v1, kind: ConfigMap, absent: true, for: 1s}\n    during: [{name: l, for: 1s, rate: 1, create: {apiVersion: v1, " +
			"kind: Node, metadata: {name: \"" + name + "\"}}}]\n"
	}
	elsewhere := "  - create: {apiVersion: v1, kind: ConfigMap, metadata: {name: m, namespace: default}}\n"
	for name, test := range map[string]struct {
		one, two string
		spec     []string
		want     string
	}{
		"the same": {
			node("n"), node("n"), nil,
			"test.yaml:16:5: Node/n: the scenario one, which shares the cluster, creates it, too (test.yaml:8:5); put " +
				"${scenario.id} into its name",
		},
		"by a longer path":       {node("n"), node("n") + transition("1.35"), nil, "Node/n"},
		"in copies":              {copies("n-${index}"), copies("n-${index}"), nil, "Node/n-*"},
		"of a load":              {ofLoad("n-${index}"), ofLoad("n-${index}"), nil, "Node/n-*"},
		"in named copies":        {copies("${scenario.id}-${index}"), copies("${scenario.id}-${index}"), nil, ""},
		"in another namespace":   {elsewhere, elsewhere, nil, "ConfigMap/m in namespace default"},
		"of a kind defined":      {crd + queue, queue, nil, "Queue/q"},
		"of a kind unknown":      {queue, queue, nil, ""},
		"in copies, with spaces": {copies("n-${ index }"), copies("n-${index}"), nil, "Node/n-*"},
		"with the name":          {node("n-${scenario.name}"), node("n-${scenario.name}"), nil, ""},
		"with the name, in rows": {
			node("n"), node("n-${scenario.name}"), []string{`cases: [{v: "1"}, {v: "2"}]`}, "Node/n-two",
		},
		"with the id":  {node("n-${scenario.id}"), node("n-${scenario.id}"), nil, ""},
		"in their own": {makeMap("a"), makeMap("a"), nil, ""},
		"twice in one": {node("n") + node("n"), makeMap("a"), nil, ""},
		"rejected": {
			node("n"), strings.TrimSuffix(node("n"), "\n") + "\n    expect: {rejected: {code: 422}}\n",
			nil, "",
		},
		"alone":        {node("n"), node("n"), []string{"exclusive: true"}, ""},
		"another path": {node("n") + transition("1.33"), node("n") + transition("1.35"), nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := planOf(t, &provider{}, scenario("one", test.one)+scenario("two", test.two, test.spec...),
				harness.PlanOptions{})
			switch {
			case test.want == "" && err != nil:
				t.Error(err)
			case test.want != "" && err == nil:
				t.Error("no problem was found")
			case err != nil:
				contains(t, err.Error(), test.want)
			}
			if _, err := planOf(t, &provider{}, scenario("one", test.one)+scenario("two", test.two, test.spec...),
				harness.PlanOptions{NoSharing: true}); err != nil {
				t.Errorf("without sharing: %v", err)
			}
		})
	}
}

// A scenario that changes what others use has the cluster to itself.
func TestChangesOfSharedObjectsAreAlone(t *testing.T) {
	patch := func(kind, more string) string {
		return "  - patch: {apiVersion: v1, kind: " + kind + ", " + more + ", merge: {metadata: {labels: {a: b}}}}\n"
	}
	node := "  - create: {apiVersion: v1, kind: Node, metadata: {name: mine}}\n"
	for name, test := range map[string]struct{ steps, want string }{
		"a Node":               {patch("Node", "name: node-0"), "changes Node/node-0"},
		"an applied Node":      {"  - apply: {apiVersion: v1, kind: Node, metadata: {name: node-0}}\n", "changes Node/node-0"},
		"in another namespace": {patch("ConfigMap", "name: a, namespace: kube-system"), "changes ConfigMap/a"},
		"a counter":            {"  - metric: {name: x_total, expect: {value: 1}}\n", "counts metric x_total"},
		"its own Node":         {node + patch("Node", "name: mine"), ""},
		"in its own namespace": {makeMap("a") + patch("ConfigMap", "name: a"), ""},
		"an applied role of Kubernetes": {
			"  - apply: {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: view}}\n",
			"changes ClusterRole/view",
		},
		"the applied default class": {
			"  - apply: {apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: standard}, provisioner: none}\n",
			"changes StorageClass/standard",
		},
		"an applied role of its own": {
			"  - apply: {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: mine}}\n", "",
		},
		"one that it could not create": {
			strings.TrimSuffix(node, "\n") + "\n    expect: {rejected: {code: 409}}\n" + patch("Node", "name: mine"),
			"changes Node/mine",
		},
		"selected Nodes": {
			"  - delete: {apiVersion: v1, kind: Node, selector: {pool: a}}\n", "deletes each selected Node, which others may use",
		},
		"the Node of a pod": {
			"  - eventually: {apiVersion: v1, kind: Pod, name: a}\n    outputs: {node: object.spec.nodeName}\n" +
				patch("Node", `name: "${outputs.node}"`), "changes a Node, which others use",
		},
		"of the same name in another namespace": {
			makeMap("a") + patch("ConfigMap", "name: a, namespace: kube-system"), "changes ConfigMap/a",
		},
		"of an unknown name": {patch("Node", `name: "${scenario.id}"`), ""},
		"rejected":           {strings.TrimSuffix(patch("Node", "name: node-0"), "\n") + "\n    expect: {rejected: {code: 403}}\n", ""},
		"a dry run":          {strings.TrimSuffix(patch("Node", "name: node-0"), "\n") + "\n    dryRun: true\n", ""},
	} {
		plan, err := planOf(t, &provider{}, scenario("one", test.steps)+scenario("two", makeMap("a")), harness.PlanOptions{})
		golden.Must(t, err)
		if text := plan.String(); strings.Contains(text, "alone") != (test.want != "") || !strings.Contains(text, test.want) {
			t.Errorf("%s: want %q in\n%s", name, test.want, text)
		}
	}
}

// It is unknown what a program changes. Its scenario has the cluster to itself unless the step is shared.
func TestProgramsAreAlone(t *testing.T) {
	for name, test := range map[string]struct {
		step string
		want string
	}{
		"a command":        {"command: {run: [kubectl, apply]}", "command kubectl may disturb other scenarios"},
		"a shared command": {"command: {run: [kubectl, get], shared: true}", ""},
		"exec":             {"exec: {pod: web, run: [sh]}", "exec in pod web may disturb other scenarios"},
		"a shared exec":    {"exec: {pod: web, run: [sh], shared: true}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			plan, err := planOf(t, &provider{}, scenario("a", "  - "+test.step+"\n")+scenario("b", makeMap("a")),
				harness.PlanOptions{})
			golden.Must(t, err)
			wanted := 2
			if test.want == "" {
				wanted = 1
			}
			if got := plan.Tracks[0].Alone; !strings.HasPrefix(got, test.want) || (got == "") != (test.want == "") ||
				len(plan.Tracks) != wanted {
				t.Errorf("alone since %q on %d tracks, want %q on %d", got, len(plan.Tracks), test.want, wanted)
			}
		})
	}
}
