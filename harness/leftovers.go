package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/harness/population"
	"github.com/rehearse-dev/rehearse/harness/writes"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// RunLabel is the key of the label by which objects that a command makes say which run they are of.
const RunLabel = "rehearse.dev/run"

// census counts, before anything is made, what there is on a cluster that is somebody else's, where programs will run that the harness does not see into.
func (t *trackRun) census(ctx context.Context) {
	if _, borrowed := borrowedFrom(t.provider); t.Keep || !borrowed || !t.runsPrograms() {
		return
	}
	t.before, t.beforeErr = population.Take(ctx, t.cluster.RESTConfig())
}

// runsPrograms says whether systems, or programs of scenarios, can make something that the harness does not know of.
func (t *trackRun) runsPrograms() bool {
	return hasSystems(t.track.Path) || slices.ContainsFunc(t.track.Entries, func(e *Entry) bool {
		return slices.ContainsFunc(e.Scenario.Spec.Steps, func(s scenarios.Step) bool { return s.Command != nil || s.Exec != nil })
	})
}

// shownLeftovers is how many objects the terminal shows; the report has all.
const shownLeftovers = 10

// leftovers says what came to the cluster while the track ran and is still there, and removes of it what bears the run's label.
func (t *trackRun) leftovers(ctx context.Context) (told string, err error) {
	if t.before == nil && t.beforeErr == nil {
		return "", nil
	}
	after, err := population.Take(ctx, t.cluster.RESTConfig())
	if err = errors.Join(t.beforeErr, err); err != nil {
		return "", fmt.Errorf("look for what commands and systems left on cluster %s: %w", t.cluster.Name(), err)
	}
	var ours, others []population.Object
	for _, object := range after.Since(t.before, t.ownsNamespace) {
		if object.Labels[RunLabel] == t.execution.run {
			ours = append(ours, object)
		} else {
			others = append(others, object)
		}
	}
	err = t.removeOurs(ctx, ours)
	tell := func(objects []population.Object, what string) {
		if len(objects) > 0 {
			told += what + ": " + population.Names(objects, 0) + "\n"
			t.Say("%s: %s", what, population.Names(objects, shownLeftovers))
		}
	}
	if err == nil {
		tell(ours, "removed from cluster "+t.cluster.Name()+", by the run's label")
	}
	tell(others, "left on cluster "+t.cluster.Name()+", by a command or a system, or made by somebody else meanwhile")
	for _, unseen := range unique(append(t.before.Unseen(), after.Unseen()...)) {
		told += fmt.Sprintf("what is left could not be seen of %s\n", unseen)
	}
	return told, err
}

// ownsNamespace says whether a namespace is one of the track's scenarios, which removes it itself.
func (t *trackRun) ownsNamespace(name string) bool {
	return slices.ContainsFunc(t.track.Entries, func(e *Entry) bool { return e.Scenario.ID() == name })
}

func (t *trackRun) removeOurs(ctx context.Context, objects []population.Object) error {
	client, err := dynamic.NewForConfig(t.cluster.RESTConfig())
	if err != nil {
		return fmt.Errorf("make a client for cluster %s: %w", t.cluster.Name(), err)
	}
	var errs []error
	for _, o := range objects {
		errs = append(errs, writes.Remove(ctx, client, writes.Made{
			Resource: o.Resource, Kind: o.Kind, Namespaced: o.Namespace != metav1.NamespaceNone, Namespace: o.Namespace, Name: o.Name, UID: string(o.UID),
		}))
	}
	return errors.Join(errs...)
}
