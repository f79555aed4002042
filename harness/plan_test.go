package harness_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/planning"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

func planOf(t *testing.T, p *provider, text string, o harness.PlanOptions) (*harness.Plan, error) {
	t.Helper()
	return harness.NewPlan(context.Background(), p, load(t, text), o)
}

var mixed = scenario("a", makeMap("a")+transition("1.35")+makeMap("b"), "covers: [X1]",
	`known: [{covers: [X1], versions: ["1.35"], step: broken, reason: it is broken}]`) +
	scenario("b", makeMap("a")) +
	scenario("c", makeMap("a")+transition("1.35.4")+"  - name: and on\n    eventually: {apiVersion: v1, kind: "+
		"ConfigMap, name: a}\n") +
	scenario("d", makeMap("a"), "exclusive: true") +
	scenario("e", "  - kill: {component: kube-scheduler}\n") +
	scenario("f", makeMap("${case.x}"), "cases: [{x: one}, {x: two}]")

func init() { mixed = strings.Replace(mixed, "  - create", "  - name: broken\n    create", 1) }

func TestPlan(t *testing.T) {
	plan, err := planOf(t, &provider{}, mixed, harness.PlanOptions{})
	golden.Must(t, err)
	golden.Check(t, "testdata/plan.txt", plan.String())
	for _, track := range plan.Result().Tracks {
		for _, s := range track.Scenarios {
			if s.Status != reports.NotRun || statuses(s.Steps) != strings.TrimSpace(strings.Repeat("notRun ", len(s.Steps))) {
				t.Errorf("%s is planned as %s: %s", s.Name, s.Status, statuses(s.Steps))
			}
		}
	}
}

func TestPlanWithoutSharing(t *testing.T) {
	plan, err := planOf(t, &provider{}, mixed, harness.PlanOptions{NoSharing: true})
	golden.Must(t, err)
	if len(plan.Tracks) != 7 {
		t.Errorf("%d tracks, want one for each of 7 scenarios", len(plan.Tracks))
	}
}

func TestPlanReportsAllProblems(t *testing.T) {
	text := scenario("skips", transition("1.36")) +
		scenario("stays", transition("1.34")) +
		scenario("forced", "  - transition: {version: \"1.36\", force: true}\n") +
		scenario("unknown", transition("9.9")) +
		scenario("gates", "  - transition: {featureGates: {Wrong: true}}\n  - transition: {featureGates: {Wrong: false, "+
			"Worse: true}}\n")
	p := &provider{check: func(path []clusters.State) error {
		var errs []error
		for _, state := range path {
			for _, gate := range clusters.SortedKeys(state.FeatureGates) {
				errs = append(errs, errors.New("no gate "+gate))
			}
		}
		return errors.Join(errs...)
	}}
	_, err := planOf(t, p, text, harness.PlanOptions{})
	if err == nil {
		t.Fatal("no problem was found")
	}
	golden.Check(t, "testdata/problems.txt", err.Error()+"\n")
}

// helpless is a provider whose clusters have no abilities.
type helpless struct{ provider }

func (*helpless) Has(context.Context, clusters.Ability, clusters.State) (bool, error) {
	return false, nil
}

func TestPlanFindsWhatClustersCannotDo(t *testing.T) {
	text := scenario("a", "  - kill: {component: kube-scheduler}\n  - metric: {name: x}\n  - resolve: {name: x}\n"+breaks)
	_, err := harness.NewPlan(context.Background(), &helpless{}, load(t, text), harness.PlanOptions{})
	if err == nil {
		t.Fatal("no problem was found")
	}
	contains(t, err.Error(), "test.yaml:8:5: kill", "test.yaml:9:5: metric", "test.yaml:10:5: resolve",
		"test.yaml:11:5: transition: provider fake does not support it: its clusters cannot name the component")
}

// If the provider cannot intercept calls of webhooks, webhookCalls is an error of the plan, with the place of the
// state. A scenario that declares this need is skipped instead.
func TestPlanFindsCallsOfWebhooks(t *testing.T) {
	const away = "  - transition: {systems: [{name: op, webhookCalls: {away: true}}]}\n"
	install := "  - transition: {systems: [{name: op, process: {command: [sleep, \"9\"]}}]}\n"
	set := load(t, scenario("a", install+away))
	_, err := harness.NewPlan(context.Background(), &helpless{}, set, harness.PlanOptions{})
	if err == nil {
		t.Fatal("no problem was found")
	}
	contains(t, err.Error(), "test.yaml:9:5: webhookCalls of system op: provider fake does not support it")
	set[0].Spec.Needs = []clusters.Ability{clusters.AbilityWebhookCalls}
	_, err = harness.NewPlan(context.Background(), &helpless{}, set, harness.PlanOptions{})
	if err == nil {
		t.Fatal("a scenario that cannot be run was planned")
	}
	contains(t, err.Error(), "it needs webhookCalls, which provider fake does not support")
}

// With LeaveOut, the plan leaves out the scenarios that cannot be planned, and names their places. If no scenario
// remains, the plan is an error.
func TestPlanLeavesOut(t *testing.T) {
	bad := scenario("unknown", transition("9.9")) + scenario("stays", transition("1.34")) +
		scenario("gate", "  - transition: {featureGates: {Wrong: true}}\n")
	p := &provider{check: func(path []clusters.State) error {
		if _, has := path[len(path)-1].FeatureGates["Wrong"]; has {
			return errors.New("no gate Wrong")
		}
		return nil
	}}
	plan, err := planOf(t, p, bad+scenario("good", makeMap("a")), harness.PlanOptions{LeaveOut: true})
	golden.Must(t, err)
	var left []string
	for _, out := range plan.LeftOut {
		left = append(left, out.Scenario.Title()+": "+out.Err.Error())
	}
	if len(left) != 3 {
		t.Errorf("left out: %q", left)
	}
	contains(t, strings.Join(left, "\n"), "unknown: test.yaml:", "stays: test.yaml:", "gate: test.yaml:", "no gate Wrong")
	if len(plan.Tracks) != 1 || len(plan.Tracks[0].Entries) != 1 || plan.Tracks[0].Entries[0].Scenario.Title() != "good" {
		t.Errorf("planned:\n%s", plan)
	}
	if _, err = planOf(t, p, bad, harness.PlanOptions{LeaveOut: true}); err == nil {
		t.Fatal("a plan of nothing")
	}
	contains(t, err.Error(), "no gate Wrong", "9.9", "leads to the state")
}

func TestFilter(t *testing.T) {
	set := load(t, strings.ReplaceAll(
		scenario("web-starts", makeMap("a"), "covers: [R1]")+scenario("web-stops", makeMap("a"),
			"covers: [R2]")+scenario("other", makeMap("a")),
		"{name: web-starts}", `{name: web-starts, labels: {system: kubernetes, kep: "5311"}}`))
	for name, test := range map[string]struct {
		focus, labels string
		want          []string
	}{
		"all":             {"", "", []string{"web-starts", "web-stops", "other"}},
		"focus":           {"^web-", "", []string{"web-starts", "web-stops"}},
		"label":           {"", "system:kubernetes", []string{"web-starts"}},
		"value":           {"", "5311", []string{"web-starts"}},
		"set":             {"", "kep: containsAny {5311, 1}", []string{"web-starts"}},
		"covers":          {"", "R1 || R2", []string{"web-starts", "web-stops"}},
		"not":             {"", "!R1", []string{"web-stops", "other"}},
		"focus and label": {"stops", "/R./", []string{"web-stops"}},
	} {
		t.Run(name, func(t *testing.T) {
			kept, err := planning.Filter(set, test.focus, test.labels)
			golden.Must(t, err)
			var got []string
			for _, s := range kept {
				got = append(got, s.Title())
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

func TestFilterErrors(t *testing.T) {
	set := load(t, scenario("a", makeMap("a"), "covers: [R1]"))
	for _, test := range []struct{ focus, labels, want string }{
		{"nobody", "", "no scenario is selected: none of 1 scenario has a name that matches --focus \"nobody\"\n  names: a"},
		{"", "slow", "no scenario is selected: none of 1 scenario has labels that satisfy --label \"slow\"\n  labels: R1"},
		{"b", "R1", "a name that matches --focus \"b\" and labels that satisfy --label \"R1\"\n  names: a\n  labels: R1"},
	} {
		if _, err := planning.Filter(set, test.focus, test.labels); !errors.Is(err, planning.ErrNothingSelected) ||
			!strings.Contains(err.Error(), test.want) {
			t.Errorf("got %v, want %q", err, test.want)
		}
	}
	for _, test := range [][2]string{{"(", ""}, {"", "a &&"}} {
		if _, err := planning.Filter(set, test[0], test[1]); err == nil || errors.Is(err, planning.ErrNothingSelected) {
			t.Errorf("%q: got %v", test, err)
		}
	}
	if _, err := harness.NewPlan(context.Background(), &provider{}, []*scenarios.Scenario{},
		harness.PlanOptions{}); !errors.Is(err, planning.ErrNothingSelected) {
		t.Errorf("an empty plan: got %v", err)
	}
}
