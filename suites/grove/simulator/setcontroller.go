package simulator

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/rehearse-dev/rehearse/suites/grove/api"
	"github.com/rehearse-dev/rehearse/suites/grove/api/scheduler"
	"github.com/rehearse-dev/rehearse/suites/grove/backends"
)

// laterPause is the time until something is tried again for which there is no event.
const laterPause = 300 * time.Millisecond

// setReconciler creates the PodGangs and PodCliques of PodCliqueSets.
type setReconciler struct {
	store
	selection
}

// Reconcile implements reconcile.Reconciler.
func (r *setReconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	r = &setReconciler{r.store, r.selection.in(request.Namespace)}
	var set api.PodCliqueSet
	if err := r.live.Get(ctx, request.NamespacedName, &set); err != nil || set.DeletionTimestamp != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if err := r.spoilScaling(ctx, &set); err != nil {
		return reconcile.Result{}, err
	}
	backend := r.of(&set)
	for i := range int(set.Spec.Replicas) {
		if err := r.ensure(ctx, &set, i, backend); err != nil {
			return reconcile.Result{}, err
		}
	}
	if err := r.prune(ctx, &set); err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{}, r.writeStatus(ctx, &set, backend)
}

// ensure brings one replica one step further. First come its PodGang and its PodCliques. Once all pods exist, ensure
// sets the references and the condition of the PodGang.
func (r *setReconciler) ensure(ctx context.Context, set *api.PodCliqueSet, index int,
	backend backends.SchedulerBackend,
) error {
	one, err := r.observe(ctx, set, index)
	if err != nil {
		return err
	}
	var gang scheduler.PodGang
	err = r.live.Get(ctx, client.ObjectKey{Namespace: set.Namespace, Name: one.gangName()}, &gang)
	there := err == nil
	switch {
	case client.IgnoreNotFound(err) != nil:
		return fmt.Errorf("read PodGang %s: %w", one.gangName(), err)
	case there && gang.DeletionTimestamp != nil:
		return nil // its deletion triggers another reconcile
	case there:
		one.backend = gang.Labels[api.LabelSchedulerName]
	case backend == nil:
		return nil // its backend is not enabled
	default:
		one.backend = backend.Name()
	}
	if r.gangLast() {
		return r.ensureGangLast(ctx, one, &gang, there)
	}
	if !there {
		if r.behaviour.Liberties.Takes(libertyCliquesFirst) {
			if err := r.ensureCliques(ctx, one); err != nil {
				return err
			}
		}
		created, err := r.createGang(ctx, one)
		if err != nil {
			return err
		}
		gang = *created
	}
	if old := there && meta.FindStatusCondition(gang.Status.Conditions, scheduler.ConditionInitialized) == nil; old {
		if ignore, err := r.spoilOld(ctx, one); ignore || err != nil {
			return err
		}
	}
	if err := r.begin(ctx, &gang); err != nil {
		return err
	}
	if err := r.ensureCliques(ctx, one); err != nil {
		return err
	}
	return r.refer(ctx, one, &gang)
}

func (r *setReconciler) observe(ctx context.Context, set *api.PodCliqueSet, index int) (replica, error) {
	one := replica{set: set, index: index, pods: map[string][]corev1.Pod{}}
	for i := range set.Spec.Template.Cliques {
		name := one.cliqueName(i)
		pods, err := r.pods(ctx, set.Namespace, api.LabelPodClique, name)
		if err != nil {
			return one, err
		}
		one.pods[name] = pods
	}
	return one, nil
}

func (r *setReconciler) createGang(ctx context.Context, one replica) (*scheduler.PodGang, error) {
	references := none
	if r.behaviour.Has(faultReferencesFromStart) {
		references = one.future
	}
	gang := one.gang(references)
	if r.behaviour.Has(faultGangUnlabelled) {
		delete(gang.Labels, api.LabelPartOf)
	}
	if err := r.Create(ctx, gang); err != nil {
		return nil, fmt.Errorf("create PodGang %s: %w", gang.Name, err)
	}
	return gang, nil
}

// begin sets the condition Initialized of a new PodGang to false, with the reason that its pods are pending. The
// PodCliques are created after that.
func (r *setReconciler) begin(ctx context.Context, gang *scheduler.PodGang) error {
	if meta.FindStatusCondition(gang.Status.Conditions, scheduler.ConditionInitialized) != nil ||
		r.behaviour.Has(faultNoConditionAtFirst) {
		return nil
	}
	return r.setCondition(ctx, client.ObjectKeyFromObject(gang), metav1.Condition{
		Type: scheduler.ConditionInitialized, Status: metav1.ConditionFalse, Reason: r.behaviour.reasonPending(),
		Message: "Not all constituent pods have been created yet", ObservedGeneration: gang.Generation,
	})
}

// refer updates the spec of the PodGang. Once all pods exist, refer adds their references and then sets the condition
// Initialized to true.
func (r *setReconciler) refer(ctx context.Context, one replica, gang *scheduler.PodGang) error {
	complete := r.complete(one)
	if complete && r.behaviour.Has(faultInitializedFirst) && !gang.Initialized() {
		return r.finish(ctx, gang)
	}
	references := func(i int) []scheduler.PodReference {
		switch {
		case complete && r.behaviour.Has(faultReferencesTwice):
			return one.present(0)
		case complete || r.behaviour.Has(faultReferencesIncremental) || r.behaviour.Has(faultGatesByReference):
			return one.present(i)
		case r.behaviour.Has(faultReferencesFromStart):
			return one.future(i)
		}
		return referencesOf(gang, one.cliqueName(i))
	}
	if complete && r.behaviour.Liberties.Takes(libertyGroupByGroup) {
		if err := r.referGroups(ctx, one, gang); err != nil {
			return err
		}
	}
	if err := r.updateGang(ctx, one.gang(references), gang); err != nil {
		return err
	}
	if !complete || gang.Initialized() {
		return nil
	}
	return r.finish(ctx, gang)
}

// referGroups adds the references of one group after another, each with an update of its own.
func (r *setReconciler) referGroups(ctx context.Context, one replica, gang *scheduler.PodGang) error {
	for last := range one.set.Spec.Template.Cliques {
		references := func(i int) []scheduler.PodReference {
			if i <= last {
				return one.present(i)
			}
			return referencesOf(gang, one.cliqueName(i))
		}
		if err := r.updateGang(ctx, one.gang(references), gang); err != nil {
			return err
		}
	}
	return nil
}

// complete reports whether all pods of a replica exist.
func (r *setReconciler) complete(one replica) bool {
	missing := one.missing()
	switch {
	case r.behaviour.Has(faultLabelsLate):
		missing = 0
		for i := range one.set.Spec.Template.Cliques {
			missing += int(one.set.Spec.Template.Cliques[i].Spec.Replicas) - len(one.pods[one.cliqueName(i)])
		}
	case r.behaviour.Has(faultInitializedShort):
		return missing <= 1
	}
	return missing <= 0
}

// referencesOf returns the references of a group in a PodGang.
func referencesOf(gang *scheduler.PodGang, name string) []scheduler.PodReference {
	for _, group := range gang.Spec.PodGroups {
		if group.Name == name && group.PodReferences != nil {
			return group.PodReferences
		}
	}
	return []scheduler.PodReference{}
}

func (r *setReconciler) updateGang(ctx context.Context, want, have *scheduler.PodGang) error {
	if equality.Semantic.DeepEqual(want.Spec, have.Spec) {
		return nil
	}
	changed := have.DeepCopy()
	changed.Spec = want.Spec
	if err := r.Update(ctx, changed); err != nil {
		return fmt.Errorf("update PodGang %s: %w", want.Name, err)
	}
	have.Spec, have.Generation, have.ResourceVersion = changed.Spec, changed.Generation, changed.ResourceVersion
	return nil
}

func (r *setReconciler) finish(ctx context.Context, gang *scheduler.PodGang) error {
	return r.setCondition(ctx, client.ObjectKeyFromObject(gang), metav1.Condition{
		Type: scheduler.ConditionInitialized, Status: metav1.ConditionTrue, Reason: r.behaviour.reasonReady(),
		Message: "PodGang is fully initialized", ObservedGeneration: gang.Generation,
	})
}

func (r *setReconciler) ensureCliques(ctx context.Context, one replica) error {
	for i := range one.set.Spec.Template.Cliques {
		want := one.clique(i)
		var have api.PodClique
		err := r.live.Get(ctx, client.ObjectKeyFromObject(want), &have)
		switch {
		case apierrors.IsNotFound(err):
			err = r.Create(ctx, want)
		case err != nil:
		case have.DeletionTimestamp == nil && !equality.Semantic.DeepEqual(want.Spec, have.Spec):
			have.Spec = want.Spec
			err = r.Update(ctx, &have)
		}
		if err != nil {
			return fmt.Errorf("write PodClique %s: %w", want.Name, err)
		}
	}
	return nil
}

// prune deletes the PodCliques and PodGangs that are no longer wanted.
func (r *setReconciler) prune(ctx context.Context, set *api.PodCliqueSet) error {
	mine := []client.ListOption{client.InNamespace(set.Namespace), client.MatchingLabels{api.LabelPartOf: set.Name}}
	wanted := map[string]bool{}
	for i := range int(set.Spec.Replicas) {
		wanted[gangName(set.Name, i)] = true
		for j := range set.Spec.Template.Cliques {
			wanted[cliqueName(set.Name, i, set.Spec.Template.Cliques[j].Name)] = true
		}
	}
	var cliques api.PodCliqueList
	var gangs scheduler.PodGangList
	if err := r.live.List(ctx, &cliques, mine...); err != nil {
		return fmt.Errorf("list the PodCliques of %s: %w", set.Name, err)
	}
	if err := r.live.List(ctx, &gangs, mine...); err != nil {
		return fmt.Errorf("list the PodGangs of %s: %w", set.Name, err)
	}
	var surplus []client.Object
	for i := range cliques.Items {
		surplus = append(surplus, &cliques.Items[i])
	}
	if !r.behaviour.Has(faultScaleInKeepsGangs) {
		for i := range gangs.Items {
			surplus = append(surplus, &gangs.Items[i])
		}
	}
	for _, object := range surplus {
		if wanted[object.GetName()] || !metav1.IsControlledBy(object, set) || object.GetDeletionTimestamp() != nil {
			continue
		}
		if err := client.IgnoreNotFound(r.Delete(ctx, object)); err != nil {
			return fmt.Errorf("delete %s: %w", object.GetName(), err)
		}
	}
	return nil
}

// writeStatus writes the number of gangs, and which requested features the backend does not support.
func (r *setReconciler) writeStatus(ctx context.Context, set *api.PodCliqueSet,
	backend backends.SchedulerBackend,
) error {
	condition := metav1.Condition{
		Type: api.ConditionFeaturesSupported, Status: metav1.ConditionTrue, Reason: api.ReasonSupported,
		ObservedGeneration: set.Generation,
		Message:            "the backend supports everything that is requested",
	}
	if lacking := unsupported(backend, set); len(lacking) > 0 && !r.behaviour.Has(faultNoUnsupportedCondition) {
		condition.Status, condition.Reason, condition.Message = metav1.ConditionFalse, api.ReasonUnsupported,
			strings.Join(lacking, "; ")
	}
	if r.behaviour.Has(faultNoUnsupportedCondition) {
		condition.Message = "gangs and topology constraints are handled" // the same words, whatever is supported
	}
	key := client.ObjectKeyFromObject(set)
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		var now api.PodCliqueSet
		if err := r.live.Get(ctx, key, &now); err != nil {
			return client.IgnoreNotFound(err)
		}
		before := now.Status.DeepCopy()
		if !r.behaviour.Liberties.Takes(libertyStatusShort) {
			now.Status.Replicas, now.Status.ObservedGeneration = set.Spec.Replicas, set.Generation
		}
		if backend == nil {
			condition.Status, condition.Reason, condition.Message = metav1.ConditionUnknown, "BackendNotEnabled",
				"the backend is not enabled"
		}
		meta.SetStatusCondition(&now.Status.Conditions, condition)
		if equality.Semantic.DeepEqual(*before, now.Status) {
			return nil
		}
		return r.Status().Update(ctx, &now)
	})
	if err != nil {
		return fmt.Errorf("write the status of PodCliqueSet %s: %w", strconv.Quote(set.Name), err)
	}
	return nil
}
