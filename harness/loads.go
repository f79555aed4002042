package harness

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/clock"

	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/harness/load"
	"github.com/rehearse-dev/rehearse/harness/readback"
	"github.com/rehearse-dev/rehearse/harness/served"
	"github.com/rehearse-dev/rehearse/harness/writes"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/expressions"
)

// scenarioLoads are the loads of a scenario's steps.
type scenarioLoads struct {
	run *scenarioRun
	// current are the loads of the running step; nil if it has none.
	current *during
	// owed are loads whose acknowledged writes cannot be read now, because a component that reads need was killed. They
	// are read back when the API server answers again.
	owed []*stepLoad
}

// servedAgain is how long after the step's own action a load may go without an answer. A request that is sent then
// must still be answered (stepLoad.patience).
const servedAgain = 10 * time.Second

// during are the loads of a step.
type during struct {
	run   *scenarioRun
	loads []*stepLoad

	mu sync.Mutex
	// begun: the loads were started. over: they may no longer be started.
	begun, over bool
	stop        context.CancelFunc
}

// stepLoad is one load of a step.
type stepLoad struct {
	scenarios.Requests

	number  string
	row     map[string]any
	kind    served.Kind
	stream  *history.Stream
	running *load.Running
	began   time.Time
	// late: there was no answer before the step's own action. down: there was none after it.
	late, down atomic.Bool
	// unsent is why the first request that could not be made was not sent; nil if all were made.
	unsent atomic.Pointer[error]

	mu sync.Mutex
	// made are the objects that were made, or may have been. kept is what the API server must have, since it
	// acknowledged it.
	made []writes.Made
	kept readback.Acknowledged
}

// prepare finds what the loads of a step need before they can begin. It returns nil if the step has none.
func (a *scenarioLoads) prepare(ctx context.Context, i int, step scenarios.Step) (*during, error) {
	if len(step.During) == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, a.run.timeout(step, a.run.shared.StepTimeout))
	defer cancel()
	d := &during{run: a.run}
	for n, requests := range step.During {
		l := &stepLoad{
			Requests: requests, number: fmt.Sprintf("%d-load-%d", i+1, n+1), row: step.Case,
			kept: readback.Acknowledged{},
		}
		first, err := a.request(ctx, l, 0)
		if err != nil {
			return nil, fmt.Errorf("load %q: %w", l.Name, err)
		}
		a.run.evidence.touch(ctx, first)
		if bearsPods(first) {
			a.run.awaitAccount(ctx)
		}
		if _, err := a.run.settling.await(ctx, first); err != nil {
			return nil, fmt.Errorf("load %q: %w", l.Name, err)
		}
		if l.kind, err = a.run.served(ctx, scenarios.Selection{ObjectReference: l.About()},
			a.run.timeout(step, a.run.shared.StepTimeout)); err != nil {
			return nil, fmt.Errorf("load %q: %w", l.Name, err)
		}
		if l.Read == nil && len(a.run.down) == 0 {
			l.stream = a.run.shared.history.Stream(l.kind.Resource)
			if err := l.stream.CatchUp(ctx, scope(scenarios.Selection{}, l.kind, a.run.namespace)); err != nil {
				return nil, fmt.Errorf("load %q: %w", l.Name, err)
			}
		}
		d.loads = append(d.loads, l)
	}
	return d, nil
}

// request returns the n-th request of a load, with its expressions evaluated.
func (a *scenarioLoads) request(ctx context.Context, l *stepLoad, n int64) (scenarios.Step, error) {
	step := l.Request(n)
	step.Case = l.row
	return expressions.Evaluated(a.run.shared.Expressions.WithContext(ctx), step, a.run.variables(&step))
}

// begin starts the loads, and waits until a request of each was answered, so that what follows happens while they
// run.
func (d *during) begin(ctx context.Context, patience time.Duration) {
	ctx, ok := d.start(ctx)
	if !ok || len(d.run.down) > 0 {
		return // there is no answer without etcd or kube-apiserver until the step's own action has ended
	}
	d.each(ctx, patience, func(ctx context.Context, l *stepLoad) { l.late.Store(!l.running.Answered(ctx, l.began)) })
}

func (d *during) start(ctx context.Context) (context.Context, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.over {
		return ctx, false
	}
	ctx, d.stop = context.WithCancel(ctx)
	d.begun = true
	for _, l := range d.loads {
		timing := load.Load{
			Name: l.Name, Timeout: time.Duration(l.Timeout), Clock: clock.RealClock{},
			Send: d.run.loads.sender(l),
		}
		if l.Rate != nil {
			timing.Rate = *l.Rate
		}
		l.began = timing.Clock.Now()
		l.running = timing.Start(ctx)
	}
	return ctx, true
}

// began reports whether the loads were started. After this call they can no longer be started.
func (d *during) began() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.over = true
	return d.begun
}

// each calls a function for all loads at the same time.
func (d *during) each(ctx context.Context, patience time.Duration, do func(context.Context, *stepLoad)) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var all sync.WaitGroup
	for _, l := range d.loads {
		all.Go(func() { do(ctx, l) })
	}
	all.Wait()
}

// settle lets the loads run for at least their time, and until they are answered again after the step's own action.
func (d *during) settle(ctx context.Context, again bool) {
	now := clock.RealClock{}.Now()
	d.each(ctx, longest(d.loads), func(ctx context.Context, l *stepLoad) {
		timer := clock.RealClock{}.NewTimer(l.began.Add(time.Duration(l.For)).Sub(now))
		defer timer.Stop()
		select {
		case <-timer.C():
		case <-ctx.Done():
			return
		}
		if again {
			limited, cancel := context.WithTimeout(ctx, l.patience())
			defer cancel()
			l.down.Store(!l.running.Answered(limited, now))
		}
	})
}

// longest is how long the loads may take to settle.
func longest(loads []*stepLoad) (d time.Duration) {
	for _, l := range loads {
		d = max(d, time.Duration(l.For)+l.patience())
	}
	return d
}

// patience is how long after the step's own action the load may take to get an answer. Until servedAgain is over, the
// API server may be away. A request that was sent then failed, and at a low rate the next one is sent much later.
func (l *stepLoad) patience() time.Duration { return servedAgain + l.running.Next() }

// sender returns the function that sends a load's requests.
func (a *scenarioLoads) sender(l *stepLoad) func(context.Context, int64) load.Answer {
	return func(ctx context.Context, n int64) load.Answer {
		step, err := a.request(ctx, l, n)
		if err != nil {
			err = fmt.Errorf("load %q: request %d could not be sent: evaluate its expressions: %w", l.Name, n, err)
			l.unsent.CompareAndSwap(nil, &err)
			return load.Answer{Unsent: true}
		}
		if l.Read != nil {
			return a.read(ctx, l, step)
		}
		return a.send(ctx, l, step)
	}
}

func (a *scenarioLoads) send(ctx context.Context, l *stepLoad, step scenarios.Step) load.Answer {
	single := a.run.writer.Once(ctx, writes.Request{Step: &step, Manager: a.run.manager(l.number)}, l.kind)
	l.take(single)
	answer := load.Answer{Outcome: outcomeOf(single.Outcome), Text: single.Problem, Alike: single.Alike}
	answer.Unexpected = answer.Outcome != load.Failed && single.Problem != ""
	return answer
}

// take notes what a write made, and what was acknowledged.
func (l *stepLoad) take(single writes.Single) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if single.Made != nil {
		l.made = append(l.made, *single.Made)
	}
	if single.Outcome != writes.Accepted || single.Object == nil {
		return
	}
	l.kept.Add(single.Object)
}

func outcomeOf(o writes.Outcome) load.Outcome {
	switch o {
	case writes.Accepted:
		return load.Accepted
	case writes.Rejected:
		return load.Rejected
	}
	return load.Failed
}

// read gets or lists what the request selects.
func (a *scenarioLoads) read(ctx context.Context, l *stepLoad, step scenarios.Step) load.Answer {
	selection := step.Eventually.Selection
	selected := scope(selection, l.kind, a.run.namespace)
	api := a.run.client.Resource(l.kind.Resource).Namespace(selected.Namespace)
	var err error
	if selection.Name != "" {
		_, err = api.Get(ctx, selection.Name, metav1.GetOptions{})
	} else {
		_, err = api.List(ctx, metav1.ListOptions{
			LabelSelector: labels.SelectorFromSet(selection.Selector).String(),
			Limit:         500,
		})
	}
	answer := load.Answer{Outcome: outcomeOf(writes.Judge(err))}
	if err != nil {
		answer.Text = writes.WithoutAddress(err)
		answer.Alike = writes.Alike(answer.Text, selection.Name)
		answer.Unexpected = answer.Outcome == load.Rejected
	}
	return answer
}

// underLoad runs a step while its loads run.
func (a *scenarioLoads) underLoad(ctx context.Context, i int, step scenarios.Step) result {
	d, err := a.prepare(ctx, i, step)
	if err != nil {
		return failure(reports.Error, "%v", err)
	}
	a.current = d
	defer func() { a.current = nil }()
	verb := verbOf(&step)
	if !verb.startsLoads {
		d.begin(ctx, a.run.timeout(step, a.run.shared.StepTimeout))
	}
	r := a.run.asked(ctx, i, step)
	if !d.began() {
		return r
	}
	defer d.stop()
	if r.Status != reports.Error {
		d.settle(ctx, !verb.leavesDown)
	}
	return d.judge(ctx, step, r)
}

// starter returns the function that begins the loads of a transition, when all scenarios of the track have arrived
// and before the cluster crosses.
func (a *scenarioLoads) starter(ctx context.Context, step scenarios.Step) func() {
	d := a.current
	if d == nil {
		return nil
	}
	return func() { d.begin(ctx, a.run.timeout(step, a.run.shared.StepTimeout)) }
}
