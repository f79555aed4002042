package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/systems"
	"github.com/rehearse-dev/rehearse/harness/explore/growth"
	"github.com/rehearse-dev/rehearse/harness/manifests"
	"github.com/rehearse-dev/rehearse/harness/storage"
	"github.com/rehearse-dev/rehearse/harness/survey"
	"github.com/rehearse-dev/rehearse/reports/upgrades"
)

// transitionTimeout is the timeout of a transition to another state.
const transitionTimeout = 10 * time.Minute

// sighting is a finding of a survey about objects that crossed a path.
type sighting struct {
	finding *upgrades.Finding
	// entries that show it, and the state in which each was created.
	entries []*entry
	made    []clusters.State
	// before is the state before the hop, and to is the state after it.
	before, to clusters.State
	// written says that the entries are twins, which each state writes.
	written bool
}

// crossing takes objects along a path in one cluster.
type crossing struct {
	*exploration
	path    []clusters.State
	entries []*entry
	// made is the index of the state in which each entry was created. failed has the entries that could not be created:
	// why there was no verdict, or nil for a rejection.
	made    map[int]int
	failed  map[int]error
	cluster *systems.Host
	client  *growth.Client
	survey  *survey.Survey
	// mark is the moment from which the next state is judged.
	mark   survey.Mark
	report *upgrades.Report
}

// cross creates each object at the first state of the path that accepts it, and surveys all objects at each state. It
// watches the untouched cluster at each state for the time settle. It returns how many states it has surveyed: fewer
// than the path has, if the cluster broke.
func (e *exploration) cross(ctx context.Context, path []clusters.State, entries []*entry, settle time.Duration) (
	seen []*sighting, reached int, _ error,
) {
	c := newCrossing(e, path, entries)
	err := c.run(ctx, settle)
	return c.sightings(), c.report.Reached(), err
}

func newCrossing(e *exploration, path []clusters.State, entries []*entry) *crossing {
	c := &crossing{
		exploration: e, path: path, entries: entries, made: map[int]int{}, failed: map[int]error{},
		report: &upgrades.Report{},
	}
	for i, way := range waysOf(path) {
		c.report.Path = append(c.report.Path, &upgrades.State{Name: nameOf(path[i]), Way: way})
	}
	return c
}

// run creates a cluster, and takes the objects along the path.
func (c *crossing) run(ctx context.Context, settle time.Duration) error {
	cluster, remove, err := c.exploration.create(ctx, c.path[0])
	if err != nil {
		return err
	}
	defer remove()
	c.cluster = cluster
	if c.survey, err = survey.New(cluster.RESTConfig(), survey.Options{
		Settle: settle, Progress: c.Progress, Dependents: c.dependents(),
		Writes: storage.Writes(cluster.Cluster),
	}); err != nil {
		return err
	}
	defer c.survey.Close()
	for i := range c.path {
		whole, visitErr := c.visit(ctx, i)
		if err = visitErr; err != nil || !whole {
			break
		}
	}
	c.survey.Judge(c.report)
	return err
}

// askedDependents is the maximum number of objects of one kind whose dependents get dry runs.
const askedDependents = 20

// dependents limits the dry runs of dependents for kinds that are explored themselves: their generated objects show
// most of the problems already.
func (e *exploration) dependents() map[schema.GroupKind]int {
	few := map[schema.GroupKind]int{}
	for _, one := range e.corpus {
		few[one.Kind.GroupKind()] = askedDependents
	}
	for _, kind := range e.dealing.others() {
		few[kind] = askedDependents
	}
	return few
}

// waysOf are the directions of the hops of a path. A hop to a state from which the path came is a rollback: in
// 1.34, 1.35, 1.36, 1.35, 1.34 both last hops are.
func waysOf(path []clusters.State) []string {
	ways, cameFrom := []string{upgrades.Start}, []string{nameOf(path[0])}
	for _, state := range path[1:] {
		name := nameOf(state)
		if at := slices.Index(cameFrom[:len(cameFrom)-1], name); at >= 0 {
			ways, cameFrom = append(ways, upgrades.Back), cameFrom[:at+1]
			continue
		}
		ways, cameFrom = append(ways, upgrades.Up), append(cameFrom, name)
	}
	return ways
}

// visit brings the cluster to a state, and surveys it there. It returns false if the cluster broke: then errors, such
// as a refused connection, have the death of the component as their cause.
func (c *crossing) visit(ctx context.Context, i int) (whole bool, err error) {
	began, broken := time.Now(), []clusters.Component(nil)
	if i > 0 {
		if broken, err = c.converge(ctx, i); err == nil && slices.Contains(broken, clusters.APIServer) {
			return false, nil
		}
	}
	exited := func() error { // without a component that is reported already, the state can be surveyed
		for _, death := range c.cluster.Deaths() {
			if !slices.ContainsFunc(broken, func(one clusters.Component) bool { return isAbout(death, one) }) {
				return death
			}
		}
		return nil
	}
	if err == nil {
		alive, stop := systems.WhileRunning(ctx, exited)
		err = c.look(alive, i)
		stop()
	}
	if died := exited(); died != nil {
		c.broke(i, "a component of the control plane or a system exited", died)
	}
	if c.cluster.Death() != nil {
		return false, nil
	}
	c.report.Path[i].Reached = err == nil
	c.report.Path[i].Survey = time.Since(began).Seconds()
	return err == nil, err
}

// isAbout reports whether an error is about a component: its text begins with the name.
func isAbout(err error, component clusters.Component) bool {
	rest, begins := strings.CutPrefix(err.Error(), string(component))
	return begins && (rest == "" || strings.ContainsAny(rest[:1], " @:")) // kube-scheduler/batch is another one
}

// converge brings the cluster to a state. It returns, and reports, the components that do not come up.
func (c *crossing) converge(ctx context.Context, i int) ([]clusters.Component, error) {
	name := c.report.Path[i].Name
	c.Progress("crossing to %s", name)
	timed, cancel := context.WithTimeout(ctx, transitionTimeout)
	defer cancel()
	err := c.cluster.Converge(timed, c.path[i])
	if broken, _ := clusters.Breakage(err); len(broken) > 0 && ctx.Err() == nil {
		c.broke(i, fmt.Sprintf("%s does not come up", broken[0].Component), err)
		var all []clusters.Component
		for _, one := range broken {
			all = append(all, one.Component)
		}
		return all, nil
	}
	if err != nil {
		return nil, fmt.Errorf("take the objects to %s: %w", name, err)
	}
	return nil, nil
}

// look creates the objects that no earlier state accepts, surveys the state, and prepares for the next one.
func (c *crossing) look(ctx context.Context, i int) (err error) {
	if err := c.createAt(ctx, i); err != nil {
		return err
	}
	if i == 0 {
		if c.mark, err = c.survey.Begin(ctx); err != nil {
			return err
		}
	}
	c.Progress("surveying %d objects at %s", len(c.made), c.report.Path[i].Name)
	c.mark, err = c.survey.At(ctx, c.mark)
	if err == nil && i+1 < len(c.path) {
		err = c.rewriteAll(ctx, i)
	}
	return err
}

// broke reports that a component exited. A component that the kernel killed, for want of memory, shows nothing about
// the objects.
func (c *crossing) broke(i int, what string, err error) {
	severity := upgrades.Breaks
	if clusters.Killed(err) {
		severity = upgrades.Unjudged
	}
	c.report.Findings = append(c.report.Findings, &upgrades.Finding{
		Severity: severity, Check: "control plane", Kind: "cluster", State: i, States: []int{i},
		Hop: c.report.Hop(i), What: what, Words: err.Error(),
	})
}

// place is the file name of the entries' objects in the survey. The line identifies the entry.
const place = "object"

// createAt creates the objects whose first accepting state this is.
func (c *crossing) createAt(ctx context.Context, i int) error {
	name := nameOf(c.path[i])
	var todo []int
	for n, one := range c.entries {
		if _, made := c.made[n]; !made && one.born(c.path) == name {
			todo = append(todo, n)
		}
	}
	if len(todo) == 0 {
		return nil
	}
	if c.client == nil {
		client, _, err := c.ready(ctx, c.cluster)
		if err != nil {
			return err
		}
		c.client = client
	}
	c.Progress("creating %d objects at %s", len(todo), name)
	if err := c.createAll(ctx, i, todo); err != nil {
		return err
	}
	return c.survey.Still(ctx)
}

// createAll creates objects at a state, and records which could not be created.
func (c *crossing) createAll(ctx context.Context, i int, todo []int) error {
	created, unknown := make([]*survey.Created, len(todo)), make([]error, len(todo))
	var working errgroup.Group
	working.SetLimit(max(c.Workers, 1))
	for at, n := range todo {
		working.Go(func() error {
			created[at], unknown[at] = c.create(ctx, n)
			return nil
		})
	}
	_ = working.Wait() // the functions return no errors
	for at, one := range created {
		switch n := todo[at]; {
		case one != nil:
			c.made[n] = i
			delete(c.failed, n) // it may have failed at an earlier visit of the state
			c.survey.Add(*one)
		case ctx.Err() == nil:
			c.failed[n] = unknown[at]
		}
	}
	return context.Cause(ctx)
}

// portRejected is in the words with which an API server rejects a Service whose port is taken or out of range. The
// code is 500, and dry runs do not check the port.
const portRejected = "failed to allocate requested HealthCheck NodePort"

// create creates one object. It returns nil if the cluster rejects it, for example because another object has its port.
// An error means that there is no verdict.
func (c *crossing) create(ctx context.Context, n int) (*survey.Created, error) {
	one := c.entries[n]
	object, _ := growth.Named(one.Kind, one.Object(), n)
	answer, err := c.client.Create(ctx, one.Kind, growth.Namespace(one.Kind), growth.Text(object), false)
	switch {
	case err != nil && strings.Contains(answer.Words, portRejected):
		return nil, nil
	case err != nil:
		return nil, err
	case answer.Panicked(): // although it accepted the dry run
		return nil, errors.New(answer.Words)
	case !answer.Accepted():
		return nil, nil
	}
	content, err := answer.Object()
	if err != nil {
		return nil, err
	}
	stored := unstructured.Unstructured{Object: content}
	if status := object["status"]; status != nil && one.HasState() {
		// If a controller wrote the status first, the object crosses with that status.
		_, _ = c.client.Patch(ctx, one.Kind, stored.GetNamespace(), stored.GetName(), "status",
			growth.Text(map[string]any{"status": status}), false)
	}
	named := &unstructured.Unstructured{Object: object}
	named.SetName(stored.GetName()) // the API server may have generated it
	given := &manifests.Object{Content: named, File: place, Line: n + 1}
	return &survey.Created{Object: given, Namespace: stored.GetNamespace(), UID: string(stored.GetUID())}, nil
}

// sightings are the findings of the survey, with the entries that show them.
func (c *crossing) sightings() []*sighting {
	var all []*sighting
	for _, f := range c.report.Findings {
		as := func(written bool) *sighting {
			s := &sighting{finding: f, to: c.path[f.State], before: c.path[max(f.State-1, 0)], written: written}
			if f.Severity == upgrades.Before { // the state itself shows it, from wherever the path comes
				s.before = s.to
			}
			return s
		}
		untouched, written := as(false), as(true)
		for _, o := range f.Objects {
			n, err := strconv.Atoi(strings.TrimPrefix(o.Place, place+":"))
			if err != nil || n < 1 || n > len(c.entries) {
				continue
			}
			s := untouched
			if c.entries[n-1].written {
				s = written
			}
			s.entries = append(s.entries, c.entries[n-1])
			s.made = append(s.made, c.path[c.made[n-1]])
		}
		if len(untouched.entries) > 0 || len(written.entries) == 0 {
			all = append(all, untouched)
		}
		if len(written.entries) > 0 {
			all = append(all, written)
		}
	}
	return all
}
