package harness

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/rehearse-dev/rehearse/clusters/pauses"
	"github.com/rehearse-dev/rehearse/harness/manifests"
	"github.com/rehearse-dev/rehearse/harness/storage"
	"github.com/rehearse-dev/rehearse/harness/survey"
	"github.com/rehearse-dev/rehearse/harness/transplant"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/upgrades"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/expressions"
)

const (
	// defaultSettle is how long an untouched cluster is watched at each look of survives.
	defaultSettle = 2 * time.Second
	// defaultLook is how long a look may take. It is longer than the timeout of other steps: a look waits for leaders, and
	// sends dry runs of every object.
	defaultLook = 5 * time.Minute
)

func survivesVerb() verb { return verb{run: runSurvives} }

// survivals are the surveys that the survives steps of a scenario judge.
type survivals struct {
	run *scenarioRun
	all []*survival
}

// survival is what a survives step has found out so far.
type survival struct {
	judge, last int
	// plane is the control plane of the API server that is asked; -1 for the load balancer.
	plane  int
	survey *survey.Survey
	// patience is how long a look, or a mark, may take.
	patience time.Duration
	mark     survey.Mark
	path     []*upgrades.State
	// due: objects may be different since the last look, and nothing could be looked at yet.
	due bool
	// settle waits until the API servers know the policies and roles that the scenario wrote: each look sends dry runs.
	settle func(context.Context) error
	// wrong is why it could not be found out.
	wrong *result
}

// begin takes the first look for the times that begin with step i, and a mark before a step that changes the cluster.
func (v *survivals) begin(ctx context.Context, i int) {
	for judge := range v.run.scenario.Spec.Steps {
		if v.run.scenario.Spec.Steps[judge].Survives == nil {
			continue
		}
		if first, last, ok := v.run.scenario.Span(judge); ok && first == i {
			v.firsts(ctx, judge, last)
		}
	}
	if !v.run.scenario.Spec.Steps[i].ChangesCluster() || v.blind() != "" {
		return // the mark before the cluster went down counts
	}
	for _, one := range v.all {
		if one.wrong == nil && i <= one.last {
			one.begin(ctx)
		}
	}
}

// end looks again after a step that may have changed objects by itself, or as soon as that is possible after it.
func (v *survivals) end(ctx context.Context, i int) {
	moves, blind := verbOf(&v.run.scenario.Spec.Steps[i]).moves, v.blind()
	for _, one := range v.all {
		quiet := i == one.last && i < one.judge && len(one.path) == 1 // nothing changed, so the end of the time is looked at
		one.due = one.due || moves && i <= one.last || quiet
		if one.wrong == nil && one.due && blind == "" {
			one.look(ctx, v.run.shared.track.Path[v.run.at].String())
		}
	}
}

// blind returns why nothing can be looked at: a component that reads need is down, or the cluster broke as expected; ""
// if everything can.
func (v *survivals) blind() string {
	switch {
	case v.run.shared.transitions.wreck() != nil:
		return "the cluster broke, as expected"
	case len(v.run.down) > 0:
		return fmt.Sprintf("%v was killed", slices.Sorted(maps.Keys(v.run.down))[0])
	}
	return ""
}

// pause ends the watches of all surveys until resume is called.
func (v *survivals) pause(ctx context.Context) (resume func(), err error) {
	var all []*survey.Survey
	for _, one := range v.all {
		if one.survey != nil {
			all = append(all, one.survey)
		}
	}
	return survey.Pause(ctx, all)
}

func (v *survivals) close() {
	for _, one := range v.all {
		if one.survey != nil {
			one.survey.Close()
		}
	}
}

// firsts takes the first look through the API servers that the step names.
func (v *survivals) firsts(ctx context.Context, judge, last int) {
	via := v.run.scenario.Spec.Steps[judge].Via
	if via == "" {
		v.all = append(v.all, first(ctx, v.run, judge, last))
		return
	}
	servers, err := chosen(v.run.shared.cluster, via)
	for _, server := range servers {
		through, err := v.run.through(ctx, server)
		one := &survival{judge: judge, last: last, plane: server.Plane}
		if one.fail(err); err == nil {
			one = first(ctx, through, judge, last)
		}
		v.all = append(v.all, one)
	}
	if err != nil {
		one := &survival{judge: judge, last: last, plane: via.Plane()}
		one.fail(err)
		v.all = append(v.all, one)
	}
}

// first selects the objects, and takes the first look at them.
func first(ctx context.Context, run *scenarioRun, judge, last int) *survival {
	one := &survival{judge: judge, last: last, plane: -1}
	config := run.shared.cluster.RESTConfig()
	if run.via != nil {
		one.plane, config = run.via.Plane, run.via.REST
	}
	original := run.scenario.Spec.Steps[judge]
	step, err := expressions.Evaluated(run.shared.Expressions.WithContext(ctx), original, run.variables(&original))
	if err != nil {
		one.fail(fmt.Errorf("evaluate the expressions of survives before its time begins: %w", err))
		return one
	}
	one.patience = step.Timeout.Or(defaultLook)
	one.settle = func(ctx context.Context) error { return run.settling.quietly(ctx, step) }
	one.timed(ctx, one.settle)
	if one.wrong != nil {
		return one
	}
	found, wrong := selected(ctx, run, step)
	if one.wrong = wrong; wrong != nil {
		return one
	}
	options := survey.Options{
		Settle: step.Survives.Settle.Or(defaultSettle), Except: []survey.Check{survey.Warning},
		Writes: storage.Writes(run.shared.cluster),
	}
	for _, check := range step.Survives.Except {
		options.Except = append(options.Except, survey.Check(check))
	}
	if one.survey, err = survey.New(config, options); err != nil {
		one.fail(err)
		return one
	}
	one.survey.Add(found...)
	if one.begin(ctx); one.wrong == nil {
		one.look(ctx, run.shared.track.Path[run.at].String())
	}
	return one
}

// selected returns the objects that survives checks; there must be at least one.
func selected(ctx context.Context, run *scenarioRun, step scenarios.Step) ([]survey.Created, *result) {
	selection := step.Survives.Selection
	timeout := run.timeout(step, run.shared.StepTimeout)
	kind, err := run.served(ctx, selection, timeout)
	if err != nil {
		wrong := unserved(step, selection, err)
		return nil, &wrong
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	scope := run.timeline.looksAt(selection, kind)
	options := metav1.ListOptions{}
	if len(selection.Selector) > 0 {
		options.LabelSelector = labels.SelectorFromSet(selection.Selector).String()
	}
	api := run.client.Resource(kind.Resource).Namespace(scope.Namespace)
	list, err := api.List(ctx, options)
	for again := pauses.Growing(25*time.Millisecond, 500*time.Millisecond); err != nil && pauses.Wait(ctx, again); {
		list, err = api.List(ctx, options)
	}
	if err != nil {
		wrong := failure(reports.Error, "survives: list %s of %s: %v", selection.Kind, selection.APIVersion, err)
		return nil, &wrong
	}
	var found []survey.Created
	for i := range list.Items {
		if selection.Name == "" || list.Items[i].GetName() == selection.Name {
			o := &list.Items[i]
			given := &manifests.Object{Content: transplant.Manifest(o), File: step.Position.File, Line: step.Position.Line}
			found = append(found, survey.Created{Object: given, Namespace: o.GetNamespace(), UID: string(o.GetUID())})
		}
	}
	if len(found) == 0 {
		wrong := failure(reports.Failed, "survives: no %s is selected, so nothing can be checked",
			selection.Kind)
		return nil, &wrong
	}
	return found, nil
}

func (one *survival) fail(err error) {
	if err != nil && one.wrong == nil {
		wrong := failure(reports.Error, "survives: %v", err)
		one.wrong = &wrong
	}
}

// begin notes who leads now. What happened since the last look still counts.
func (one *survival) begin(ctx context.Context) {
	one.timed(ctx, func(ctx context.Context) error {
		now, err := one.survey.Begin(ctx)
		one.mark = now.Since(one.mark)
		return err
	})
}

// timed asks the cluster for something, as long as that may take.
func (one *survival) timed(ctx context.Context, ask func(context.Context) error) {
	ctx, cancel := context.WithTimeoutCause(ctx, one.patience, fmt.Errorf("a look at the cluster took longer than %s",
		one.patience))
	defer cancel()
	err := ask(ctx)
	if err != nil && ctx.Err() != nil && !errors.Is(err, context.Cause(ctx)) {
		err = fmt.Errorf("%w: %w", context.Cause(ctx), err)
	}
	one.fail(err)
}

// look surveys the cluster in the state that it has reached.
func (one *survival) look(ctx context.Context, state string) {
	way := upgrades.Start
	if n := len(one.path); n > 0 {
		way = upgrades.Up
		if n > 1 && one.path[n-2].Name == state && one.path[n-1].Name != state {
			way = upgrades.Back
		}
	}
	one.path, one.due = append(one.path, &upgrades.State{Name: state, Way: way}), false
	one.timed(ctx, func(ctx context.Context) error {
		if err := one.settle(ctx); err != nil {
			return err
		}
		mark, err := one.survey.At(ctx, one.mark)
		if one.path[len(one.path)-1].Reached = err == nil; err == nil {
			one.mark = mark
		}
		return err
	})
}

// runSurvives judges what the survey found.
func runSurvives(ctx context.Context, s *scenarioRun, i int, step scenarios.Step) result {
	one := s.survivals.of(ctx, s, i, step)
	if one == nil && s.via != nil {
		return failure(reports.Error, "survives %s: this API server did not run when the time began, so there is nothing "+
			"to compare with", step.Survives.Kind)
	}
	if one == nil {
		return failure(reports.Error, "survives %s: no time is given", step.Survives.Kind)
	}
	if one.wrong == nil && (one.due || len(one.path) == 1) && !step.Survives.Now {
		if why := s.survivals.blind(); why != "" {
			return failure(reports.Error, "survives: nothing can be looked at, since %s", why)
		}
		one.look(ctx, s.shared.track.Path[s.at].String())
	}
	if one.wrong != nil {
		return *one.wrong
	}
	report := &upgrades.Report{Path: one.path}
	one.survey.Judge(report)
	report.Objects = report.Surveyed
	return survived(report, step.Survives.Now)
}

func (v *survivals) of(ctx context.Context, s *scenarioRun, i int, step scenarios.Step) *survival {
	if step.Survives.Now {
		one := first(ctx, s, i, i)
		v.all = append(v.all, one)
		return one
	}
	for _, one := range v.all {
		if one.judge == i && (s.via == nil && one.plane < 0 || s.via != nil && one.plane == s.via.Plane) {
			return one
		}
	}
	return nil
}

// The beginnings of messages about what did not survive, or of which that is unknown.
const (
	notSurvived     = "not everything survives: "
	survivalUnknown = "it could not be judged whether everything survives: "
)

// survived turns a survey's report into the step's result. What was broken at the first look counts only if it is the
// only look.
func survived(report *upgrades.Report, now bool) result {
	var broken, unjudged, notes []string
	var problems []reports.Outcome
	for _, f := range report.Findings {
		text := fmt.Sprintf("%s: %s: %s: %s", f.Hop, names(f.Objects), f.What, f.Words)
		switch {
		case f.Severity == upgrades.Breaks, f.Severity == upgrades.Before && now:
			broken = append(broken, text)
			problems = append(problems, asProblem(reports.Failed, f, notSurvived+text))
		case f.Severity == upgrades.Unjudged:
			unjudged = append(unjudged, text)
			problems = append(problems, asProblem(reports.Error, f, survivalUnknown+text))
		default:
			notes = append(notes, fmt.Sprintf("%s: %s", f.Severity, text))
		}
	}
	r := result{Outcome: reports.Outcome{
		Status: reports.Passed, Note: strings.Join(notes, "\n"),
		Evidence: upgrades.Text(report), Problems: reports.Several(problems),
	}}
	switch {
	case len(broken) > 0:
		r.Status, r.Message = reports.Failed, notSurvived+strings.Join(broken, "\n")
	case len(unjudged) > 0:
		r.Status, r.Message = reports.Error, survivalUnknown+strings.Join(unjudged, "\n")
	}
	return r
}

// asProblem is a finding as a problem of its own. Its evidence leaves out what other findings may have, too, such as
// the gates that changed.
func asProblem(status reports.Status, f *upgrades.Finding, text string) reports.Outcome {
	one := problem(status, text)
	one.Evidence = fmt.Sprintf("%s: %s\n%s %s", f.Kind, f.What, f.Cause, f.Link)
	return one
}

// names lists the names of some objects.
func names(objects []upgrades.Object) string {
	const most = 40
	var all []string
	for i, o := range objects {
		if i == most {
			return fmt.Sprintf("%s and %d more", strings.Join(all, ", "), len(objects)-most)
		}
		all = append(all, o.Name)
	}
	return strings.Join(all, ", ")
}
