// Package specs makes Ginkgo specs of scenarios: one for each scenario, which share clusters as in any other run.
package specs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"
	"k8s.io/utils/clock"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// Declare declares a spec for each scenario, with the scenario's labels and its place in its file. It is called before
// RunSpecs. The options name the simulators that there are. Its error joins everything that can be known to be wrong before a cluster starts.
//
// A track's specs are an ordered container, which Ginkgo gives to one process: the first of them that is to run takes
// the track's scenarios through its path, side by side; then each says what came of its own. So with any number of processes
// each scenario runs once, and a filter that leaves out all scenarios of a track saves its cluster.
//
// What it returns gives, after RunSpecs, the result of what was run in this process.
func Declare(ctx context.Context, provider clusters.Provider, set []*scenarios.Scenario, options harness.PlanOptions) (result func() *reports.Run, err error) {
	plan, err := harness.NewPlan(ctx, provider, set, options)
	if err != nil {
		return nil, err
	}
	var tracks []*track
	for _, planned := range plan.Tracks {
		t := &track{provider: provider, options: options, name: planned.Name}
		var path []string
		for _, state := range planned.Path {
			path = append(path, state.String())
		}
		for _, entry := range planned.Entries {
			t.scenarios = append(t.scenarios, entry.Scenario)
		}
		tracks = append(tracks, t)
		ginkgo.Describe(planned.Name+": "+strings.Join(path, " -> "), ginkgo.Ordered, ginkgo.ContinueOnFailure, t.declare)
	}
	for _, skipped := range plan.Skipped {
		s, why := skipped.Scenario, skipped.Why
		ginkgo.It(s.Title(), types.NewCustomCodeLocation(s.Position.String()), ginkgo.Label(harness.Labels(s)...), func() { ginkgo.Skip(why) })
	}
	return func() *reports.Run { return joined(tracks) }, nil
}

// joined is one result of all tracks that were run.
func joined(tracks []*track) *reports.Run {
	all := &reports.Run{}
	for _, t := range tracks {
		if t.run != nil {
			all.Tracks = append(all.Tracks, t.run.Tracks...)
		}
	}
	return all
}

// track is the scenarios that share a cluster.
type track struct {
	provider  clusters.Provider
	options   harness.PlanOptions
	name      string
	scenarios []*scenarios.Scenario

	run *reports.Run
}

func (t *track) declare() {
	ginkgo.BeforeAll(t.execute)
	for i, s := range t.scenarios {
		at := types.NewCustomCodeLocation(s.Position.String())
		ginkgo.It(s.Title(), at, ginkgo.Label(harness.Labels(s)...), func() { t.report(i, at) })
	}
}

// execute runs the track alone, on a plan of its own.
func (t *track) execute(ctx ginkgo.SpecContext) {
	plan, err := harness.NewPlan(ctx, t.provider, t.scenarios, t.options)
	if err != nil {
		ginkgo.Fail(err.Error())
	}
	recorder := reports.NewRecorder(plan.Result(), clock.RealClock{})
	err = harness.Execute(ctx, plan, harness.Options{
		Recorder: recorder,
		Prefix:   fmt.Sprintf("specs-%d-%s", os.Getpid(), t.name),
		Progress: func(format string, args ...any) { ginkgo.GinkgoWriter.Printf(format+"\n", args...) },

		Environment: os.Environ(),
	})
	t.run = recorder.Run()
	if err != nil {
		ginkgo.Fail(err.Error())
	}
}

// report passes on what came of a scenario.
func (t *track) report(i int, at types.CodeLocation) {
	known, err := verdict(t.run, i)
	if known != "" {
		ginkgo.AddReportEntry("known issue", at, known)
	}
	if err != nil {
		ginkgo.Fail(err.Error())
	}
}

// verdict is what came of the i-th scenario of a run: a known issue, or why it did not pass.
func verdict(run *reports.Run, i int) (known string, err error) {
	for _, track := range run.Tracks {
		if i >= len(track.Scenarios) {
			i -= len(track.Scenarios)
			continue
		}
		s := track.Scenarios[i]
		switch s.Status {
		case reports.Passed:
			return "", nil
		case reports.Known:
			return s.KnownIssue, nil
		}
		parts := []string{fmt.Sprintf("%s: %s", s.Name, s.Status), reports.Explain(s)}
		return "", errors.New(strings.Join(append(parts, brokenSetup(track)...), "\n\n"))
	}
	return "", errors.New("the scenario is not in the run's result")
}

// brokenSetup says what went wrong with the cluster itself.
func brokenSetup(track *reports.Track) []string {
	var broken []string
	for _, step := range track.Setup {
		if step.Status == reports.Error || step.Status == reports.Failed {
			broken = append(broken, fmt.Sprintf("%s of the cluster (%s): %s", step.Verb, step.Name, step.Message))
		}
	}
	return broken
}
