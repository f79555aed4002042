// Package planning assigns scenarios to tracks (a cluster with its path of states), and makes all checks that are
// possible before anything starts.
package planning

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/systems"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// Options say how scenarios are assigned to clusters.
type Options struct {
	// NoSharing gives each scenario its own cluster.
	NoSharing bool
	// Snapshots lets a track begin with a snapshot of an earlier track that has the same first state.
	Snapshots bool
	// ControlPlanes is the number of control planes of scenarios that do not set it; 0 means 1.
	ControlPlanes int
	// Simulators that systems can use.
	Simulators systems.Simulators
	// Modules builds systems that are programs of Go modules. If nil, such systems are not supported.
	Modules systems.Modules
	// Shard is the part of the run that is planned. Default: all of it.
	Shard Shard
	// Timings balance the shards. Default: by the number of states.
	Timings Timings
	// Definitions are files that replace systems of the scenarios: their contents, by the names of the systems. All
	// shards of a run must have the same ones. Without a shard, they have no effect.
	Definitions map[string]string
	// Skipped are further scenarios, which the caller has skipped: they are in the run's result, each with its reason.
	Skipped []Skipped
	// LeaveOut leaves out the scenarios that cannot be planned, as long as others remain. They are in Plan.LeftOut. By
	// default, such a scenario is an error of the whole plan.
	LeaveOut bool
	// BuildFirst builds the programs of Go modules during planning, with LeaveOut: a scenario whose program cannot be
	// built is left out, before others share its track and fail with it.
	BuildFirst bool
	// MayBeIdle allows a plan all of whose scenarios are skipped. By default, that is an error.
	MayBeIdle bool
	// Static leaves out the checks of what runs on this machine at the moment, such as ports that are in use.
	Static bool
}

// Plan is what will run: tracks, each a cluster with its path and its scenarios. A plan can be executed once.
type Plan struct {
	// Provider of the clusters.
	Provider clusters.Provider
	// Tracks in the order in which they begin.
	Tracks []*Track
	// Skipped are the scenarios that need what the provider does not support, and those that the caller has skipped.
	Skipped []*Skipped
	// LeftOut are the scenarios that cannot be planned, if the options leave them out. In the run's result, or in that of
	// the first shard, they are errors. Those that the provider does not support are skipped there.
	LeftOut []LeftOut

	// Simulators and Modules are those of the options.
	Simulators systems.Simulators
	Modules    systems.Modules

	result *reports.Run
}

// Track is scenarios that share a cluster and cross its transitions together.
type Track struct {
	// Name of the track and, behind the prefix of the run, of its cluster.
	Name string
	// Path of the cluster: resolved states. The cluster is created in the first one.
	Path []clusters.State
	// TransitionOptions say how the transitions are made. The first ones are for the transition to the second state.
	TransitionOptions []TransitionOptions
	// Alone says why the track has only one scenario and cannot be shared; "" if it can.
	Alone string
	// Entries are the scenarios of the track.
	Entries []*Entry
	// From is the earlier track with the same first state, whose snapshot this track begins with; nil if there is none.
	From *Track
	// Serves are the later tracks that begin with this track's snapshot.
	Serves []*Track

	// Report is the track in the run's result, and Setup are the steps of its cluster there.
	Report *reports.Track
	Setup  Setup
}

// Setup are the steps of a track's cluster itself in a run's result.
type Setup struct {
	Create, Remove *reports.Step
	// Snapshot is nil if no other track begins with it.
	Snapshot *reports.Step
	// Install is nil if the first state has no systems.
	Install     *reports.Step
	Transitions []*reports.Step
}

// Entry is a scenario in a plan.
type Entry struct {
	Scenario *scenarios.Scenario
	// States is how many of the track's states the scenario goes through. It leaves after the last of them.
	States int

	// Report is the scenario in the run's result, and Steps are its steps there.
	Report *reports.Scenario
	Steps  []*reports.Step
}

// Verb describes a verb for planning. Each function may be nil.
type Verb struct {
	// Needs returns the ability that clusters must have for the step; "" for none.
	Needs func(*scenarios.Step) clusters.Ability
	// Cannot returns why a step cannot run in a state; "" if it can.
	Cannot func(*scenarios.Step, clusters.State) string
	// Alone returns why a scenario with such a step cannot share its cluster; "" if it can.
	Alone func(*scenarios.Step) string
}

// New resolves the states of the scenarios' paths, puts scenarios with the same path on one track, and makes all
// checks that are possible before the start. Its error joins all problems, each with its position in the scenarios'
// files.
func New(ctx context.Context, provider clusters.Provider, set []*scenarios.Scenario, verbOf func(*scenarios.Step) Verb,
	o Options,
) (*Plan, error) {
	if len(set) == 0 {
		return nil, ErrNothingSelected
	}
	if borrower, able := provider.(clusters.Borrower); able {
		if err := borrower.Reach(ctx); err != nil {
			return nil, err
		}
	}
	p := planner{
		provider: provider, verbOf: verbOf, options: o, resolved: map[string]clusters.State{}, tracks: map[string]*Track{},
		checked: systems.Checks{},
	}
	for _, one := range o.Skipped {
		p.skipped = append(p.skipped, &one)
	}
	for _, s := range set {
		p.addOrLeaveOut(ctx, s)
	}
	if o.LeaveOut {
		p.leaveOutTracks(ctx)
	}
	if o.LeaveOut && o.BuildFirst {
		var unbuilt []LeftOut
		p.order, unbuilt = builds{o.Modules, map[clusters.ModuleProgram]error{}}.kept(ctx, p.order)
		p.leftOut = append(p.leftOut, unbuilt...)
		if ctx.Err() != nil {
			return nil, fmt.Errorf("build the programs of Go modules: %w", ctx.Err())
		}
	}
	p.share()
	for _, track := range p.order {
		p.checkPath(ctx, track)
		p.checkNames(track)
	}
	if len(p.order) == 0 && len(p.problems) == 0 && (!o.MayBeIdle || len(p.leftOut) > 0) {
		p.nothingLeft()
	}
	p.skipped = append(p.skipped, skippedOf(p.leftOut)...)
	digest := ""
	if o.Shard.Of > 0 {
		digest = o.digestOf(p.order, p.skipped, p.leftOut)
	}
	p.order = o.Shard.tracksOf(p.order, o.Timings)
	if len(o.Timings.Scenarios) > 0 {
		o.Timings.longestFirst(p.order)
	}
	if o.Shard.Number > 1 {
		p.skipped = nil // the first shard reports them
	}
	p.shareFirstStates()
	plan := &Plan{
		Provider: provider, Tracks: p.order, Skipped: p.skipped, LeftOut: p.leftOut,
		Simulators: o.Simulators, Modules: o.Modules,
	}
	if err := errors.Join(p.problems...); err != nil {
		return nil, err
	}
	plan.result = plannedRun(plan)
	if track := unplannedTrack(p.leftOut); len(track.Scenarios) > 0 && o.Shard.Number <= 1 {
		plan.result.Tracks = append(plan.result.Tracks, track)
	}
	if o.Shard.Of > 0 {
		plan.result.Shard = &reports.Shard{Number: o.Shard.Number, Of: o.Shard.Of, Plan: digest}
	}
	return plan, nil
}

// Result returns the planned run, in which nothing has run yet. A Recorder of the run must use its pointers.
func (p *Plan) Result() *reports.Run { return p.result }

type planner struct {
	provider clusters.Provider
	verbOf   func(*scenarios.Step) Verb
	options  Options
	resolved map[string]clusters.State
	checked  systems.Checks
	tracks   map[string]*Track
	order    []*Track
	skipped  []*Skipped
	leftOut  []LeftOut
	problems []error
}

func (p *planner) problem(at scenarios.Position, format string, args ...any) {
	p.problems = append(p.problems, fmt.Errorf("%s: "+format, append([]any{at}, args...)...))
}

// unsupported adds the problem that the provider does not support something.
func (p *planner) unsupported(at scenarios.Position, format string, args ...any) {
	p.problem(at, "%w", &UnsupportedError{fmt.Errorf(format, args...)})
}

// lacking adds the problem that something needs an ability that the provider's clusters do not have.
func (p *planner) lacking(at scenarios.Position, what string, ability clusters.Ability) {
	p.unsupported(at, "%s: provider %s does not support it: its clusters cannot %s (%s)", what, p.provider.Name(),
		ability.Text(), skipping(ability))
}

// skipping is the advice to skip a scenario on clusters without an ability.
func skipping(ability clusters.Ability) string {
	return fmt.Sprintf("with needs: [%s] the scenario is skipped there", ability)
}

// add puts a scenario on its track.
func (p *planner) add(ctx context.Context, s *scenarios.Scenario) {
	if why := p.lacks(ctx, s); why != "" {
		p.skipped = append(p.skipped, &Skipped{Scenario: s, Why: why})
		return
	}
	places := pathPlaces(s)
	var path []clusters.State
	for i, state := range s.Path() {
		if state.ControlPlanes == 0 {
			state.ControlPlanes = p.options.ControlPlanes
		}
		resolved, err := p.resolve(ctx, state)
		if err != nil {
			p.problem(places[i], "%w", err)
			return
		}
		path = append(path, resolved)
	}
	p.checkTransitions(s, path)
	p.checkOwnVersions(ctx, s, path)
	options := p.transitionOptions(s, path)
	p.checkVerbs(ctx, s, path)
	p.checkWebhookCalls(ctx, s, path)
	if p.options.LeaveOut && len(p.problems) > 0 {
		return
	}
	alone := p.whyAlone(s)
	if p.options.NoSharing && alone == "" {
		alone = "sharing is disabled"
	}
	key := trackKey(path, options)
	track := p.tracks[key]
	if track == nil || alone != "" {
		track = &Track{Name: fmt.Sprintf("track-%d", len(p.order)+1), Path: path, TransitionOptions: options, Alone: alone}
		p.order = append(p.order, track)
	}
	if alone == "" {
		p.tracks[key] = track
	}
	track.Entries = append(track.Entries, &Entry{Scenario: s, States: len(path)})
}

func (p *planner) resolve(ctx context.Context, state clusters.State) (clusters.State, error) {
	key := pathKey([]clusters.State{state})
	if known, ok := p.resolved[key]; ok {
		return known, nil
	}
	resolved, err := p.provider.Resolve(ctx, state)
	if err != nil {
		return state, err
	}
	p.resolved[key] = resolved
	return resolved, nil
}

// whyAlone returns why a scenario cannot share its cluster: others would disturb what it does or measures.
func (p *planner) whyAlone(s *scenarios.Scenario) string {
	if s.Spec.Exclusive {
		return "exclusive"
	}
	for _, step := range s.Spec.Steps {
		if alone := p.verbOf(&step).Alone; alone != nil && alone(&step) != "" {
			return alone(&step)
		}
		if limitsLatency(step) {
			return fmt.Sprintf("limits the latency of a load during %s", step.Title())
		}
	}
	return disturbs(s)
}

// limitsLatency reports whether other scenarios on the cluster would disturb what the step measures.
func limitsLatency(step scenarios.Step) bool {
	return slices.ContainsFunc(step.During, func(l scenarios.Requests) bool {
		return l.Allowed != nil &&
			l.Allowed.Latency != nil
	})
}

// pathKey is equal for equal paths.
func pathKey(path []clusters.State) string {
	text, err := json.Marshal(path)
	if err != nil {
		// Profiles come from YAML, so JSON can encode them. What JSON cannot encode is a path of its own.
		return fmt.Sprintf("%#v", path)
	}
	return string(text)
}

// pathPlaces returns the positions of the states of a scenario's path: its cluster, then each transition.
func pathPlaces(s *scenarios.Scenario) []scenarios.Position {
	places := []scenarios.Position{s.ClusterPosition}
	for _, step := range s.Spec.Steps {
		if step.Transition != nil {
			places = append(places, step.Position)
		}
	}
	return places
}
