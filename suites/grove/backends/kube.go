package backends

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rehearse-dev/rehearse/suites/grove/api"
	"github.com/rehearse-dev/rehearse/suites/grove/api/config"
	"github.com/rehearse-dev/rehearse/suites/grove/api/scheduler"
)

// The kinds of gangs in Kubernetes: a PodGroup, which is beta in 1.37 and alpha in 1.36, and a group in a Workload in
// 1.35. This build's Go types do not have all of them.
var (
	podGroups      = schema.GroupVersionKind{Group: "scheduling.k8s.io", Version: "v1beta1", Kind: "PodGroup"}
	alphaPodGroups = schema.GroupVersionKind{Group: "scheduling.k8s.io", Version: "v1alpha2", Kind: "PodGroup"}
	workloads      = schema.GroupVersionKind{Group: "scheduling.k8s.io", Version: "v1alpha1", Kind: "Workload"}
)

// workloadGroup is the only group in a Workload: Kubernetes places each group separately, but a PodGang must be
// placed as a whole.
const workloadGroup = "gang"

// KubeOptions are the options of Kube.
type KubeOptions struct {
	// GangScheduling creates a gang for each PodGang, if the cluster supports gangs.
	GangScheduling bool `json:"gangScheduling,omitempty"`
}

// Kube is the backend of Kubernetes' own scheduler, which always exists. With gang scheduling, it creates a gang of
// the same name for each PodGang. A gang in Kubernetes has one number of pods that are placed together: the sum over
// the PodGang's groups.
type Kube struct {
	environment Environment
	options     KubeOptions
	// gangs is the kind of gangs that the cluster has. It is empty if the cluster has none or GangScheduling is off.
	gangs schema.GroupVersionKind
}

// NewKube is a Factory.
func NewKube(e Environment) (SchedulerBackend, error) {
	k := &Kube{environment: e}
	if err := e.Profile.Decode(&k.options); err != nil {
		return nil, fmt.Errorf("read its config: %w", err)
	}
	return k, nil
}

// Name implements SchedulerBackend.
func (k *Kube) Name() string { return config.DefaultScheduler }

// Init finds out which gangs the cluster has.
func (k *Kube) Init() error {
	if !k.options.GangScheduling {
		return nil
	}
	for _, kind := range []struct {
		schema.GroupVersionKind
		resource string
	}{{podGroups, "podgroups"}, {alphaPodGroups, "podgroups"}, {workloads, "workloads"}} {
		served, err := serves(k.environment.Discovery, kind.GroupVersion().String(), kind.resource)
		if err != nil {
			return err
		}
		if served {
			k.gangs = kind.GroupVersionKind
			return nil
		}
	}
	return nil
}

// SyncPodGang implements SchedulerBackend.
func (k *Kube) SyncPodGang(ctx context.Context, gang *scheduler.PodGang) error {
	if k.gangs.Empty() {
		return nil
	}
	want := k.gang(gang)
	have := &unstructured.Unstructured{}
	have.SetGroupVersionKind(k.gangs)
	err := k.environment.Client.Get(ctx, client.ObjectKeyFromObject(want), have)
	switch {
	case apierrors.IsNotFound(err):
		err = k.environment.Client.Create(ctx, want)
	case err != nil:
	case !metav1.IsControlledBy(have, gang):
		err = errors.New("it belongs to something else")
	case !holds(have.Object["spec"], want.Object["spec"]):
		err = k.change(ctx, have, want)
	}
	if err != nil {
		return fmt.Errorf("sync %s %s: %w", k.gangs.Kind, want.GetName(), err)
	}
	return nil
}

// change updates a gang. If Kubernetes rejects the change as invalid, the gang stays unchanged, which is not an
// error: a gang whose pods are placed does not need the change, and new pods wait for the old number of pods.
func (k *Kube) change(ctx context.Context, have, want *unstructured.Unstructured) error {
	have.Object["spec"] = want.Object["spec"]
	err := k.environment.Client.Update(ctx, have)
	if apierrors.IsInvalid(err) {
		return nil
	}
	return err
}

// holds reports whether the stored value has all that is wanted. The API server may have added defaults.
func holds(have, want any) bool {
	switch want := want.(type) {
	case map[string]any:
		stored, _ := have.(map[string]any)
		for key, value := range want {
			if !holds(stored[key], value) {
				return false
			}
		}
		return true
	case []any:
		stored, _ := have.([]any)
		if len(stored) != len(want) {
			return false
		}
		for i, value := range want {
			if !holds(stored[i], value) {
				return false
			}
		}
		return true
	}
	return have == want
}

func (k *Kube) gang(gang *scheduler.PodGang) *unstructured.Unstructured {
	policy := map[string]any{"gang": map[string]any{"minCount": int64(minMembers(gang))}}
	spec := map[string]any{"schedulingPolicy": policy}
	if k.gangs == workloads {
		spec = map[string]any{"podGroups": []any{map[string]any{"name": workloadGroup, "policy": policy}}}
	}
	object := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	object.SetGroupVersionKind(k.gangs)
	object.SetNamespace(gang.Namespace)
	object.SetName(gang.Name)
	object.SetLabels(ownLabels(gang))
	object.SetOwnerReferences([]metav1.OwnerReference{ownedBy(gang)})
	return object
}

// OnPodGangDelete does nothing: PodGangs own their gangs.
func (k *Kube) OnPodGangDelete(context.Context, *scheduler.PodGang) error { return nil }

// PreparePod implements SchedulerBackend.
func (k *Kube) PreparePod(pod *corev1.Pod) {
	pod.Spec.SchedulerName = config.DefaultScheduler
	if k.gangs.Kind == podGroups.Kind {
		name := pod.Labels[api.LabelPodGang]
		pod.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: &name}
	}
}

// PrepareObject implements ObjectPreparer: only Kubernetes 1.35 has spec.workloadRef.
func (k *Kube) PrepareObject(pod *unstructured.Unstructured) error {
	if k.gangs != workloads {
		return nil
	}
	return unstructured.SetNestedStringMap(pod.Object, map[string]string{
		"name": pod.GetLabels()[api.LabelPodGang], "podGroup": workloadGroup,
	}, "spec", "workloadRef")
}

// ValidatePodCliqueSet rejects required topology constraints: Kubernetes' scheduler does not support them.
func (k *Kube) ValidatePodCliqueSet(_ context.Context, set *api.PodCliqueSet) error {
	var errs []error
	for _, c := range set.TopologyConstraints() {
		if c.Pack != nil && c.Pack.Required != "" {
			errs = append(errs, fmt.Errorf("%s does not support required topology constraints: %s", config.DefaultScheduler,
				c.Pack.Required))
		}
	}
	return errors.Join(errs...)
}

// Unsupported implements PassThrough.
func (k *Kube) Unsupported(set *api.PodCliqueSet) []string {
	var all []string
	if k.gangs.Empty() {
		all = append(all, "GangScheduling requested but not supported by this backend—workload scheduled without gang "+
			"guarantees")
	}
	for _, c := range set.TopologyConstraints() {
		if c.Pack != nil && c.Pack.Preferred != "" {
			all = append(all, fmt.Sprintf("TopologyAwareScheduling requested but not supported by this backend—preferred "+
				"level %s is ignored", c.Pack.Preferred))
		}
	}
	return all
}
