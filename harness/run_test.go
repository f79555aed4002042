package harness_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/internal/apitest"
	"github.com/rehearse-dev/rehearse/reports"
)

func TestRun(t *testing.T) {
	p := &provider{}
	text := scenario("one", makeMap("a")+transition("1.35")+
		"  - name: still there\n    eventually: {apiVersion: v1, kind: ConfigMap, name: a, match: {data: {x: \"1\"}}}\n   "+
		" outputs: {x: object.data.x}\n"+
		makeMap("b-${outputs.x}")+"  - delete: {apiVersion: v1, kind: ConfigMap, name: a}\n"+
		"  - eventually: {apiVersion: v1, kind: ConfigMap, name: b-1}\n  - eventually: {apiVersion: v1, kind: ConfigMap, "+
		"name: a, absent: true}\n") +
		scenario("two", makeMap("a")+transition("1.35")+makeMap("b"))
	run := ran(t, p, text, harness.Options{})
	for _, name := range []string{"one", "two"} {
		if s := find(t, run, name); s.Status != reports.Passed || s.Namespace != name {
			t.Errorf("%s in %q: %s: %s", name, s.Namespace, s.Status, s.Message)
		}
	}
	if got := statuses(run.Tracks[0].Setup); got != "passed passed passed" {
		t.Errorf("setup %s", got)
	}
	c := p.clusters[0]
	if !slices.Equal(c.converged, []string{"1.35.4"}) || !c.deleted || len(p.clusters) != 1 {
		t.Errorf("converged %v, deleted %t, of %d clusters", c.converged, c.deleted, len(p.clusters))
	}
	if !c.server.Agent("rehearse/one") {
		t.Error("the scenario did not name itself")
	}
}

func TestOutputsOfAllObjects(t *testing.T) {
	for verb, more := range map[string]string{"eventually": "", "always": ", for: 1ms"} {
		text := scenario("one", makeMap("b")+makeMap("a")+
			"  - "+verb+": {apiVersion: v1, kind: ConfigMap, cel: object.data.x == '1'"+more+
			"}\n    outputs: {names: \"objects.map(o, o.metadata.name).join('-')\"}\n"+
			makeMap("${outputs.names}")+"  - eventually: {apiVersion: v1, kind: ConfigMap, name: a-b}\n")
		run := ran(t, &provider{}, text, harness.Options{})
		if s := find(t, run, "one"); s.Status != reports.Passed {
			t.Errorf("%s: %s: %s", verb, s.Status, s.Message)
		}
	}
}

// If neither a step nor its scenario has a timeout, the run's timeout applies.
func TestStepTimeout(t *testing.T) {
	waits := func(more string) string {
		return "  - eventually: {apiVersion: v1, kind: ConfigMap, name: never}\n" + more
	}
	text := scenario("run", waits("")) + scenario("step", waits("    timeout: 400ms\n"))
	run := ran(t, &provider{}, text, harness.Options{StepTimeout: 300 * time.Millisecond})
	for name, within := range map[string]string{"run": "within 300ms", "step": "within 400ms"} {
		if s := find(t, run, name); s.Status != reports.Failed || !strings.Contains(s.Steps[0].Message, within) {
			t.Errorf("%s: %s: %s", name, s.Status, s.Steps[0].Message)
		}
	}
}

// A look that takes longer than the step's time still decides: without an answer there is no verdict.
func TestALookThatOutlastsTheStep(t *testing.T) {
	answer := make(chan struct{})
	once := sync.OnceFunc(func() { time.AfterFunc(50*time.Millisecond, func() { close(answer) }) })
	p := &provider{misbehave: func(r apitest.Request) *apitest.Fault {
		if r.Verb == "list" && r.Kind == "ConfigMap" {
			once()
			<-answer
		}
		return nil
	}}
	text := scenario("one", "  - eventually: {apiVersion: v1, kind: ConfigMap, name: never, within: 20ms}\n")
	if s := find(t, ran(t, p, text, harness.Options{}), "one"); s.Status != reports.Failed {
		t.Errorf("%s: %s", s.Status, s.Message)
	}
}

func TestFailedScenarioLeavesTheOthers(t *testing.T) {
	for _, parallel := range []int{1, 8} {
		p := &provider{}
		text := scenario("one", makeMap("a")+transition("1.35")+makeMap("b")) +
			scenario("two", fails+transition("1.35")+makeMap("b")) +
			scenario("three", makeMap("a")+transition("1.35")+makeMap("b"))
		dir := t.TempDir()
		run := ran(t, p, text, harness.Options{Parallel: parallel, ReportDir: dir})
		for name, want := range map[string]string{
			"one": "passed passed passed", "two": "failed notRun notRun",
			"three": "passed passed passed",
		} {
			if got := statuses(find(t, run, name).Steps); got != want {
				t.Errorf("%d at once: %s is %s, want %s", parallel, name, got, want)
			}
		}
		if len(p.clusters[0].converged) != 1 {
			t.Errorf("converged %d times", len(p.clusters[0].converged))
		}
		failed := find(t, run, "two")
		if failed.Status != reports.Failed || !slices.Equal(failed.Artifacts,
			[]string{"two/objects.yaml", "two/events.yaml"}) {
			t.Errorf("%s with %v", failed.Status, failed.Artifacts)
		}
		if failed.Folder != filepath.Join(dir, "two") {
			t.Errorf("the folder of the artifacts is %s", failed.Folder)
		}
		for _, file := range failed.Artifacts {
			if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestNobodyLeftIsNoTransition(t *testing.T) {
	p := &provider{}
	run := ran(t, p, scenario("one", fails+transition("1.35")), harness.Options{})
	if got := statuses(run.Tracks[0].Setup); got != "passed notRun passed" || len(p.clusters[0].converged) != 0 {
		t.Errorf("setup %s", got)
	}
}

func TestFailedTransition(t *testing.T) {
	p := &provider{converge: func(context.Context,
		clusters.State,
	) error {
		return errors.New("unrecognized feature gate: Wrong")
	}}
	text := scenario("one", transition("1.35")+makeMap("b")) + scenario("two", makeMap("a")+transition("1.35"))
	dir := t.TempDir()
	run := ran(t, p, text, harness.Options{ReportDir: dir})
	for name, want := range map[string]string{"one": "error notRun", "two": "passed error"} {
		s := find(t, run, name)
		if got := statuses(s.Steps); got != want || s.Status != reports.Error {
			t.Errorf("%s is %s: %s", name, s.Status, got)
		}
		contains(t, s.Message, "unrecognized feature gate: Wrong")
	}
	if got := statuses(run.Tracks[0].Setup); got != "passed error passed" {
		t.Errorf("setup %s", got)
	}
	if _, err := os.Stat(filepath.Join(dir, "track-1", "collected")); err != nil {
		t.Error(err)
	}
}

func TestClusterThatCannotBeMade(t *testing.T) {
	p := &provider{create: func(context.Context) error { return errors.New("no room") }}
	run := ran(t, p, scenario("one", makeMap("a")), harness.Options{})
	if got := statuses(run.Tracks[0].Setup); got != "error notRun" {
		t.Errorf("setup %s", got)
	}
	if s := find(t, run, "one"); s.Status != reports.NotRun {
		t.Errorf("%s", s.Status)
	}
}

// at calls a function when a ConfigMap is created in a namespace with this prefix.
func at(name string, do func()) func(apitest.Request) *apitest.Fault {
	return func(r apitest.Request) *apitest.Fault {
		if r.Verb == "create" && strings.Contains(r.Kind, "ConfigMap") && strings.HasPrefix(r.Namespace, name) {
			do()
		}
		return nil
	}
}

func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p := &provider{converge: func(ctx context.Context, _ clusters.State) error {
		cancel()
		<-ctx.Done()
		return ctx.Err()
	}}
	text := scenario("one", makeMap("a")+transition("1.35")+makeMap("b")) + scenario("two", makeMap("a"),
		"exclusive: true")
	run, err := execute(ctx, t, p, text, harness.Options{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	s := find(t, run, "one")
	if got := statuses(s.Steps); got != "passed notRun notRun" || s.Status != reports.NotRun || !run.Interrupted {
		t.Errorf("%s: %s, interrupted %t", s.Status, got, run.Interrupted)
	}
	contains(t, s.Message, "interrupted")
	if s := find(t, run, "two"); s.Status != reports.NotRun {
		t.Errorf("two: %s", s.Status)
	}
	if len(p.clusters) != 1 || !p.clusters[0].deleted || run.Tracks[0].Setup[2].Status != reports.Passed {
		t.Errorf("%d clusters, delete %s", len(p.clusters), run.Tracks[0].Setup[2].Status)
	}
}

// An interrupt also ends the removal of what a scenario made: the cluster is deleted. It does not change the verdict.
func TestInterruptOfTheRemoval(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p := &provider{misbehave: func(r apitest.Request) *apitest.Fault {
		if r.Verb == "delete" && r.Kind == "Node" {
			cancel()
		}
		return nil
	}}
	node := "  - create: {apiVersion: v1, kind: Node, metadata: {name: node, finalizers: [x.io/keep]}}\n"
	run, _ := execute(ctx, t, p, scenario("one", node), harness.Options{CleanupTimeout: 10 * time.Second})
	if s := find(t, run, "one"); s.Status != reports.Passed || !p.clusters[0].deleted {
		t.Errorf("%s: %s: %s", s.Status, statuses(s.Steps), s.Message)
	}
}

func TestInterruptOfAnAssertion(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p := &provider{misbehave: func(r apitest.Request) *apitest.Fault {
		if r.Verb == "watch" && r.Kind == "ConfigMap" {
			cancel()
		}
		return nil
	}}
	steps := "  - eventually: {apiVersion: v1, kind: ConfigMap, name: never, within: 1h}\n"
	run, err := execute(ctx, t, p, scenario("one", steps), harness.Options{})
	if err == nil {
		t.Error("no error")
	}
	if s := find(t, run, "one"); s.Status != reports.NotRun || statuses(s.Steps) != "notRun" {
		t.Errorf("%s: %s", s.Status, statuses(s.Steps))
	}
}

func TestComponentThatDies(t *testing.T) {
	p := &provider{}
	p.misbehave = func(r apitest.Request) *apitest.Fault {
		if r.Verb == "watch" && r.Kind == "ConfigMap" && r.Number == 1 {
			p.clusters[0].died <- errors.New("kube-scheduler ended: panic: nil map")
		}
		return nil
	}
	steps := makeMap("a") + "  - eventually: {apiVersion: v1, kind: ConfigMap, name: never, within: 1h}\n"
	run := ran(t, p, scenario("one", steps), harness.Options{})
	s := find(t, run, "one")
	if s.Status != reports.Error || statuses(s.Steps) != "passed error" {
		t.Errorf("%s: %s", s.Status, statuses(s.Steps))
	}
	contains(t, s.Steps[1].Message, "kube-scheduler ended: panic: nil map")
}

func TestKnownIssues(t *testing.T) {
	known := `known: [{covers: [R1], versions: ["1.34"], step: broken, message: "%s", reason: a bug, link: "https://example.com/1"}]`
	spec := func(message, versions string) []string {
		line := strings.ReplaceAll(strings.ReplaceAll(known, "%s", message), `["1.34"]`, versions)
		line = strings.Replace(line, ` message: "",`, "", 1)
		return []string{"covers: [R1]", line}
	}
	broken := "  - name: broken\n    create: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n"
	rejects := func(r apitest.Request) *apitest.Fault {
		if r.Verb == "create" && r.Kind == "ConfigMap" && r.Manager != "" {
			return &apitest.Fault{Status: apitest.Status(422, "Invalid", "no such luck")}
		}
		return nil
	}
	unknown := func(r apitest.Request) *apitest.Fault {
		if r.Verb == "create" && r.Kind == "ConfigMap" {
			return &apitest.Fault{Status: apitest.Status(503, "ServiceUnavailable", "no such luck")}
		}
		return nil
	}
	for name, test := range map[string]struct {
		steps     string
		spec      []string
		misbehave func(apitest.Request) *apitest.Fault
		want      reports.Status
		says      string
	}{
		"it happens":      {broken, spec("such luck", `["1.34"]`), rejects, reports.Known, ""},
		"exact version":   {broken, spec("", `["1.34.4"]`), rejects, reports.Known, ""},
		"another patch":   {broken, spec("", `["1.34.5"]`), rejects, reports.Failed, "no such luck"},
		"another version": {broken, spec("", `["1.35"]`), rejects, reports.Failed, "no such luck"},
		"another message": {broken, spec("out of memory", `["1.34"]`), rejects, reports.Failed, "no such luck"},
		"another step": {
			strings.Replace(fails, "broken", "before", 1) + broken, spec("", `["1.34"]`), nil,
			reports.Failed, "before",
		},
		"it does not": {broken, spec("", `["1.34"]`), nil, reports.Failed, "remove it from `known`"},
		"need not":    {broken, spec("", `["1.35"]`), nil, reports.Passed, ""},
		"errors are no bug": {
			strings.Replace(broken, "create:", "timeout: 1ms\n    create:", 1), spec("", `["1.34"]`),
			unknown, reports.Error, "unknown whether",
		},
	} {
		t.Run(name, func(t *testing.T) {
			run := ran(t, &provider{misbehave: test.misbehave}, scenario("one", test.steps, test.spec...),
				harness.Options{})
			s := find(t, run, "one")
			if s.Status != test.want {
				t.Errorf("%s: %s", s.Status, s.Message)
			}
			contains(t, s.Message, test.says)
			if s.Status == reports.Known && s.KnownIssue != "a bug (https://example.com/1)" {
				t.Errorf("known issue %q", s.KnownIssue)
			}
		})
	}
}

func TestCleanUp(t *testing.T) {
	node := "  - create: {apiVersion: v1, kind: Node, metadata: {name: node}}\n"
	for _, borrowed := range []bool{true, false} {
		lent := &borrower{}
		p := &lent.provider
		var from fake = p
		if borrowed {
			from = lent
		}
		run := ran(t, from, scenario("one", node+makeMap("a")), harness.Options{})
		if s := find(t, run, "one"); s.Status != reports.Passed || len(s.Steps) != 2 {
			t.Errorf("%s with %d steps: %s", s.Status, len(s.Steps), s.Message)
		}
		server := p.clusters[0].server
		if server.Count("nodes") != 0 {
			t.Error("the node is still there")
		}
		if borrowed && server.Object("namespaces", "", "one") != nil {
			t.Error("the namespace is still there")
		}
	}
}

func TestWhatWouldNotGo(t *testing.T) {
	node := "  - create: {apiVersion: v1, kind: Node, metadata: {name: node, finalizers: [x.io/keep]}}\n"
	run := ran(t, &provider{}, scenario("one", node), harness.Options{CleanupTimeout: time.Second})
	s := find(t, run, "one")
	if s.Status != reports.Error || statuses(s.Steps) != "passed error" || s.Steps[1].Verb != "cleanup" {
		t.Fatalf("%s: %s", s.Status, statuses(s.Steps))
	}
	contains(t, s.Steps[1].Message, "node", "x.io/keep")
}

// An object is removed in a version that is served, if a transition has ended the one in which it was made. What our
// own cluster serves no more at all is deleted with the cluster.
func TestRemovalOfWhatIsNoLongerServed(t *testing.T) {
	const group = "flowcontrol.apiserver.k8s.io"
	kind := func(version string) apitest.Kind {
		return apitest.Kind{
			GVK: schema.GroupVersionKind{Group: group, Version: version, Kind: "FlowSchema"}, Resource: "flowschemas",
		}
	}
	steps := "  - create: {apiVersion: " + group + "/v1beta3, kind: FlowSchema, metadata: {name: flow}}\n" + transition("1.35")
	for name, test := range map[string]struct {
		borrowed bool
		serves   []apitest.Kind
		left     int
		status   reports.Status
	}{
		"another version, borrowed": {true, []apitest.Kind{kind("v1beta3"), kind("v1")}, 0, reports.Passed},
		"no version, borrowed":      {true, []apitest.Kind{kind("v1beta3")}, 1, reports.Error},
		"another version":           {false, []apitest.Kind{kind("v1beta3"), kind("v1")}, 0, reports.Passed},
		"no version":                {false, []apitest.Kind{kind("v1beta3")}, 1, reports.Passed},
	} {
		t.Run(name, func(t *testing.T) {
			lent := &borrower{provider{serves: test.serves}}
			p := &lent.provider
			var from fake = p
			if test.borrowed {
				from = lent
			}
			p.converge = func(context.Context, clusters.State) error {
				p.clusters[0].server.Withdraw(kind("v1beta3").GVK)
				return nil
			}
			run := ran(t, from, scenario("one", steps), harness.Options{})
			if s := find(t, run, "one"); s.Status != test.status {
				t.Errorf("%s: %s: %s", s.Status, statuses(s.Steps), s.Message)
			}
			if left := p.clusters[0].server.Count("flowschemas"); left != test.left {
				t.Errorf("%d objects left, want %d", left, test.left)
			}
		})
	}
}

// A scenario may end with its own cluster down. What it made is deleted together with the cluster.
func TestAScenarioEndsWithAKill(t *testing.T) {
	for _, component := range []string{"etcd", "kube-apiserver"} {
		p := &provider{misbehave: func(r apitest.Request) *apitest.Fault {
			if r.Verb == "delete" {
				return &apitest.Fault{Status: apitest.Status(503, "ServiceUnavailable", "there is no storage")}
			}
			return nil
		}}
		run := ran(t, p, scenario("one", "  - create: {apiVersion: v1, kind: Node, metadata: {name: node}}\n"+
			"  - kill: {component: "+component+"}\n"), harness.Options{CleanupTimeout: 50 * time.Millisecond})
		if s := find(t, run, "one"); s.Status != reports.Passed {
			t.Errorf("%s: %s: %s: %s", component, s.Status, statuses(s.Steps), s.Message)
		}
	}
}

// An object outside of the namespace may wait for what is in the namespace.
func TestWhatWaitsForTheNamespace(t *testing.T) {
	p := &provider{}
	p.misbehave = func(r apitest.Request) *apitest.Fault {
		if r.Verb == "delete" && r.Kind == "Namespace" {
			go p.clusters[0].server.Put("nodes", map[string]any{
				"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": "node"},
			})
		}
		return nil
	}
	node := "  - create: {apiVersion: v1, kind: Node, metadata: {name: node, finalizers: [x.io/in-use]}}\n"
	run := ran(t, p, scenario("one", node), harness.Options{CleanupTimeout: 20 * time.Second})
	if s := find(t, run, "one"); s.Status != reports.Passed {
		t.Errorf("%s: %s: %s", s.Status, statuses(s.Steps), s.Message)
	}
}

func TestKeep(t *testing.T) {
	p, said := &provider{}, ""
	node := "  - create: {apiVersion: v1, kind: Node, metadata: {name: node}}\n"
	ran(t, p, scenario("one", node), harness.Options{
		Keep: true, Progress: func(format string, args ...any) { said += format + args[1].(string) },
	})
	if p.clusters[0].deleted || p.clusters[0].server.Count("nodes") != 1 {
		t.Error("not everything was kept")
	}
	if got := p.clusters[0].server.Object("namespaces", "", "one").GetLabels()[harness.ScenarioLabel]; got != "one" {
		t.Errorf("the namespace is labelled %q", got)
	}
	contains(t, said, "KUBECONFIG", "the-kubeconfig")
}

func TestManyOnOneCluster(t *testing.T) {
	var text strings.Builder
	for _, name := range strings.Split("abcdefghij", "") {
		text.WriteString(scenario(name, makeMap("a")+transition("1.35")+makeMap("b")+transition("1.34")+makeMap("c")))
	}
	p := &provider{}
	var most, now atomic.Int32
	p.misbehave = at("", func() {
		most.Store(max(most.Load(), now.Add(1)))
		now.Add(-1)
	})
	run := ran(t, p, text.String(), harness.Options{Parallel: 1, Clusters: 3})
	for _, s := range run.Tracks[0].Scenarios {
		if s.Status != reports.Passed {
			t.Errorf("%s: %s", s.Name, s.Message)
		}
	}
	if got := len(p.clusters[0].converged); got != 2 {
		t.Errorf("converged %d times", got)
	}
	if most.Load() != 1 {
		t.Errorf("%d at once, want 1", most.Load())
	}
}

func TestComponents(t *testing.T) {
	p := &provider{}
	run := ran(t, p, scenario("one", "  - kill: {component: kube-scheduler}\n  - restart: "+
		"{component: kube-scheduler}\n"), harness.Options{})
	s := find(t, run, "one")
	if statuses(s.Steps) != "passed error" || !slices.Equal(p.clusters[0].killed,
		[]clusters.Component{clusters.Scheduler}) {
		t.Errorf("%s, killed %v", statuses(s.Steps), p.clusters[0].killed)
	}
	contains(t, s.Message, "it will not")
}
