// Package specs declares one Ginkgo spec per scenario; the scenarios share clusters as in any other run.
package specs

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"
	"k8s.io/utils/clock"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/planning"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// Declare declares a spec for each scenario, with the scenario's labels and its position in its file. Call it before
// RunSpecs. The options have the available simulators. The error joins all mistakes that can be found before a
// cluster starts.
//
// The specs of tracks that begin in the same state, some of them from a snapshot of another, are an ordered
// container, which Ginkgo gives to one process. The first spec that runs takes all scenarios of the container through
// their paths, side by side; then each spec reports the result of its scenario. So with any number of processes each
// scenario runs once, and a filter that leaves out all scenarios of a container saves its clusters.
//
// After RunSpecs, the returned function returns the results of this process.
func Declare(ctx context.Context, provider clusters.Provider, set []*scenarios.Scenario,
	options harness.PlanOptions,
) (result func() *reports.Run, err error) {
	options.MayBeIdle = true // each skipped scenario is a skipped spec
	plan, err := harness.NewPlan(ctx, provider, set, options)
	if err != nil {
		return nil, err
	}
	var families []*family
	for _, planned := range plan.Tracks {
		if planned.From != nil {
			continue // it is declared with the track whose snapshot it begins with
		}
		f := &family{provider: provider, options: options, tracks: append([]*planning.Track{planned}, planned.Serves...)}
		families = append(families, f)
		ginkgo.Describe(planned.Path[0].String(), ginkgo.Ordered, ginkgo.ContinueOnFailure, f.declare)
	}
	for _, skipped := range plan.Skipped { // the provider does not support them; the spec shows why
		s, why := skipped.Scenario, skipped.Why
		ginkgo.It(s.Title(), types.NewCustomCodeLocation(s.Position.String()), ginkgo.Label(planning.Labels(s)...),
			func() { ginkgo.Skip(why) })
	}
	return func() *reports.Run { return joined(families) }, nil
}

// joined joins the results of the families that ran.
func joined(families []*family) *reports.Run {
	all := &reports.Run{}
	for _, f := range families {
		if f.run != nil {
			all.Tracks = append(all.Tracks, f.run.Tracks...)
		}
	}
	return all
}

// family is the tracks whose clusters begin in the same state.
type family struct {
	provider clusters.Provider
	options  harness.PlanOptions
	tracks   []*planning.Track

	run *reports.Run
}

func (f *family) declare() {
	ginkgo.BeforeAll(f.execute)
	ginkgo.AfterAll(f.checkClusters)
	for _, track := range f.tracks {
		var path []string
		for _, state := range track.Path {
			path = append(path, state.String())
		}
		ginkgo.Context(track.Name+": "+strings.Join(path, " -> "), func() {
			for _, entry := range track.Entries {
				s := entry.Scenario
				at := types.NewCustomCodeLocation(s.Position.String())
				ginkgo.It(s.Title(), at, ginkgo.Label(planning.Labels(s)...), func() { f.report(s.Title(), at) })
			}
		})
	}
}

// execute runs the tracks, with their own plan.
func (f *family) execute(ctx ginkgo.SpecContext) {
	var list []*scenarios.Scenario
	for _, track := range f.tracks {
		for _, entry := range track.Entries {
			list = append(list, entry.Scenario)
		}
	}
	plan, err := harness.NewPlan(ctx, f.provider, list, f.options)
	if err != nil {
		ginkgo.Fail(err.Error())
	}
	recorder := reports.NewRecorder(plan.Result(), clock.RealClock{})
	err = harness.Execute(ctx, plan, harness.Options{
		Recorder: recorder,
		Prefix:   fmt.Sprintf("specs-%d-%s", os.Getpid(), f.tracks[0].Name),
		Progress: func(format string, args ...any) { ginkgo.GinkgoWriter.Printf(format+"\n", args...) },

		Environment: os.Environ(),
	})
	f.run = recorder.Run()
	if err != nil {
		ginkgo.Fail(err.Error())
	}
}

// checkClusters fails if something went wrong with a cluster itself, even if all scenarios passed.
func (f *family) checkClusters() {
	if f.run == nil {
		return
	}
	if err := reports.SetupProblems(f.run); err != nil {
		ginkgo.Fail(err.Error())
	}
}

// report reports the result of a scenario to Ginkgo.
func (f *family) report(title string, at types.CodeLocation) {
	known, err := reports.ForTest(f.run, title)
	if known != "" {
		ginkgo.AddReportEntry("known issue", at, known)
	}
	if err != nil {
		ginkgo.Fail(err.Error())
	}
}
