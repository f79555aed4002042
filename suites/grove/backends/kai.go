package backends

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rehearse-dev/rehearse/suites/grove/api"
	"github.com/rehearse-dev/rehearse/suites/grove/api/config"
	"github.com/rehearse-dev/rehearse/suites/grove/api/scheduler"
	kaiapi "github.com/rehearse-dev/rehearse/suites/kai/api"
)

// The metadata that tells the KAI scheduler which group a pod belongs to.
const (
	// AnnotationPodGroup names a pod's PodGroup.
	AnnotationPodGroup = "pod-group-name"
	// LabelSubGroup names a pod's sub group.
	LabelSubGroup = "kai.scheduler/subgroup-name"
)

// KAI creates a PodGroup of the KAI scheduler for each PodGang, with the same name and a sub group for each of its
// groups.
type KAI struct {
	environment Environment
}

// NewKAI is a Factory. The backend has no options.
func NewKAI(e Environment) (SchedulerBackend, error) {
	if err := e.Profile.Decode(&struct{}{}); err != nil {
		return nil, fmt.Errorf("read its config: %w", err)
	}
	return &KAI{environment: e}, nil
}

// Name implements SchedulerBackend.
func (k *KAI) Name() string { return config.KAIScheduler }

// Init checks that the cluster serves the scheduler's API.
func (k *KAI) Init() error {
	served, err := serves(k.environment.Discovery, kaiapi.GroupVersion.String(), kaiapi.Resource.Resource)
	if err != nil {
		return err
	}
	if !served {
		return fmt.Errorf("the cluster does not serve %s of %s: install the KAI scheduler first", kaiapi.Resource.Resource,
			kaiapi.GroupVersion)
	}
	return nil
}

// serves reports whether the API server serves a resource.
func serves(d discovery.ServerResourcesInterface, groupVersion, resource string) (bool, error) {
	list, err := d.ServerResourcesForGroupVersion(groupVersion)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("list the resources of %s: %w", groupVersion, err)
	}
	return slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Name == resource }), nil
}

// SyncPodGang implements SchedulerBackend.
func (k *KAI) SyncPodGang(ctx context.Context, gang *scheduler.PodGang) error {
	want := podGroup(gang)
	var have kaiapi.PodGroup
	err := k.environment.Client.Get(ctx, client.ObjectKeyFromObject(want), &have)
	switch {
	case apierrors.IsNotFound(err):
		err = k.environment.Client.Create(ctx, want)
	case err != nil:
	case !metav1.IsControlledBy(&have, gang):
		err = errors.New("it belongs to something else")
	case !equality.Semantic.DeepEqual(have.Spec, want.Spec):
		have.Spec = want.Spec
		err = k.environment.Client.Update(ctx, &have)
	}
	if err != nil {
		return fmt.Errorf("sync PodGroup %s: %w", want.Name, err)
	}
	return nil
}

func podGroup(gang *scheduler.PodGang) *kaiapi.PodGroup {
	group := &kaiapi.PodGroup{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: gang.Namespace, Name: gang.Name, Labels: ownLabels(gang),
			OwnerReferences: []metav1.OwnerReference{ownedBy(gang)},
		},
		Spec: kaiapi.PodGroupSpec{
			MinMember: minMembers(gang), PriorityClassName: gang.Spec.PriorityClassName,
			TopologyConstraint: topology(gang.Spec.TopologyConstraint),
		},
	}
	for _, g := range gang.Spec.PodGroups {
		part := kaiapi.SubGroup{Name: g.Name, MinMember: g.MinReplicas}
		if g.TopologyConstraint != nil {
			constraint := topology(g.TopologyConstraint)
			part.TopologyConstraint = &constraint
		}
		group.Spec.SubGroups = append(group.Spec.SubGroups, part)
	}
	return group
}

func topology(c *scheduler.TopologyConstraint) kaiapi.TopologyConstraint {
	if c == nil || c.PackConstraint == nil {
		return kaiapi.TopologyConstraint{}
	}
	return kaiapi.TopologyConstraint{
		RequiredTopologyLevel:  c.PackConstraint.Required,
		PreferredTopologyLevel: c.PackConstraint.Preferred,
	}
}

// minMembers is how many pods of a gang are placed together.
func minMembers(gang *scheduler.PodGang) int32 {
	var all int32
	for _, g := range gang.Spec.PodGroups {
		all += g.MinReplicas
	}
	return all
}

// ownedBy returns the owner reference with which an object is deleted with its PodGang.
func ownedBy(gang *scheduler.PodGang) metav1.OwnerReference {
	return *metav1.NewControllerRef(gang, scheduler.GroupVersion.WithKind(scheduler.KindPodGang))
}

// ownLabels are the labels of every object that a backend creates.
func ownLabels(gang *scheduler.PodGang) map[string]string {
	return map[string]string{
		api.LabelManagedBy: api.ManagedBy, api.LabelPartOf: gang.Labels[api.LabelPartOf], api.LabelPodGang: gang.Name,
	}
}

// OnPodGangDelete does nothing: the PodGang owns the PodGroup.
func (k *KAI) OnPodGangDelete(context.Context, *scheduler.PodGang) error { return nil }

// PreparePod implements SchedulerBackend.
func (k *KAI) PreparePod(pod *corev1.Pod) {
	pod.Spec.SchedulerName = config.KAIScheduler
	if pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	pod.Annotations[AnnotationPodGroup] = pod.Labels[api.LabelPodGang]
	pod.Labels[LabelSubGroup] = pod.Labels[api.LabelPodClique]
}

// ValidatePodCliqueSet accepts everything: the KAI scheduler supports all that a PodCliqueSet can request.
func (k *KAI) ValidatePodCliqueSet(context.Context, *api.PodCliqueSet) error { return nil }
