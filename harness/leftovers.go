package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/harness/planning"
	"github.com/rehearse-dev/rehearse/harness/population"
	"github.com/rehearse-dev/rehearse/harness/writes"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// leftovers are the objects that appear in a borrowed cluster while a track runs, and stay.
type leftovers struct {
	run *trackRun
	// before is what the cluster contained; nil if no census was taken. beforeErr is why the census failed.
	before    *population.Population
	beforeErr error
}

// RunLabel is the label key with which objects that a command makes name their run.
const RunLabel = "rehearse.dev/run"

// census takes a census of a borrowed cluster, before anything is made in it, if programs will run whose effects the
// harness does not see.
func (l *leftovers) census(ctx context.Context) {
	if _, borrowed := planning.BorrowedFrom(l.run.provider); l.run.Keep || !borrowed || !l.runsPrograms() {
		return
	}
	l.before, l.beforeErr = population.Take(ctx, l.run.cluster.RESTConfig())
}

// runsPrograms reports whether systems, or programs of scenarios, can make something that the harness does not know
// of.
func (l *leftovers) runsPrograms() bool {
	return planning.HasSystems(l.run.track.Path) || slices.ContainsFunc(l.run.track.Entries, func(e *planning.Entry) bool {
		return slices.ContainsFunc(e.Scenario.Spec.Steps, func(s scenarios.Step) bool { return verbOf(&s).programs })
	})
}

// shownLeftovers is how many objects the terminal shows; the report has all.
const shownLeftovers = 10

// find reports what appeared in the cluster while the track ran and is still there. It removes the objects that have
// the run's label.
func (l *leftovers) find(ctx context.Context) (told string, err error) {
	if l.before == nil && l.beforeErr == nil {
		return "", nil
	}
	after, err := population.Take(ctx, l.run.cluster.RESTConfig())
	if err = errors.Join(l.beforeErr, err); err != nil {
		return "", fmt.Errorf("look for objects that commands and systems left on cluster %s: %w",
			l.run.cluster.Name(), err)
	}
	var ours, others []population.Object
	for _, object := range after.Since(l.before, l.ownsNamespace) {
		if object.Labels[RunLabel] == l.run.id {
			ours = append(ours, object)
		} else {
			others = append(others, object)
		}
	}
	err = l.removeOurs(ctx, ours)
	tell := func(objects []population.Object, what string) {
		if len(objects) > 0 {
			told += what + ": " + population.Names(objects, 0) + "\n"
			l.run.Say("%s: %s", what, population.Names(objects, shownLeftovers))
		}
	}
	if err == nil {
		tell(ours, "removed from cluster "+l.run.cluster.Name()+", by the run's label")
	}
	tell(others, "left on cluster "+l.run.cluster.Name()+", by a command or a system, or created by "+
		"somebody else meanwhile")
	for _, unseen := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(l.before.Unseen(), after.Unseen())))) {
		told += fmt.Sprintf("could not check for remaining %s\n", unseen)
	}
	return told, err
}

// ownsNamespace reports whether a namespace belongs to one of the track's scenarios, which removes it itself.
func (l *leftovers) ownsNamespace(name string) bool {
	return slices.ContainsFunc(l.run.track.Entries, func(e *planning.Entry) bool { return e.Scenario.ID() == name })
}

func (l *leftovers) removeOurs(ctx context.Context, objects []population.Object) error {
	client, err := dynamic.NewForConfig(l.run.cluster.RESTConfig())
	if err != nil {
		return fmt.Errorf("make a client for cluster %s: %w", l.run.cluster.Name(), err)
	}
	var errs []error
	for _, o := range objects {
		errs = append(errs, writes.Remover{Client: client}.Remove(ctx, writes.Made{
			Resource: o.Resource, Kind: o.Kind, Namespaced: o.Namespace != metav1.NamespaceNone, Namespace: o.Namespace,
			Name: o.Name, UID: string(o.UID),
		}, nil))
	}
	return errors.Join(errs...)
}
