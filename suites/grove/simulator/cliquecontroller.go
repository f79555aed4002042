package simulator

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/rehearse-dev/rehearse/suites/grove/api"
	"github.com/rehearse-dev/rehearse/suites/grove/api/scheduler"
	"github.com/rehearse-dev/rehearse/suites/grove/backends"
)

// cliqueReconciler creates the pods of PodCliques with gates. Later it removes the gates.
type cliqueReconciler struct {
	store
	selection
}

// Reconcile implements reconcile.Reconciler.
func (r *cliqueReconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	r = &cliqueReconciler{r.store, r.selection.in(request.Namespace)}
	var clique api.PodClique
	if err := r.live.Get(ctx, request.NamespacedName, &clique); err != nil || clique.DeletionTimestamp != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	backend := r.named(clique.Labels[api.LabelSchedulerName])
	if backend == nil {
		log.FromContext(ctx).Info("the backend is not enabled", "podClique", request, "backend",
			clique.Labels[api.LabelSchedulerName])
		return reconcile.Result{}, nil
	}
	gang, err := r.gangOf(ctx, &clique)
	if err != nil {
		return reconcile.Result{}, err
	}
	if gang == nil && !r.gangMayBeMissing() {
		return reconcile.Result{}, nil // its creation triggers another reconcile
	}
	short, err := r.ensurePods(ctx, &clique, gang, backend)
	if err != nil {
		return reconcile.Result{}, err
	}
	if err := r.ungate(ctx, &clique, gang); err != nil {
		return reconcile.Result{}, err
	}
	if err := r.writeStatus(ctx, &clique); err != nil {
		return reconcile.Result{}, err
	}
	if short {
		return reconcile.Result{RequeueAfter: laterPause}, nil // no event says that the pod is allowed now
	}
	return reconcile.Result{}, nil
}

// gangOf returns the PodGang of a clique once the PodGang has the condition Initialized, whether true or false. It
// returns nil before that, and if the PodGang is being deleted.
func (r *cliqueReconciler) gangOf(ctx context.Context, clique *api.PodClique) (*scheduler.PodGang, error) {
	var gang scheduler.PodGang
	err := r.live.Get(ctx, client.ObjectKey{Namespace: clique.Namespace, Name: clique.Labels[api.LabelPodGang]}, &gang)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the PodGang of PodClique %s: %w", clique.Name, err)
	}
	unsaid := meta.FindStatusCondition(gang.Status.Conditions, scheduler.ConditionInitialized) == nil
	if gang.DeletionTimestamp != nil || unsaid && !r.gangMayBeMissing() && !r.behaviour.Has(faultNoConditionAtFirst) {
		return nil, nil
	}
	return &gang, nil
}

func (r *cliqueReconciler) gangMayBeMissing() bool {
	return r.behaviour.Variant == VariantBefore || r.behaviour.Has(faultPodsBeforeGang)
}

// ensurePods creates missing pods and deletes surplus ones. short reports that pods are missing because something
// forbids them, such as a LimitRange.
func (r *cliqueReconciler) ensurePods(ctx context.Context, clique *api.PodClique, gang *scheduler.PodGang,
	backend backends.SchedulerBackend,
) (short bool, err error) {
	var list corev1.PodList
	if err := r.live.List(ctx, &list, client.InNamespace(clique.Namespace),
		client.MatchingLabels{api.LabelPodClique: clique.Name}); err != nil {
		return false, fmt.Errorf("list the pods of %s: %w", clique.Name, err)
	}
	have := map[string]*corev1.Pod{}
	for i := range list.Items {
		have[list.Items[i].Name] = &list.Items[i]
	}
	for i := range int(clique.Spec.Replicas) {
		name := podName(clique.Name, i)
		if have[name] != nil {
			delete(have, name)
			continue
		}
		pod := r.pod(clique, name, gang)
		r.prepare(backend, pod)
		err := r.createPod(ctx, backend, pod)
		switch {
		case apierrors.IsForbidden(err):
			log.FromContext(ctx).Info("a pod is forbidden", "pod", name, "why", err.Error())
			short = true
		case err != nil && !apierrors.IsAlreadyExists(err):
			return short, fmt.Errorf("create pod %s: %w", name, err)
		}
	}
	for _, pod := range have {
		if pod.DeletionTimestamp != nil || !metav1.IsControlledBy(pod, clique) {
			continue
		}
		if err := client.IgnoreNotFound(r.Delete(ctx, pod)); err != nil {
			return short, fmt.Errorf("delete pod %s: %w", pod.Name, err)
		}
	}
	return short, nil
}

func (r *cliqueReconciler) pod(clique *api.PodClique, name string, gang *scheduler.PodGang) *corev1.Pod {
	labels := maps.Clone(clique.Labels)
	delete(labels, api.LabelSchedulerName)
	labels[api.LabelPodClique] = clique.Name
	if r.behaviour.Has(faultLabelsLate) {
		delete(labels, api.LabelPodGang)
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: clique.Namespace, Name: name, Labels: labels, Annotations: maps.Clone(clique.Annotations),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(clique,
				api.GroupVersion.WithKind(api.KindPodClique))},
		},
		Spec: *clique.Spec.PodSpec.DeepCopy(),
	}
	if !(r.behaviour.Has(faultLatePodsUngated) && gang != nil && gang.Initialized()) {
		pod.Spec.SchedulingGates = append(pod.Spec.SchedulingGates, corev1.PodSchedulingGate{Name: api.SchedulingGate})
	}
	return pod
}

// prepare lets the backend change a pod.
func (r *cliqueReconciler) prepare(backend backends.SchedulerBackend, pod *corev1.Pod) {
	if r.behaviour.Has(faultLabelsLate) {
		gang := podGangOf(pod)
		pod.Labels[api.LabelPodGang] = gang
		backend.PreparePod(pod)
		delete(pod.Labels, api.LabelPodGang)
		return
	}
	backend.PreparePod(pod)
}

// podGangOf returns the name of a pod's PodGang. It derives the name from the pod's set and replica index, for pods
// without a label for their PodGang.
func podGangOf(pod *corev1.Pod) string {
	return pod.Labels[api.LabelPartOf] + "-" + pod.Labels[api.LabelReplicaIndex]
}

// createPod creates a pod. A backend may add fields that the Go type does not have.
func (r *cliqueReconciler) createPod(ctx context.Context, backend backends.SchedulerBackend, pod *corev1.Pod) error {
	preparer, ok := backend.(backends.ObjectPreparer)
	if !ok {
		return r.Create(ctx, pod)
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(pod)
	if err != nil {
		return err
	}
	object := &unstructured.Unstructured{Object: fields}
	object.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Pod"))
	unstructured.RemoveNestedField(object.Object, "status")
	if err := preparer.PrepareObject(object); err != nil {
		return err
	}
	return r.Create(ctx, object)
}

// ungate removes the gate from the pods that their PodGang references, once the PodGang is initialized and the backend
// has created its resources.
func (r *cliqueReconciler) ungate(ctx context.Context, clique *api.PodClique, gang *scheduler.PodGang) error {
	if gang == nil || !r.released(gang) {
		return nil
	}
	pods, err := r.pods(ctx, clique.Namespace, api.LabelPodClique, clique.Name)
	if err != nil {
		return err
	}
	references := referencesOf(gang, clique.Name)
	for i := range pods {
		pod := &pods[i]
		at := slices.IndexFunc(pod.Spec.SchedulingGates,
			func(g corev1.PodSchedulingGate) bool { return g.Name == api.SchedulingGate })
		referenced := slices.ContainsFunc(references, func(p scheduler.PodReference) bool { return p.Name == pod.Name })
		if at < 0 || !referenced && !r.behaviour.Has(faultReferencesTwice) {
			continue
		}
		if err := r.removeGate(ctx, pod, at, gang.Name); err != nil {
			return client.IgnoreNotFound(fmt.Errorf("remove the gate of pod %s: %w", pod.Name, err))
		}
	}
	return nil
}

// released reports whether the gates of a PodGang's pods may be removed.
func (r *cliqueReconciler) released(gang *scheduler.PodGang) bool {
	switch {
	case r.behaviour.Variant == VariantBefore || r.behaviour.Has(faultGatesByReference):
		return true
	case r.behaviour.Has(faultBackendAfterGates):
		return gang.Initialized()
	case r.behaviour.Has(faultGatesStay):
		return false
	}
	return gang.Initialized() && gang.Synced()
}

// removeGate removes a gate with a patch. So fields that the Go type of a pod does not have are kept.
func (r *cliqueReconciler) removeGate(ctx context.Context, pod *corev1.Pod, at int, gang string) error {
	path := fmt.Sprintf("/spec/schedulingGates/%d", at)
	operations := []map[string]any{
		{"op": "test", "path": path + "/name", "value": api.SchedulingGate},
		{"op": "remove", "path": path},
	}
	if r.behaviour.Has(faultLabelsLate) {
		operations = append(operations, map[string]any{
			"op": "add", "path": "/metadata/labels/grove.io~1podgang",
			"value": gang,
		})
	}
	patch, err := json.Marshal(operations)
	if err != nil {
		return err
	}
	return r.Patch(ctx, pod, client.RawPatch(types.JSONPatchType, patch))
}

func (r *cliqueReconciler) writeStatus(ctx context.Context, clique *api.PodClique) error {
	pods, err := r.pods(ctx, clique.Namespace, api.LabelPodClique, clique.Name)
	if err != nil {
		return err
	}
	status := api.PodCliqueStatus{Replicas: int32(len(pods))}
	for i := range pods {
		if len(pods[i].Spec.SchedulingGates) > 0 {
			status.ScheduleGatedReplicas++
		}
		if pods[i].Spec.NodeName != "" {
			status.ScheduledReplicas++
		}
	}
	if status == clique.Status || r.behaviour.Liberties.Takes(libertyStatusShort) {
		return nil
	}
	clique.Status = status
	err = r.Status().Update(ctx, clique)
	if apierrors.IsConflict(err) {
		return nil // the change triggers another reconcile
	}
	if err != nil {
		return client.IgnoreNotFound(fmt.Errorf("write the status of PodClique %s: %w", clique.Name, err))
	}
	return nil
}
