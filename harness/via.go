package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness/history"
	"github.com/rehearse-dev/rehearse/harness/schemas"
	"github.com/rehearse-dev/rehearse/harness/storage"
	"github.com/rehearse-dev/rehearse/harness/writes"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// views are what each of a cluster's API servers shows, from the first time that it is asked.
type views struct {
	run *trackRun

	mu sync.Mutex
	of map[int]*trackRun
}

// asked runs a step, through the API servers that it names.
func (s *scenarioRun) asked(ctx context.Context, i int, step scenarios.Step) result {
	if step.Via == "" {
		return verbOf(&step).run(ctx, s, i, step)
	}
	if plane := step.Via.Plane(); plane >= 0 && step.ChangesCluster() {
		on := *s // its API server may be the one that is down, and is not asked
		on.via = &clusters.Server{Plane: plane}
		return verbOf(&step).run(ctx, &on, i, step)
	}
	servers, err := chosen(s.shared.cluster, step.Via)
	if err != nil {
		return failure(reports.Error, "via %s: %v", step.Via, err)
	}
	if _, _, past := s.scenario.Span(i); past {
		return s.lookBack.asked(ctx, i, step, servers)
	}
	return askEach(ctx, s, i, step, servers, s.through)
}

// askEach runs a step through one API server after the other, until one gives a wrong answer. If that may be a known
// issue, it also asks the others, whose answers may be wrong for another reason.
func askEach(ctx context.Context, s *scenarioRun, i int, step scenarios.Step, servers []clusters.Server,
	through func(context.Context, clusters.Server) (*scenarioRun, error),
) result {
	var first *result
	var wrong []result
	for _, server := range servers {
		through, err := through(ctx, server)
		if err != nil {
			wrong = append(wrong, failure(reports.Error, "%v", err))
			break
		}
		r := verbOf(&step).run(ctx, through, i, step)
		s.readings = through.readings
		if r.Status != reports.Passed {
			wrong = append(wrong, r.askedThrough(server))
			if r.Status != reports.Failed || !s.found.mayBeKnown(&step) {
				break
			}
			continue
		}
		if first == nil {
			first = &r
		}
		first.Evidence += fmt.Sprintf("\nasked through %s", server)
	}
	switch len(wrong) {
	case 0:
		return *first
	case 1:
		return wrong[0]
	}
	return joined(wrong)
}

// askedThrough says of a wrong answer which API server gave it.
func (r result) askedThrough(server clusters.Server) result {
	r.Problems = slices.Clone(r.Problems)
	for i, one := range r.Problems {
		r.Problems[i].Message = fmt.Sprintf("asked through %s: %s", server, one.Message)
	}
	r.Message = fmt.Sprintf("asked through %s: %s", server, r.Message)
	return r
}

// joined returns wrong answers of several API servers as one result, with the status and the values of the first.
func joined(wrong []result) result {
	r := wrong[0]
	problems := r.Each()
	for _, other := range wrong[1:] {
		problems = append(slices.Clip(problems), other.Each()...)
		r.Message += "\n" + other.Message
		r.Evidence += "\n" + other.Evidence
	}
	r.Problems = problems
	return r
}

// chosen returns the API servers of a cluster that a step names.
func chosen(c clusters.Cluster, via scenarios.Via) ([]clusters.Server, error) {
	rolling, able := c.(clusters.Rolling)
	if !able {
		return nil, errNoSuchComponent
	}
	servers := rolling.Servers()
	if len(servers) == 0 {
		return nil, errors.New("no API server runs")
	}
	oldest, newest := slices.MinFunc(servers, byVersion), slices.MaxFunc(servers, byVersion)
	switch {
	case via == scenarios.ViaEach:
		return servers, nil
	case via.Plane() < 0 && byVersion(oldest, newest) == 0:
		return nil, fmt.Errorf("all running API servers have the same state: %v", servers)
	case via == scenarios.ViaNew:
		return []clusters.Server{newest}, nil
	case via == scenarios.ViaOld:
		return []clusters.Server{oldest}, nil
	}
	for _, server := range servers {
		if server.Plane == via.Plane() {
			return []clusters.Server{server}, nil
		}
	}
	return nil, fmt.Errorf("%s does not run; running are %v", clusters.APIServer.On(via.Plane()), servers)
}

// byVersion orders servers: the older before the newer. Within a version, servers that a transition has not reached
// come first.
func byVersion(a, b clusters.Server) int {
	one, err1 := clusters.ParseVersion(a.Version)
	other, err2 := clusters.ParseVersion(b.Version)
	if order := one.Compare(other); err1 == nil && err2 == nil && order != 0 {
		return order
	}
	switch {
	case a.Behind == b.Behind:
		return 0
	case a.Behind:
		return -1
	}
	return 1
}

// through returns the scenario's run through one API server. What it keeps beyond a step belongs to s.
func (s *scenarioRun) through(ctx context.Context, server clusters.Server) (*scenarioRun, error) {
	track, err := s.shared.views.through(server)
	if err != nil {
		return nil, err
	}
	through := *s
	through.shared, through.via = track, &server
	if err := through.reach(ctx, server.REST); err != nil {
		return nil, err
	}
	through.timeline = &timeline{
		run: &through, from: track.history.Seq(), beginning: track.history.Now(), balanced: s.timeline,
	}
	return &through, nil
}

// component returns the component that a step means: the one of the control plane that it asks.
func (s *scenarioRun) component(c clusters.Component) clusters.Component {
	if s.via == nil {
		return c
	}
	return c.On(s.via.Plane)
}

// speakers returns what to ask about a component: with several API servers each of them, if the step names none.
func (s *scenarioRun) speakers(c clusters.Component) []clusters.Component {
	rolling, able := s.shared.cluster.(clusters.Rolling)
	if c != clusters.APIServer || !able || s.shared.track.Path[0].NumberOfControlPlanes() == 1 {
		return []clusters.Component{c}
	}
	var all []clusters.Component
	for _, server := range rolling.Servers() {
		all = append(all, c.On(server.Plane))
	}
	if len(all) == 0 {
		return []clusters.Component{c} // its error says that it does not run
	}
	return all
}

// kubeconfig returns the kubeconfig of the API server that the run asks.
func (s *scenarioRun) kubeconfig() string {
	if s.via == nil {
		return s.shared.cluster.KubeconfigPath()
	}
	return s.via.Kubeconfig
}

// clients returns one client for each API server, or one for all if the provider does not list them.
func (s *scenarioRun) clients() ([]dynamic.Interface, error) {
	rolling, able := s.shared.cluster.(clusters.Rolling)
	if !able || s.shared.track.Path[0].NumberOfControlPlanes() == 1 {
		return []dynamic.Interface{s.client}, nil
	}
	var all []dynamic.Interface
	for _, server := range rolling.Servers() {
		client, err := s.clientOf(server.REST)
		if err != nil {
			return nil, err
		}
		all = append(all, client)
	}
	return all, nil
}

func (s *scenarioRun) clientOf(config *rest.Config) (dynamic.Interface, error) {
	client, err := dynamic.NewForConfig(writes.Configure(config, "rehearse/"+s.namespace))
	if err != nil {
		return nil, fmt.Errorf("make a client for cluster %s: %w", s.shared.cluster.Name(), err)
	}
	return client, nil
}

// through returns the track as one API server shows it.
func (v *views) through(server clusters.Server) (*trackRun, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if known := v.of[server.Plane]; known != nil {
		return known, nil
	}
	t := v.run
	config := writes.Configure(server.REST, "rehearse")
	found, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a client for %s: %w", server, err)
	}
	view := &trackRun{
		execution: t.execution, track: t.track, cluster: t.cluster, systems: t.systems, inventory: t.inventory,
		kinds: t.kinds.Peer(found.RESTClient(), server.Version), schemas: schemas.New(found.RESTClient()),
		barrier: t.barrier, gates: t.gates, left: t.left, transitions: t.transitions, views: v,
	}
	if passOn(t.track.Path) {
		view.kinds.ExpectPeers()
	}
	if view.history, err = history.New(config, history.WithWrites(storage.Writes(t.cluster))); err != nil {
		return nil, fmt.Errorf("watch %s: %w", server, err)
	}
	v.of[server.Plane] = view
	return view, nil
}

// cross tells the views that the cluster has changed, so its API servers may show something else.
func (v *views) cross(ctx context.Context) {
	var reading sync.WaitGroup
	for _, view := range v.changed() {
		reading.Go(func() { view.history.Reread(ctx) })
	}
	reading.Wait()
}

// changed makes the views forget what an API server of another version may do differently. It returns those whose API
// server runs.
func (v *views) changed() (running []*trackRun) {
	v.mu.Lock()
	defer v.mu.Unlock()
	versions := map[int]string{}
	if rolling, able := v.run.cluster.(clusters.Rolling); able {
		for _, server := range rolling.Servers() {
			versions[server.Plane] = server.Version
		}
	}
	for plane, view := range v.of {
		view.kinds.Cross(versions[plane])
		view.schemas.Reset()
		if versions[plane] != "" {
			running = append(running, view)
		}
	}
	return running
}

// pause ends all watches until resume is called. resume also forgets what was known.
func (v *views) pause(ctx context.Context) (resume func(), err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	var paused []*trackRun
	resume = func() {
		for _, view := range paused {
			view.history.Resume()
			view.kinds.Reset()
			view.kinds.ExpectMore()
			view.schemas.Reset()
		}
	}
	for _, view := range v.of {
		if err := view.history.Pause(ctx); err != nil {
			resume()
			return nil, err
		}
		paused = append(paused, view)
	}
	return resume, nil
}

// close ends the views.
func (v *views) close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, view := range v.of {
		view.history.Close()
	}
	clear(v.of)
}
