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

// Options say how scenarios are put on clusters.
type Options struct {
	// NoSharing gives each scenario a cluster to itself.
	NoSharing bool
	// Snapshots lets a track begin with a snapshot of an earlier one's first state where it is the same.
	Snapshots bool
	// ControlPlanes is the number of control planes of scenarios that say none; 0 is one.
	ControlPlanes int
	// Simulators that systems can be.
	Simulators systems.Simulators
	// Modules builds systems that are programs of Go modules. Without it there are none.
	Modules systems.Modules
	// Shard is the part of the run that is planned. Default: all of it.
	Shard Shard
	// Timings balance the shards. Default: by the number of states.
	Timings Timings
	// LeaveOut plans without the scenarios that cannot be planned, as long as there are others: Plan.LeftOut has them.
	// Default: one that cannot be planned is an error of the whole plan.
	LeaveOut bool
}

// Plan is what will be done: tracks, each a cluster with its path and the scenarios on it. A plan can be executed once.
type Plan struct {
	// Provider of the clusters.
	Provider clusters.Provider
	// Tracks in the order in which they begin.
	Tracks []*Track
	// Skipped are the scenarios that need what the provider does not support.
	Skipped []*Skipped
	// LeftOut are the scenarios that cannot be planned, where the options leave them out. The run's result has none of
	// them: whoever leaves them out reports them.
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
	// Path of the cluster: resolved states, the first of which it is created in.
	Path []clusters.State
	// TransitionOptions are how the transitions are made: the first ones lead to the second state.
	TransitionOptions []TransitionOptions
	// Alone says why the track has only one scenario and may have no other; "" when it may.
	Alone string
	// Entries are the scenarios of the track.
	Entries []*Entry
	// From is the earlier track whose snapshot of the same first state this one begins with; nil when it begins with
	// nothing.
	From *Track
	// Serves are the later tracks that begin with a snapshot of this one's.
	Serves []*Track

	// Report is where the run's result has the track, and Setup are the steps of its cluster there.
	Report *reports.Track
	Setup  Setup
}

// Setup are the steps, in a run's result, that a track's cluster itself takes.
type Setup struct {
	Create, Remove *reports.Step
	// Snapshot is nil where no other track begins with it.
	Snapshot *reports.Step
	// Install is nil where the first state has no systems.
	Install     *reports.Step
	Transitions []*reports.Step
}

// Entry is a scenario in a plan.
type Entry struct {
	Scenario *scenarios.Scenario
	// States is how many of the track's states the scenario goes through: it leaves after the last of them.
	States int

	// Report is where the run's result has the scenario, and Steps are its steps there.
	Report *reports.Scenario
	Steps  []*reports.Step
}

// Verb is what a plan must know of a verb. Each function may be nil.
type Verb struct {
	// Needs is the ability of clusters without which a step cannot be run, "" for none.
	Needs func(*scenarios.Step) clusters.Ability
	// Cannot says why a step cannot be run in a state, "" where it can.
	Cannot func(*scenarios.Step, clusters.State) string
	// Alone says why a scenario with such a step cannot share its cluster, "" where it can.
	Alone func(*scenarios.Step) string
}

// New resolves the states of the scenarios' paths, puts scenarios that share a path on one track, and checks all
// that can be checked before anything starts. Its error joins everything that is wrong, each with its place in the
// scenarios' files.
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
	}
	for _, s := range set {
		p.addOrLeaveOut(ctx, s)
	}
	if o.LeaveOut {
		p.leaveOutTracks(ctx)
	}
	p.share()
	for _, track := range p.order {
		p.checkPath(ctx, track)
		p.checkNames(track)
	}
	if len(p.order) == 0 && len(p.problems) == 0 {
		p.nothingLeft()
	}
	digest := digestOf(p.order, p.skipped)
	p.order = o.Shard.tracksOf(p.order, o.Timings)
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
	if o.Shard.Of > 0 {
		plan.result.Shard = &reports.Shard{Number: o.Shard.Number, Of: o.Shard.Of, Plan: digest}
	}
	return plan, nil
}

// Result is the planned run, in which nothing has run yet. Its pointers are those that a Recorder of the run must be
// made from.
func (p *Plan) Result() *reports.Run { return p.result }

type planner struct {
	provider clusters.Provider
	verbOf   func(*scenarios.Step) Verb
	options  Options
	resolved map[string]clusters.State
	tracks   map[string]*Track
	order    []*Track
	skipped  []*Skipped
	leftOut  []LeftOut
	problems []error
}

func (p *planner) problem(at scenarios.Position, format string, args ...any) {
	p.problems = append(p.problems, fmt.Errorf("%s: "+format, append([]any{at}, args...)...))
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
		alone = "nothing is to be shared"
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

// whyAlone says why a scenario cannot share its cluster: what it does or measures would not be its own.
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
	return ""
}

// limitsLatency says whether others on the cluster would disturb what the step measures.
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
		// Profiles come from YAML, which JSON can always hold; what can't is a path of its own.
		return fmt.Sprintf("%#v", path)
	}
	return string(text)
}

// pathPlaces are where the states of a scenario's path stand: the scenario itself, then each transition.
func pathPlaces(s *scenarios.Scenario) []scenarios.Position {
	places := []scenarios.Position{s.ClusterPosition}
	for _, step := range s.Spec.Steps {
		if step.Transition != nil {
			places = append(places, step.Position)
		}
	}
	return places
}
