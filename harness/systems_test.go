package harness_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/internal/apitest"
	"github.com/rehearse-dev/rehearse/reports"
)

// withWebhooks makes clusters whose API servers serve the kinds of webhook configurations, without any object.
type withWebhooks struct{ *provider }

func (p withWebhooks) Create(ctx context.Context, name string, state clusters.State) (clusters.Cluster, error) {
	made, err := p.provider.Create(ctx, name, state)
	if err != nil {
		return nil, err
	}
	for _, kind := range []string{"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"} {
		gvk := schema.GroupVersionKind{Group: "admissionregistration.k8s.io", Version: "v1", Kind: kind}
		made.(*cluster).server.Serve(apitest.Kind{GVK: gvk, Resource: strings.ToLower(kind) + "s"})
	}
	return made, nil
}

// system is a process that prints a word and exits as soon as a file exists.
func system(name, file string) string {
	return fmt.Sprintf("{name: %s, process: {command: [sh, -c, \"while [ ! -e %s ]; do sleep 0.01; done; echo tired; "+
		"exit 7\"]}}", name, file)
}

func executeOn(t *testing.T, p *provider, text string, o harness.Options) *reports.Run {
	t.Helper()
	return ran(t, withWebhooks{p}, text, o)
}

func withSystem(name, system, steps string) string {
	return strings.Replace(scenario(name, steps), "cluster: {version: \"1.34\"}",
		"cluster: {version: \"1.34\", systems: ["+system+"]}", 1)
}

const awaitNothing = "  - always: {apiVersion: v1, kind: ConfigMap, name: none, absent: true, for: 10m}\n"

func TestSystemThatDies(t *testing.T) {
	file, dir := filepath.Join(t.TempDir(), "die"), t.TempDir()
	p := &provider{}
	run := executeOn(t, p, withSystem("dies", system("lws", file), "  - command: {run: [touch, "+file+"]}\n"+awaitNothing),
		harness.Options{ReportDir: dir})
	s := find(t, run, "dies")
	if s.Status != reports.Error {
		t.Errorf("status %s, want an error: the scenario was not at fault", s.Status)
	}
	contains(t, reports.Explain(s), "the cluster broke: system lws: ", "exit status 7", "tired")
	if logs, _ := filepath.Glob(filepath.Join(dir, "*", "system-lws-1.log")); len(logs) == 0 {
		t.Error("its log was not collected")
	}
	if !p.clusters[0].deleted {
		t.Error("the cluster was not deleted")
	}
}

func TestSystemThatCannotBeInstalled(t *testing.T) {
	p := &provider{}
	run := executeOn(t, p, withSystem("never", "{name: lws, process: {command: [\"false\"], ready: {tcp: "+
		"$(HEALTH_ADDRESS)}}}", makeMap("a")), harness.Options{})
	setup := run.Tracks[0].Setup
	if got := statuses(setup); got != "passed error passed" || setup[1].Verb != "install" {
		t.Errorf("setup %s, %s; want an error of the installation, and the cluster deleted", got, setup[1].Verb)
	}
	contains(t, setup[1].Message, "system lws(process): ", "exit status 1")
	if s := find(t, run, "never"); s.Status != reports.NotRun || reports.ExitCode(run) != 3 {
		t.Errorf("scenario %s, exit code %d; want not run, 3", s.Status, reports.ExitCode(run))
	}
}

func TestSystemIsKilledAndRestarted(t *testing.T) {
	never := filepath.Join(t.TempDir(), "never")
	steps := "  - kill: {system: lws}\n" + "  - restart: {system: lws}\n" + "  - kill: {system: lws}\n" +
		"  - transition: {systems: [{name: lws, process: {env: {A: b}}}]}\n" + "  - kill: {system: lws}\n" +
		"  - kill: {system: lws}\n"
	p := &provider{}
	run := executeOn(t, p, withSystem("kills", system("lws", never), steps), harness.Options{})
	s := find(t, run, "kills")
	if got := statuses(s.Steps); got != "passed passed passed passed passed error" {
		t.Errorf("steps %s\n%s", got, reports.Explain(s))
	}
	contains(t, s.Steps[5].Message, "kill system lws: it is not running")
	if got := len(p.clusters[0].converged); got != 1 {
		t.Errorf("the cluster converged %d times, want once", got)
	}
}

func TestWhoKillsASystemIsAlone(t *testing.T) {
	text := withSystem("one", system("lws", "/x"), "  - kill: {system: lws}\n") + withSystem("two", system("lws", "/x"),
		makeMap("a")) + withSystem("three", system("lws", "/x"), makeMap("a"))
	plan := planned(t, &provider{t: t}, text, harness.PlanOptions{})
	if len(plan.Tracks) != 2 || plan.Tracks[0].Alone != "kills lws" || len(plan.Tracks[1].Entries) != 2 {
		t.Errorf("got:\n%s", plan)
	}
}

// A system that is expected to reject its configuration fails if it serves. If it rejects the configuration in other
// words, the result is an error.
func TestSystemThatIsToReject(t *testing.T) {
	change := func(script, words string) string {
		return "  - transition:\n      systems: [{name: lws, process: {command: [sh, -c, \"" + script +
			"\"], ready: {tcp: \"127.0.0.1:1\"}}}]\n" +
			"      expect: {broken: {system: lws, message: " + words + "}}\n"
	}
	serves := "  - transition: {systems: [{name: lws, process: {env: {A: b}}}], expect: {broken: {system: lws, " +
		"message: configuration is wrong}}}\n"
	never := system("lws", filepath.Join(t.TempDir(), "never"))
	for _, c := range []struct {
		name, steps string
		want        reports.Status
		says        string
	}{
		{"rejects", change("echo the configuration is wrong; exit 2", "configuration is wrong"), reports.Passed, ""},
		{
			"in-other-words", change("echo the configuration is wrong; exit 2", "no such profile"), reports.Error,
			"expected a different failure: what system lws says",
		},
		{"serves", serves, reports.Failed, "wanted system lws to break"},
	} {
		p := &provider{}
		run := executeOn(t, p, withSystem(c.name, never, c.steps), harness.Options{})
		s := find(t, run, c.name)
		if s.Status != c.want {
			t.Errorf("%s: status %s, want %s\n%s", c.name, s.Status, c.want, reports.Explain(s))
		}
		if c.says != "" {
			contains(t, reports.Explain(s), c.says)
		}
	}
}

// A restore starts a system again that the scenario has killed.
func TestRestoreWithASystemThatIsDown(t *testing.T) {
	file := filepath.Join(t.TempDir(), "die")
	run := executeOn(t, &provider{}, withSystem("one", system("lws", file), "  - snapshot: {name: before}\n"+
		"  - kill: {system: lws}\n  - restore: {name: before}\n  - kill: {system: lws}\n"), harness.Options{})
	if s := find(t, run, "one"); s.Status != reports.Passed {
		t.Errorf("%s: %s", s.Status, s.Message)
	}
}
