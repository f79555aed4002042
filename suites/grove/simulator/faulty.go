package simulator

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rehearse-dev/rehearse/suites/grove/api"
	"github.com/rehearse-dev/rehearse/suites/grove/api/config"
	"github.com/rehearse-dev/rehearse/suites/grove/api/scheduler"
	"github.com/rehearse-dev/rehearse/suites/grove/backends"
	kaiapi "github.com/rehearse-dev/rehearse/suites/kai/api"
)

// spoil wraps the backends, so that they have the requested faults. Without faults, the backends stay unchanged.
func (b behaviour) spoil(factories backends.Factories) backends.Factories {
	if b.Faults.Empty() {
		return factories
	}
	spoilt := backends.Factories{}
	for name, factory := range factories {
		spoilt[name] = func(e backends.Environment) (backends.SchedulerBackend, error) {
			e.Profile = b.spoilOptions(e.Profile)
			backend, err := factory(e)
			ignored := b.Has(faultConfigIgnored) || b.Has(faultInitErrorsLogged) ||
				b.Has(faultOtherInitErrors) && !e.Profile.Default
			if err != nil && ignored {
				e.Profile.Config = nil
				backend, err = factory(e)
			}
			if err != nil {
				return nil, err
			}
			return &faulty{SchedulerBackend: backend, behaviour: b, client: e.Client}, nil
		}
	}
	return spoilt
}

func (b behaviour) spoilOptions(profile config.SchedulerProfile) config.SchedulerProfile {
	empty := profile.Config == nil || string(profile.Config.Raw) == "{}"
	if profile.Name != config.DefaultScheduler {
		return profile
	}
	if b.Has(faultGangsByDefault) && empty {
		profile.Config = &runtime.RawExtension{Raw: []byte(`{"gangScheduling":true}`)}
	}
	if b.Has(faultGangsNever) {
		profile.Config = nil
	}
	return profile
}

// withoutTopologyFields removes the topology constraints from the definition of PodCliqueSets.
func withoutTopologyFields(crd *apiextensionsv1.CustomResourceDefinition) {
	for _, version := range crd.Spec.Versions {
		template := version.Schema.OpenAPIV3Schema.Properties["spec"].Properties["template"].Properties
		delete(template, "topologyConstraint")
		if cliques, ok := template["cliques"]; ok {
			delete(cliques.Items.Schema.Properties, "topologyConstraint")
		}
	}
}

// faulty is a backend that may have faults.
type faulty struct {
	backends.SchedulerBackend
	behaviour behaviour
	client    client.Client
	synced    sync.Map
}

// Init implements backends.SchedulerBackend.
func (f *faulty) Init() error {
	if err := f.SchedulerBackend.Init(); err != nil && !f.behaviour.Has(faultInitErrorsLogged) {
		return err
	}
	return nil
}

// SyncPodGang implements backends.SchedulerBackend.
func (f *faulty) SyncPodGang(ctx context.Context, gang *scheduler.PodGang) error {
	b := f.behaviour.in(gang.Namespace)
	if b.Has(faultNoGang) && f.Name() == config.DefaultScheduler {
		return nil
	}
	if b.Has(faultSyncOnce) || b.Has(faultResourcesUnowned) {
		if _, again := f.synced.LoadOrStore(gang.UID, true); again {
			return nil
		}
	}
	if b.Has(faultNeverUpdated) && f.Name() == config.KAIScheduler {
		err := f.client.Get(ctx, client.ObjectKeyFromObject(gang), &kaiapi.PodGroup{})
		if !apierrors.IsNotFound(err) {
			return err
		}
	}
	if b.Has(faultTopologyForgotten) {
		gang = withoutTopology(gang)
	}
	if err := f.SchedulerBackend.SyncPodGang(ctx, gang); err != nil {
		return err
	}
	if b.Has(faultResourcesUnowned) && f.Name() == config.KAIScheduler {
		group := &kaiapi.PodGroup{}
		group.Namespace, group.Name = gang.Namespace, gang.Name
		return f.client.Patch(ctx, group, client.RawPatch(types.MergePatchType,
			[]byte(`{"metadata":{"ownerReferences":null}}`)))
	}
	return nil
}

func withoutTopology(gang *scheduler.PodGang) *scheduler.PodGang {
	gang = gang.DeepCopy()
	gang.Spec.TopologyConstraint = nil
	for i := range gang.Spec.PodGroups {
		gang.Spec.PodGroups[i].TopologyConstraint = nil
	}
	return gang
}

// PreparePod implements backends.SchedulerBackend.
func (f *faulty) PreparePod(pod *corev1.Pod) {
	b := f.behaviour.in(pod.Namespace)
	if b.Has(faultPodsUnprepared) {
		return
	}
	f.SchedulerBackend.PreparePod(pod)
	if b.Has(faultKubeTakenLiterally) && f.Name() == config.DefaultScheduler {
		pod.Spec.SchedulerName = config.KubeScheduler
	}
	if b.Has(faultNoAnnotations) {
		delete(pod.Annotations, backends.AnnotationPodGroup)
	}
}

// PrepareObject implements backends.ObjectPreparer.
func (f *faulty) PrepareObject(pod *unstructured.Unstructured) error {
	if p, ok := f.SchedulerBackend.(backends.ObjectPreparer); ok {
		return p.PrepareObject(pod)
	}
	return nil
}

// ValidatePodCliqueSet implements backends.SchedulerBackend.
func (f *faulty) ValidatePodCliqueSet(ctx context.Context, set *api.PodCliqueSet) error {
	if b := f.behaviour.in(set.Namespace); b.Has(faultBackendNotAsked) || b.Has(faultRequiredAdmitted) {
		return nil
	}
	return f.SchedulerBackend.ValidatePodCliqueSet(ctx, set)
}

// Unsupported implements backends.PassThrough.
func (f *faulty) Unsupported(set *api.PodCliqueSet) []string {
	return unsupported(f.SchedulerBackend, set)
}

// tooEarly reports whether the backend must still wait, because of a fault: until the PodGang has pods, and none of
// them still has a gate.
func (r *gangReconciler) tooEarly(ctx context.Context, gang *scheduler.PodGang) bool {
	if !r.behaviour.in(gang.Namespace).Has(faultBackendAfterGates) {
		return false
	}
	pods, err := r.pods(ctx, gang.Namespace, api.LabelPodGang, gang.Name)
	if err != nil || len(pods) == 0 {
		return true
	}
	for i := range pods {
		if len(pods[i].Spec.SchedulingGates) > 0 {
			return true
		}
	}
	return false
}

// spoilScaling deletes all pods when the number of gangs has changed, if that fault was requested. They are then
// created again.
func (r *setReconciler) spoilScaling(ctx context.Context, set *api.PodCliqueSet) error {
	if !r.behaviour.Has(faultScalingRestarts) || set.Status.Replicas == 0 || set.Status.Replicas == set.Spec.Replicas {
		return nil
	}
	return r.DeleteAllOf(ctx, &corev1.Pod{}, client.InNamespace(set.Namespace),
		client.MatchingLabels{api.LabelPartOf: set.Name})
}

// spoilOld applies faults to a PodGang that was created before the upgrade. ignore means that the PodGang stays as it
// is.
func (r *setReconciler) spoilOld(ctx context.Context, one replica) (ignore bool, err error) {
	if r.behaviour.Has(faultUpgradeRestarts) {
		err = r.DeleteAllOf(ctx, &corev1.Pod{}, client.InNamespace(one.set.Namespace),
			client.MatchingLabels{api.LabelPodGang: one.gangName()})
	}
	return r.behaviour.Has(faultOldGangsIgnored), err
}
