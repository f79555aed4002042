package harness

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness/alike"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// lookBack is what each of several API servers showed during the steps that a later step looks back on.
type lookBack struct {
	run *scenarioRun
	of  []*outlook
}

// outlook is what one API server showed.
type outlook struct {
	plane    int
	server   clusters.Server
	timeline *timeline
	// wrong is why it could not be watched.
	wrong error
}

func asksTheBalancer(step *scenarios.Step) bool { return step.Via == "" }

// begin notes the beginning of a step in the history of each API server.
func (l *lookBack) begin(ctx context.Context, i int) {
	if i == 0 {
		l.open()
	}
	for _, o := range l.of {
		if through := l.through(ctx, o); through != nil {
			o.timeline.begin(ctx, i)
		}
	}
}

// end notes the end of a step after which the scenario continues.
func (l *lookBack) end(ctx context.Context, i int) {
	for _, o := range l.of {
		if through := l.through(ctx, o); through != nil {
			o.timeline.end(ctx, i)
		}
	}
}

// expect makes each API server's history wait for a written object, before it judges or ends a time.
func (l *lookBack) expect(ctx context.Context, object *unstructured.Unstructured) {
	for _, o := range l.of {
		if o.timeline.run == nil {
			continue
		}
		if stream := o.timeline.watched(ctx, object); stream != nil {
			stream.Expect(object.GetResourceVersion())
		}
	}
}

// open finds the API servers that steps look back on.
func (l *lookBack) open() {
	for plane := range l.run.shared.track.Path[0].NumberOfControlPlanes() {
		spans := spansOf(l.run.scenario, func(step *scenarios.Step) bool {
			return step.Via == scenarios.ViaEach || step.Via.Plane() == plane
		})
		if len(spans) == 0 {
			continue
		}
		o := &outlook{plane: plane, timeline: &timeline{spans: spans}}
		servers, err := chosen(l.run.shared.cluster, scenarios.ViaPlane(plane))
		if o.wrong = err; err == nil {
			o.server = servers[0]
		}
		l.of = append(l.of, o)
	}
}

// through returns the scenario's run through one API server, with a timeline that continues from step to step. It
// returns nil if the server could not be watched.
func (l *lookBack) through(ctx context.Context, o *outlook) *scenarioRun {
	if o.wrong != nil {
		return nil
	}
	through, err := l.run.through(ctx, o.server)
	if o.wrong = err; err != nil {
		return nil
	}
	if o.timeline.run == nil {
		o.timeline.from, o.timeline.beginning = through.timeline.from, through.timeline.beginning
	}
	through.timeline, o.timeline.run = o.timeline, through
	return through
}

// asked runs a step that looks back, through the API servers that it names.
func (l *lookBack) asked(ctx context.Context, i int, step scenarios.Step, servers []clusters.Server) result {
	planes := l.run.shared.track.Path[0].NumberOfControlPlanes()
	if step.Via == scenarios.ViaEach && len(servers) < planes {
		return failure(reports.Error, "via each: of %d API servers only %v run", planes, servers)
	}
	var views []*scenarioRun
	r := askEach(ctx, l.run, i, step, servers, func(ctx context.Context, server clusters.Server) (*scenarioRun, error) {
		through, err := l.judge(ctx, server)
		views = append(views, through)
		return through, err
	})
	if agree := verbOf(&step).agree; agree != nil && r.Status == reports.Passed && len(views) > 1 {
		return agree(ctx, i, step, views, r)
	}
	return r
}

// showAlike decides whether objects that stayed unchanged through each API server were the same through all of them:
// each server may have shown the same objects all the time, but different ones from another server. What they show
// after that time does not count.
func showAlike(ctx context.Context, i int, step scenarios.Step, views []*scenarioRun, passed result) result {
	var compared []alike.View
	for _, view := range views {
		selection := step.Unchanged.Selection
		kind, err := view.timeline.served(ctx, i, selection, view.timeout(step, view.shared.StepTimeout))
		if err != nil {
			return unserved(step, selection, err)
		}
		window := view.timeline.spanOf(i).window
		compared = append(compared, alike.View{
			Name: view.via.String(), Stream: view.shared.history.Stream(kind.Resource),
			Scope: scope(selection, kind, view.namespace), Since: window.Begin.Seq, Until: window.End.Seq,
		})
	}
	differences, err := alike.Compare(compared, step.Unchanged.Paths)
	switch {
	case err != nil:
		return failure(reports.Error, "unchanged: compare what API servers show: %v", err)
	case len(differences) > 0:
		r := failure(reports.Failed, "unchanged: API servers show different objects:\n%s",
			strings.Join(differences, "\n"))
		var problems []reports.Outcome
		for _, text := range differences {
			problems = append(problems, problem(reports.Failed, "unchanged: API servers show different objects: "+text))
		}
		r.Problems = reports.Several(problems)
		return r
	}
	return passed.with("\nthey show the same")
}

// judge returns the scenario's run with which a step that looks back asks an API server.
func (l *lookBack) judge(ctx context.Context, server clusters.Server) (*scenarioRun, error) {
	for _, o := range l.of {
		if o.plane != server.Plane {
			continue
		}
		if o.wrong == nil {
			o.server = server // its version may be another one since the beginning
		}
		through := l.through(ctx, o)
		if through == nil {
			return nil, fmt.Errorf("%s was not watched: %w", server, o.wrong)
		}
		return through, nil
	}
	return nil, fmt.Errorf("%s was not watched", server)
}
