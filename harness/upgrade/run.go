package upgrade

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/features"
	"github.com/rehearse-dev/rehearse/clusters/systems"
	"github.com/rehearse-dev/rehearse/harness/lives"
	"github.com/rehearse-dev/rehearse/harness/manifests"
	"github.com/rehearse-dev/rehearse/harness/planning"
	"github.com/rehearse-dev/rehearse/harness/storage"
	"github.com/rehearse-dev/rehearse/harness/survey"
	"github.com/rehearse-dev/rehearse/reports/upgrades"
)

// Options of a rehearsal.
type Options struct {
	Provider clusters.Provider
	Path     Path
	// Objects to create. Unused if there is an Origin.
	Objects []*manifests.Object
	// Notes about the objects, for the report.
	Notes []string
	// Only selects the created objects to survey, because they may need the others. Unused if there is an Origin.
	Only manifests.Selection
	// Origin is the cluster whose objects are rehearsed as they are stored; nil if Objects are created.
	Origin *Origin
	// Namespace of objects without one. Default: "default".
	Namespace string
	// Settle is how long the untouched cluster is watched at each state.
	Settle time.Duration
	// Sample limits dry runs to so many objects of one kind and shape. Default: all.
	Sample int
	// Shard is the part of the kinds to survey. All objects are created in each shard.
	Shard planning.Shard
	// Definitions are the contents of the files that define the path's systems, by name. Shards must have the same.
	Definitions map[string]string
	// Features lists feature gates, to report which ones change at each hop. May be nil.
	Features features.Lister
	// Systems has the simulators and modules of the path's systems.
	Systems systems.Options
	// Progress is called with what is going on.
	Progress clusters.Progress
}

// Timeouts that cannot be configured.
const (
	transitionTimeout = 10 * time.Minute
	deleteTimeout     = 2 * time.Minute
)

// Run rehearses, and returns the report. An error means that the rehearsal itself failed. The report is valid even
// then.
func Run(ctx context.Context, o Options) (*upgrades.Report, error) {
	r := &rehearsal{Options: o, hidden: newHidden(), share: shareOf(o.Shard, o.Only, o.Objects), report: Planned(o)}
	for _, o := range o.Objects {
		r.hidden.of(o.Content)
	}
	hops := features.Along(ctx, o.Features, o.Path.States...)
	for i, planned := range r.report.Path {
		if planned.Way == upgrades.Redeploy || i == 0 {
			continue
		}
		planned.Flips = hops[i-1].Changes()
		if hops[i-1].Err != nil {
			r.report.Notes = append(r.report.Notes, fmt.Sprintf("it is unknown which gates change at %s", planned.Name))
		}
	}
	err := r.run(ctx)
	if r.survey != nil {
		r.report.Requests = r.survey.Requests()
		r.survey.Judge(r.report)
		r.sampled()
	}
	r.lacking()
	r.unaccepted()
	r.report.Interrupted = ctx.Err() != nil
	r.report.Fail(err)
	r.hidden.hide(r.report)
	r.report.Finished = time.Now()
	return r.report, err
}

// name is a state's name in a path, without what all states have in common. "1.36.3 as 1.35" emulates a version.
func name(state clusters.State, path []clusters.State) string {
	changed, with := changing(path), ""
	for _, system := range state.Systems {
		if slices.Contains(changed, system.Name) {
			with += ", " + systemName(system, path[0])
		}
	}
	path = slices.Clone(path)
	for i := range path {
		path[i].Systems = nil
	}
	state.Systems = nil
	words := strings.Fields(state.String())
	kept := words[:1]
	for _, word := range words[1:] {
		for _, other := range path {
			if !strings.Contains(" "+other.String()+" ", " "+word+" ") {
				kept = append(kept, word)
				break
			}
		}
	}
	return strings.Replace(strings.Join(kept, " "), " emulatedVersion=", " as ", 1) + with
}

type rehearsal struct {
	Options
	hidden  hidden
	share   *share
	report  *upgrades.Report
	cluster clusters.Cluster
	// host is the cluster with its systems.
	host    *systems.Host
	creator *creator
	survey  *survey.Survey
	// mark is the moment from which the next state is judged.
	mark survey.Mark
	// waiting are the objects that no state has accepted yet, and left has the reasons. withheld are never created, and
	// limited only in a form that can be checked.
	waiting                 []*manifests.Object
	left, withheld, limited []rejected
	// created are all objects that were created, of which the shard's share is surveyed.
	created []survey.Created
}

func (r *rehearsal) run(ctx context.Context) error {
	if r.Origin == nil && r.share.idle() {
		r.report.Idle = true
		return nil
	}
	for _, state := range r.Path.States {
		if err := r.Provider.Prepare(ctx, state); err != nil {
			return fmt.Errorf("prepare %s: %w", state, err)
		}
	}
	began := time.Now()
	r.report.Path[0].Began = began
	err := r.create(ctx, "upgrade-"+strings.ToLower(rand.Text()[:8]))
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), deleteTimeout)
		defer cancel()
		defer func() { r.report.Processes = lives.Of(r.cluster) }()
		if err := r.cluster.Delete(ctx); err != nil {
			r.Progress("delete the cluster: %v", err)
		}
	}()
	with := r.Systems
	with.Progress = r.Progress
	if r.host, err = systems.NewHost(ctx, r.cluster, r.Path.States[0].Systems, with); err != nil {
		return err
	}
	defer func() {
		if err := r.host.Close(context.WithoutCancel(ctx)); err != nil {
			r.Progress("%v", err)
		}
	}()
	r.report.Path[0].Transition = time.Since(began).Seconds()
	if r.survey, err = survey.New(r.cluster.RESTConfig(), survey.Options{
		Settle: r.Settle, Sample: r.Sample, Elsewhere: r.share.surveyedElsewhere,
		Progress: r.Progress, Writes: storage.Writes(r.cluster),
	}); err != nil {
		return err
	}
	defer r.survey.Close()
	if r.creator, err = newCreator(r.cluster, r.Namespace, r.Progress); err != nil {
		return err
	}
	r.waiting, r.withheld, r.limited = withhold(r.Objects)
	for i := range r.Path.States {
		whole, err := r.visit(ctx, i)
		if r.unanswered(i) || err != nil || !whole || r.report.Idle {
			return err
		}
	}
	return nil
}

// visit brings the cluster to a state and surveys it. It returns false if the cluster broke.
func (r *rehearsal) visit(ctx context.Context, i int) (whole bool, err error) {
	if way := r.Path.Ways[i]; way == upgrades.Up || way == upgrades.Back {
		if whole, err := r.converge(ctx, i); err != nil || !whole {
			return false, err
		}
	}
	if r.exited() != nil {
		return false, nil
	}
	alive, stop := systems.WhileRunning(ctx, func() error { return cmp.Or(r.exited(), r.host.Death()) })
	defer stop()
	if err := r.begin(alive, i); err != nil {
		if r.died(i) || r.exited() != nil { // an object may make the API server exit, and then requests fail
			return false, nil
		}
		return false, err
	}
	if r.report.Idle {
		return true, nil
	}
	state := r.report.Path[i]
	r.Progress("surveying %s", state.Name)
	began := time.Now()
	r.mark, err = r.survey.At(alive, r.mark)
	if r.died(i) || r.exited() != nil {
		return false, nil
	}
	if err == nil {
		state.Reached, state.Survey = true, time.Since(began).Seconds()
		r.tellEarly(i)
	}
	if i == 0 && r.Origin != nil && r.Origin.Surveyed != nil {
		r.Origin.Surveyed()
	}
	return err == nil, err
}

// begin creates or recreates objects at a state, before it is surveyed.
func (r *rehearsal) begin(ctx context.Context, i int) (err error) {
	switch way := r.Path.Ways[i]; {
	case way == upgrades.Start || way == r.Path.Ways[1]: // on the way to the target
		err = r.createWaiting(ctx, i)
	case way == upgrades.Redeploy:
		err = r.redeploy(ctx, i)
	}
	if err != nil || i > 0 {
		return err
	}
	if r.Origin != nil {
		if err := r.adopt(ctx); err != nil || r.report.Idle {
			return err
		}
	}
	r.mark, err = r.survey.Begin(ctx)
	return err
}

// createWaiting tries to create the objects that no state has accepted yet. An object that only a later state accepts
// is surveyed from there on.
func (r *rehearsal) createWaiting(ctx context.Context, i int) error {
	if len(r.waiting) == 0 {
		return nil
	}
	if i == 0 {
		r.Progress("creating %d objects", len(r.waiting))
		made, err := r.creator.makeClasses(ctx, manifests.PlacementOf(r.waiting).Classes)
		if err != nil {
			return err
		}
		for _, class := range made {
			r.report.Notes = append(r.report.Notes, fmt.Sprintf("StorageClass %s is in no manifest, so a simulated one was "+
				"created", class))
		}
	}
	created, left, err := r.creator.createAll(ctx, r.waiting)
	if err != nil {
		return err
	}
	r.survey.Add(r.share.take(created)...)
	r.created = append(r.created, created...)
	if i > 0 {
		for _, c := range r.share.take(created) {
			r.report.Notes = append(r.report.Notes, fmt.Sprintf("%s (%s) was first accepted at %s, and was created there",
				c.Object, c.Object.Place(), r.report.Path[i].Name))
		}
	}
	r.left, r.waiting = left, nil
	for _, one := range left {
		r.waiting = append(r.waiting, one.object)
	}
	return r.survey.Still(ctx)
}

// converge brings the cluster to a state. It returns false if a component does not start, which is a finding.
func (r *rehearsal) converge(ctx context.Context, i int) (whole bool, err error) {
	state := r.report.Path[i]
	r.Progress("%s to %s", state.Way, state.Name)
	timed, cancel := context.WithTimeout(ctx, transitionTimeout)
	defer cancel()
	began := time.Now()
	state.Began = began
	err = r.host.Converge(timed, r.Path.States[i])
	r.creator.kinds.Cross(r.Path.States[i].Version) // otherwise the 404 of a dropped version would look like a deletion
	state.Transition = time.Since(began).Seconds()
	broken, _ := clusters.Breakage(err)
	if len(broken) == 0 || ctx.Err() != nil {
		return err == nil, err
	}
	r.broke(i, fmt.Sprintf("%s does not come up", broken[0].Component), err)
	return false, nil
}

// died reports whether a component exited at a state, which is a finding.
func (r *rehearsal) died(i int) bool {
	err := r.host.Death()
	if err == nil {
		return false
	}
	r.broke(i, "a component of the control plane or a system exited", err)
	return true
}

// exited returns how a program that answers webhooks has exited; nil if all of them run.
func (r *rehearsal) exited() error {
	if r.Origin == nil || r.Origin.Death == nil {
		return nil
	}
	return r.Origin.Death()
}

// unanswered reports that a program that answers webhooks has exited, which is a finding. Nothing restarts it, as a
// cluster would do with its pod, so neither this state nor the following ones can be judged. It returns false if all
// programs run.
func (r *rehearsal) unanswered(i int) bool {
	err := r.exited()
	if err == nil {
		return false
	}
	r.ended(i, upgrades.Unjudged, "a program that answers webhooks exited", err,
		"find the reason in its output; if it exits whenever kube-apiserver restarts, name a script that restarts it")
	return true
}

// sampled adds the note that dry runs were sent for some objects only.
func (r *rehearsal) sampled() {
	r.report.Sample = r.Sample
	r.report.Notes = append(r.report.Notes, r.report.SampleNotes()...)
}

// broke reports that a component exited. A component that the kernel killed, for want of memory, shows nothing about
// the objects.
func (r *rehearsal) broke(i int, what string, err error) {
	severity, advice := upgrades.Breaks, "find the reason before you upgrade with these objects"
	if clusters.Killed(err) {
		severity, advice = upgrades.Unjudged, "it was killed from outside: give the machine more memory, and try again"
	}
	r.ended(i, severity, what, err, advice)
}

// ended reports why the rehearsal ends at a state.
func (r *rehearsal) ended(i int, severity upgrades.Severity, what string, err error, advice string) {
	r.report.Findings = append(r.report.Findings, &upgrades.Finding{
		Severity: severity, Check: "control plane", Kind: "cluster", State: i, States: []int{i}, Hop: r.report.Hop(i),
		What: what, Words: err.Error(), Back: "later states were not rehearsed", Advice: advice,
	})
}

// unaccepted reports the objects that no state has accepted: they are not judged.
func (r *rehearsal) unaccepted() {
	for _, one := range r.share.rejected(slices.Concat(r.left, r.withheld)) {
		r.uncreated(one, 0, "it was not checked, because no state of the path contains it",
			"fix the manifest, or exclude it with --except")
	}
	for _, one := range r.share.rejected(r.limited) {
		r.uncreated(one, 0, "not all of its versions were checked",
			"run the webhook beside the cluster with --system, or rehearse a live cluster or its capture with --webhook")
	}
	if r.creator != nil {
		for _, namespace := range r.creator.made {
			r.report.Notes = append(r.report.Notes, fmt.Sprintf("namespace %s was created, because "+
				"no manifest creates it", namespace))
		}
	}
	survey.Sort(r.report.Findings)
}

// uncreated reports an object that is not checked from the i-th state on, at least not all of it.
func (r *rehearsal) uncreated(one rejected, i int, what, advice string) {
	r.report.Findings = append(r.report.Findings, &upgrades.Finding{
		Severity: upgrades.Unjudged, Check: "creation", Kind: one.object.GVK().GroupKind().String(),
		Objects: []upgrades.Object{{Name: one.object.String(), Place: one.object.Place()}}, State: i, States: []int{i},
		Hop: r.report.Path[i].Name, What: what, Words: one.err.Error(), Advice: advice,
	})
}
