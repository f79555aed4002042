package harness_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/internal/apitest"
	"github.com/rehearse-dev/rehearse/reports"
)

const (
	breaks = "  - name: breaks\n    transition: {version: \"1.36\", expect: {broken: {component: kube-apiserver, " +
		"message: no kind Workload}}}\n"
	goBack = "  - name: back\n    transition: {version: \"1.35\"}\n"
)

func brokenBy(component clusters.Component, words string) error {
	return fmt.Errorf("bring cluster x there: %w", &clusters.BrokenError{
		Component: component, Words: words,
		Err: fmt.Errorf("%s is not ready", component),
	})
}

// breaking runs a scenario with these steps on a cluster of 1.35. A transition to 1.36 calls happens.
func breaking(t *testing.T, steps string, happens func(c *cluster) error) (*provider, *reports.Run) {
	t.Helper()
	p := &provider{}
	p.converge = func(_ context.Context, state clusters.State) error {
		if strings.HasPrefix(state.Version, "1.36") {
			return happens(p.clusters[0])
		}
		return nil
	}
	text := strings.Replace(scenario("one", makeMap("a")+steps), `"1.34"`, `"1.35"`, 1)
	run := ran(t, p, text, harness.Options{})
	return p, run
}

func TestTransitionThatBreaksAsExpected(t *testing.T) {
	p, run := breaking(t, breaks+goBack+makeMap("b"), func(c *cluster) error {
		c.died <- errors.New("kube-apiserver ended by itself") // the transition expects this death, too
		return brokenBy(clusters.APIServer, "[-]informer-sync failed\nno kind Workload is registered")
	})
	s := find(t, run, "one")
	if statuses(s.Steps) != "passed passed passed passed" || s.Status != reports.Passed {
		t.Errorf("%s, %s: %s", s.Status, statuses(s.Steps), s.Message)
	}
	contains(t, s.Steps[1].Evidence, "did not become 1.36.4, as expected", "no kind Workload is registered")
	contains(t, s.Steps[2].Evidence, "the cluster is now 1.35.4")
	if got := statuses(run.Tracks[0].Setup); got != "passed passed passed passed" {
		t.Errorf("the track's own steps: %s", got)
	}
	if len(p.clusters[0].converged) != 1 {
		t.Errorf("converged to %v", p.clusters[0].converged)
	}
}

// The API server of the new version may show an object differently, though another component broke.
func TestObjectsWhileAnotherComponentIsBroken(t *testing.T) {
	steps := "  - name: breaks\n    transition: {version: \"1.36\", expect: {broken: {component: kube-scheduler, " +
		"message: panic}}}\n" + goBack +
		"  - unchanged: {apiVersion: v1, kind: ConfigMap, name: a, paths: [metadata.labels], " +
		"throughout: [breaks, back]}\n"
	shows := func(c *cluster, labels map[string]string) {
		c.server.Render("configmaps", "one", "a", func(o *unstructured.Unstructured) { o.SetLabels(labels) })
	}
	p := &provider{}
	p.converge = func(_ context.Context, state clusters.State) error {
		if strings.HasPrefix(state.Version, "1.36") {
			shows(p.clusters[0], map[string]string{"default": "of-1.36"})
			return brokenBy(clusters.Scheduler, "panic: nil map")
		}
		shows(p.clusters[0], nil)
		return nil
	}
	run := ran(t, p, strings.Replace(scenario("one", makeMap("a")+steps), `"1.34"`, `"1.35"`, 1), harness.Options{})
	s := find(t, run, "one")
	if got := statuses(s.Steps); got != "passed passed passed failed" {
		t.Errorf("%s: %s", got, s.Message)
	}
	contains(t, reports.Explain(s), "of-1.36")
}

func TestScenarioThatEndsBroken(t *testing.T) {
	p, run := breaking(t, breaks, func(c *cluster) error {
		c.server.Misbehave(func(apitest.Request) *apitest.Fault { return &apitest.Fault{Code: 500, Text: "broken"} })
		return brokenBy(clusters.APIServer, "no kind Workload is registered")
	})
	s := find(t, run, "one")
	// The harness does not try to remove anything from a broken cluster.
	if statuses(s.Steps) != "passed passed" || s.Status != reports.Passed || !p.clusters[0].deleted {
		t.Errorf("%s, %s: %s", s.Status, statuses(s.Steps), s.Message)
	}
}

func TestOtherFailuresAreNoneThatWasExpected(t *testing.T) {
	expected := brokenBy(clusters.APIServer, "no kind Workload is registered")
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"another component": {
			brokenBy(clusters.Scheduler, "no kind Workload is registered"),
			"kube-apiserver is not what broke",
		},
		"other words": {
			brokenBy(clusters.APIServer, "address already in use"),
			`what kube-apiserver says does not contain "no kind Workload"`,
		},
		"no component at all": {errors.New("no kind Workload: disk full"), "kube-apiserver is not what broke"},
		"one more component": {
			errors.Join(expected, brokenBy(clusters.Scheduler, "panic")),
			"wanted kube-apiserver to break, and no other",
		},
		"something else too": {
			errors.Join(expected, errors.New("disk full")),
			"wanted kube-apiserver to break, and no other",
		},
		"words of the error only": {&clusters.BrokenError{
			Component: clusters.APIServer, Words: "panic",
			Err: errors.New("no kind Workload"),
		}, "what kube-apiserver says does not contain"},
	} {
		t.Run(name, func(t *testing.T) {
			_, run := breaking(t, breaks+goBack, func(*cluster) error { return test.err })
			s := find(t, run, "one")
			if !strings.HasPrefix(statuses(s.Steps), "passed error") || s.Status != reports.Error {
				t.Errorf("%s, %s", s.Status, statuses(s.Steps))
			}
			contains(t, s.Steps[1].Message, test.want)
			if got := statuses(run.Tracks[0].Setup); !strings.HasPrefix(got, "passed error") {
				t.Errorf("the track's own steps: %s", got)
			}
		})
	}
}

func TestStateThatIsReachedWhereABreakIsExpected(t *testing.T) {
	_, run := breaking(t, breaks+goBack, func(*cluster) error { return nil })
	s := find(t, run, "one")
	if !strings.HasPrefix(statuses(s.Steps), "passed failed") || s.Status != reports.Failed {
		t.Errorf("%s, %s", s.Status, statuses(s.Steps))
	}
	contains(t, s.Message, "wanted kube-apiserver to break", `contains "no kind Workload"`,
		"the cluster is now 1.36.4, but nothing is broken")
}

func TestDeathsAfterABrokenTransitionCountAgain(t *testing.T) {
	p := &provider{}
	p.converge = func(_ context.Context, state clusters.State) error {
		if strings.HasPrefix(state.Version, "1.36") {
			return brokenBy(clusters.APIServer, "no kind Workload")
		}
		return nil
	}
	p.metrics = func() (string, error) {
		p.clusters[0].died <- errors.New("kube-scheduler ended: panic: nil map")
		return "", errors.New("it is gone")
	}
	text := strings.Replace(scenario("one",
		breaks+goBack+"  - metric: {component: kube-scheduler, name: m, within: 30s}\n"), `"1.34"`, `"1.35"`, 1)
	run := ran(t, p, text, harness.Options{})
	s := find(t, run, "one")
	if statuses(s.Steps) != "passed passed error" {
		t.Errorf("%s: %s", statuses(s.Steps), s.Message)
	}
	contains(t, s.Message, "the cluster broke: kube-scheduler ended: panic: nil map")
}

func TestBreakIsPlannedAlone(t *testing.T) {
	p := &provider{t: t}
	text := scenario("a", goBack) + scenario("b", strings.Replace(goBack, "{version: \"1.35\"}",
		"{version: \"1.35\", expect: {broken: {component: kube-scheduler, message: x}}}", 1))
	plan := planned(t, p, text, harness.PlanOptions{})
	if len(plan.Tracks) != 2 || plan.Tracks[1].Alone != "breaks kube-scheduler" {
		t.Errorf("%s", plan)
	}
	contains(t, plan.String(), "transition: back (breaks kube-scheduler)")
}
