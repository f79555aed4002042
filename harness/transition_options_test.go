package harness_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/internal/apitest"
	"github.com/rehearse-dev/rehearse/reports"
)

func TestMethod(t *testing.T) {
	byKubeadm := "  - transition: {version: \"1.35\", method: kubeadm}\n"
	text := scenario("one", byKubeadm) + scenario("two", transition("1.35")) + scenario("three",
		byKubeadm) + scenario("rides", makeMap("a"))
	p := &methodical{provider{t: t}}
	plan := planned(t, p, text, harness.PlanOptions{})
	if len(plan.Tracks) != 2 || len(plan.Tracks[0].Entries) != 3 || len(plan.Tracks[1].Entries) != 1 {
		t.Errorf("who goes by a method of its own shares a track:\n%s", plan)
	}
	contains(t, plan.String(), "then 1.35.4 by kubeadm\n")
	run := executed(t, plan, harness.Options{})
	if code := reports.ExitCode(run); code != reports.ExitPassed {
		t.Errorf("exit code %d", code)
	}
	if want := []string{"by kubeadm", "1.35.4"}; !slices.Equal(p.clusters[0].converged, want) {
		t.Errorf("converged %v, want %v", p.clusters[0].converged, want)
	}
}

func TestMethodsThatCannotBe(t *testing.T) {
	up := scenario("up", "  - transition: {version: \"1.35\", method: kubeadm}\n")
	_, err := planOf(t, &provider{}, up, harness.PlanOptions{})
	if err == nil {
		t.Fatal("no problem was found")
	}
	contains(t, err.Error(), "test.yaml:8:5: method kubeadm: the clusters of provider fake know no methods")
	down := scenario("down", "  - transition: {version: \"1.33\", method: kubeadm}\n")
	_, err = harness.NewPlan(t.Context(), &methodical{}, load(t, down), harness.PlanOptions{})
	if err == nil {
		t.Fatal("no problem was found")
	}
	contains(t, err.Error(), "test.yaml:8:5: method kubeadm: kubeadm does not go down")
}

func TestRevert(t *testing.T) {
	for name, test := range map[string]struct {
		onFailure string
		backFails bool
		want      []string // the states that the cluster reached
		message   string
	}{
		"told":           {", onFailure: revert", false, []string{"1.34.4"}, "the cluster was taken back to 1.34.4"},
		"not told":       {"", false, nil, "it will not"},
		"back fails too": {", onFailure: revert", true, nil, "could not be reverted to 1.34.4: nor back"},
	} {
		t.Run(name, func(t *testing.T) {
			p := &provider{converge: func(_ context.Context, state clusters.State) error {
				switch {
				case state.Version == "1.35.4":
					return errors.New("it will not")
				case test.backFails:
					return errors.New("nor back")
				}
				return nil
			}}
			text := scenario("one", fmt.Sprintf("  - transition: {version: \"1.35\"%s}\n", test.onFailure)+makeMap("a"))
			run := ran(t, p, text, harness.Options{})
			s := find(t, run, "one")
			if s.Status != reports.Error || statuses(s.Steps) != "error notRun" {
				t.Errorf("%s: %s", s.Status, statuses(s.Steps))
			}
			contains(t, run.Tracks[0].Setup[1].Message, "it will not", test.message)
			if got := p.clusters[0].converged; !slices.Equal(got, test.want) {
				t.Errorf("the cluster came to %v, want %v", got, test.want)
			}
		})
	}
}

// An interrupted transition is not reverted: the run deletes the cluster at once.
func TestNoRevertAfterAnInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	p := &provider{converge: func(ctx context.Context, _ clusters.State) error {
		calls++
		cancel()
		return ctx.Err()
	}}
	_, err := execute(ctx, t, p, scenario("one", "  - transition: {version: \"1.35\", onFailure: revert}\n"),
		harness.Options{})
	if !errors.Is(err, context.Canceled) || calls != 1 {
		t.Errorf("%d transitions were tried: %v", calls, err)
	}
}

// The death of a component fails the transition. It does not prevent the revert.
func TestRevertAfterADeath(t *testing.T) {
	p := &provider{}
	p.converge = func(ctx context.Context, state clusters.State) error {
		if state.Version != "1.35.4" {
			return ctx.Err()
		}
		died := errors.New("kube-apiserver ended by itself")
		p.clusters[0].died <- died
		select {
		case <-ctx.Done(): // the watchdog would cancel everything
		case <-time.After(100 * time.Millisecond):
		}
		return died
	}
	text := scenario("one", "  - transition: {version: \"1.35\", onFailure: revert}\n")
	run := ran(t, p, text, harness.Options{})
	contains(t, run.Tracks[0].Setup[1].Message, "kube-apiserver ended by itself", "the cluster was taken back to 1.34.4")
}

// rolling is a provider whose clusters have two API servers.
type rolling struct {
	provider
	// made is called with each new cluster; may be nil.
	made func(*rollingCluster)
}

func (*rolling) Has(context.Context, clusters.Ability, clusters.State) (bool, error) {
	return true, nil
}

func (p *rolling) Create(ctx context.Context, name string, state clusters.State) (clusters.Cluster, error) {
	c, err := p.provider.Create(ctx, name, state)
	if err != nil {
		return nil, err
	}
	both := &rollingCluster{c.(*cluster), apitest.New(p.t)}
	if p.made != nil {
		p.made(both)
	}
	return both, nil
}

// rollingCluster's second API server has only what was written through it, so it shows which server was asked.
type rollingCluster struct {
	*cluster
	second *apitest.Server
}

func (c *rollingCluster) Roll(ctx context.Context, state clusters.State, roll clusters.Roll) error {
	text := fmt.Sprintf("up to %d", roll.UpTo)
	if roll.APIServersFirst {
		text += ", API servers first"
	}
	c.converged = append(c.converged, text)
	return c.Converge(ctx, state)
}

func (c *rollingCluster) Servers() []clusters.Server {
	all := []clusters.Server{
		{Plane: 0, Version: "1.35.4", REST: c.server.Config()},
		{Plane: 1, Version: "1.34.4", Behind: true, REST: c.second.Config()},
	}
	return slices.DeleteFunc(all, func(s clusters.Server) bool {
		return slices.Contains(c.killed, clusters.APIServer.On(s.Plane))
	})
}

// Restart starts a killed component.
func (c *rollingCluster) Restart(_ context.Context, component clusters.Component) error {
	c.killed = slices.DeleteFunc(c.killed, func(dead clusters.Component) bool { return dead == component })
	return nil
}

// A killed API server can be restarted by its number, though it does not answer.
func TestKillAndRestartVia(t *testing.T) {
	text := strings.Replace(scenario("window",
		"  - kill: {component: kube-apiserver}\n    via: 1\n"+
			makeMap("a")+
			"  - restart: {component: kube-apiserver}\n    via: 1\n"+
			makeMap("b")+"    via: 1\n"+
			"  - kill: {component: kube-apiserver}\n    via: 1\n"+
			makeMap("c")+"    via: 1\n"), "cluster: {version: \"1.34\"}", twoPlanes, 1)
	run := ran(t, &rolling{}, text, harness.Options{})
	s := run.Tracks[0].Scenarios[0]
	if got := statuses(s.Steps); got != "passed passed passed passed passed error" {
		t.Errorf("%s: %s", got, s.Message)
	}
	contains(t, s.Message, "kube-apiserver@1 does not run")
}

const twoPlanes = "cluster: {version: \"1.34\", controlPlanes: 2}"

func TestUpToAndVia(t *testing.T) {
	ask := func(name, more string) string {
		return fmt.Sprintf("  - eventually: {apiVersion: v1, kind: ConfigMap, name: %s, within: 5s%s}\n", name, more)
	}
	text := strings.Replace(scenario("window", makeMap("before")+
		"  - transition: {version: \"1.35\", upTo: 1}\n"+
		makeMap("a")+"    via: old\n"+
		ask("a", "")+"    via: 1\n"+
		ask("a", ", absent: true")+"    via: new\n"+
		makeMap("b")+"    via: 0\n"+
		ask("b", "")+
		"  - transition: {version: \"1.35\"}\n"), "cluster: {version: \"1.34\"}", twoPlanes, 1)
	p := &rolling{provider: provider{t: t}}
	plan := planned(t, p, text, harness.PlanOptions{})
	contains(t, plan.String(), "on 1 of the control planes")
	run := executed(t, plan, harness.Options{})
	if code := reports.ExitCode(run); code != reports.ExitPassed {
		t.Errorf("exit code %d: %+v", code, run.Tracks[0].Scenarios[0])
	}
	want := []string{"up to 1", "1.35.4 controlPlanes=2", "1.35.4 controlPlanes=2"}
	if got := p.clusters[0].converged; !slices.Equal(got, want) {
		t.Errorf("converged %v, want %v", got, want)
	}
	// A failure of one API server names that server.
	fails := strings.Replace(text, ", absent: true", ", cel: \"false\"", 1)
	fails = strings.Replace(fails, "via: new", "via: each\n    timeout: 1s", 1)
	run = ran(t, &rolling{}, fails, harness.Options{})
	contains(t, run.Tracks[0].Scenarios[0].Message, "asked through kube-apiserver@0 (1.35.4): ")
}

func TestOrder(t *testing.T) {
	text := strings.Replace(scenario("order",
		"  - transition: {version: \"1.35\", order: apiServersFirst, upTo: 2}\n"+
			"  - transition: {version: \"1.35\", order: apiServersFirst}\n"), "cluster: {version: \"1.34\"}", twoPlanes, 1)
	p := &rolling{provider: provider{t: t}}
	plan := planned(t, p, text, harness.PlanOptions{})
	contains(t, plan.String(), "on 2 of the components, API servers first", ", API servers first\n")
	executed(t, plan, harness.Options{})
	want := []string{
		"up to 2, API servers first", "1.35.4 controlPlanes=2", "up to 0, API servers first",
		"1.35.4 controlPlanes=2",
	}
	if got := p.clusters[0].converged; !slices.Equal(got, want) {
		t.Errorf("converged %v, want %v", got, want)
	}
}

// Components with their own versions must follow the version skew policy, with every API server that may run.
func TestOwnVersions(t *testing.T) {
	manager := func(version, more string) string {
		return fmt.Sprintf("  - transition: {components: {kube-controller-manager: {version: %q}}%s}\n", version, more)
	}
	const newer, older = "is newer than kube-apiserver", "is more than one minor version older than"
	const forced = ", force: true"
	for name, test := range map[string]struct{ steps, want string }{
		"one minor older": {
			"  - transition: {version: \"1.35\", components: {kube-scheduler: {version: \"1.34\"}}}\n", "",
		},
		"newer":         {manager("1.35", ""), newer},
		"newer, forced": {manager("1.35", forced), ""},
		"what was forced stays": {
			manager("1.35", forced) + "  - transition: {featureGates: {A: true}}\n" + manager("1.34", ""), "",
		},
		"forced once, and changed":      {manager("1.35", forced) + manager("1.36", ""), newer},
		"the cluster's own is no other": {manager("1.35", ", version: \"1.35\""), ""},
		"stays behind": {
			manager("1.33", "") + "  - transition: {version: \"1.35\"}\n", older,
		},
		"newer than an API server that was left behind": {
			"  - transition: {version: \"1.35\", upTo: 1, components: {kube-scheduler: {version: \"1.34\"}}}\n" +
				"  - transition: {components: {kube-scheduler: {version: \"1.35\"}}}\n", "",
		},
		"an API server of two minors, held": {
			"  - transition: {version: \"1.35\"}\n" +
				"  - transition: {version: \"1.34\", upTo: 1, components: {kube-scheduler: {version: \"1.33\"}}}\n", older,
		},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(scenario("own", test.steps), "cluster: {version: \"1.34\"}", twoPlanes, 1)
			_, err := harness.NewPlan(t.Context(), &rolling{provider: provider{t: t}}, load(t, text), harness.PlanOptions{})
			switch {
			case test.want == "" && err != nil:
				t.Errorf("rejected: %v", err)
			case test.want != "" && err == nil:
				t.Error("no problem was found")
			case test.want != "":
				contains(t, err.Error(), test.want, "force: true in a transition allows it", "test.yaml:")
			}
		})
	}
	text := scenario("own", manager("1.33", ""))
	_, err := harness.NewPlan(t.Context(), &helpless{}, load(t, text), harness.PlanOptions{})
	if err == nil {
		t.Fatal("no problem was found where no cluster can")
	}
	contains(t, err.Error(), "component kube-controller-manager: provider fake does not support it")
}

func TestUpToWhereThatCannotBe(t *testing.T) {
	text := strings.Replace(scenario("window", "  - transition: {version: \"1.35\", upTo: 1}\n"+makeMap("a")+"    via: 0\n"),
		"cluster: {version: \"1.34\"}", twoPlanes, 1)
	_, err := harness.NewPlan(t.Context(), &helpless{}, load(t, text), harness.PlanOptions{})
	if err == nil {
		t.Fatal("no problem was found")
	}
	contains(t, err.Error(), "transition: provider fake does not support it: its clusters cannot stop a transition between",
		"create: provider fake does not support it")
}
