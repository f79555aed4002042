package nodes

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	storagelisters "k8s.io/client-go/listers/storage/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

const (
	// simulatedVolume is the annotation of the volumes that are made here. Nothing else touches a volume of others,
	// such as one in a copy of a real cluster, which may have the same provisioner.
	simulatedVolume = "rehearse.dev/simulated-volume"
	// simulatedDriver is the CSI driver of volumes that must have one.
	simulatedDriver = "simulated.rehearse.dev"
	// volumeWorkers is large because a worker waits while a webhook or the API server does not answer.
	volumeWorkers = 16
)

// volumes acts as every external provisioner: it makes a volume for each claim that kube-controller-manager has handed
// to one, and deletes it when the claim is gone. It also expands volumes, as external-resizer does. There is no
// storage behind a volume. kube-controller-manager itself binds claims and volumes.
type volumes struct {
	client  kubernetes.Interface
	claims  corelisters.PersistentVolumeClaimLister
	volumes corelisters.PersistentVolumeLister
	classes storagelisters.StorageClassLister
	// queue has names of claims, and of volumes, which have no namespace.
	queue workqueue.TypedRateLimitingInterface[cache.ObjectName]
}

// startVolumes provisions volumes until the context ends. The factory may be shared, and started already.
func startVolumes(ctx context.Context, client kubernetes.Interface, factory informers.SharedInformerFactory) {
	v := newVolumes(client, factory)
	factory.StartWithContext(ctx)
	go v.run(ctx, factory)
}

func newVolumes(client kubernetes.Interface, factory informers.SharedInformerFactory) *volumes {
	claims, pvs := factory.Core().V1().PersistentVolumeClaims(), factory.Core().V1().PersistentVolumes()
	classes := factory.Storage().V1().StorageClasses()
	v := &volumes{
		client: client, claims: claims.Lister(), volumes: pvs.Lister(), classes: classes.Lister(),
		queue: workqueue.NewTypedRateLimitingQueue(
			workqueue.NewTypedItemExponentialFailureRateLimiter[cache.ObjectName](50*time.Millisecond, 5*time.Second)),
	}
	// AddEventHandler fails only after the informer has ended.
	_, _ = claims.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: v.enqueue, UpdateFunc: func(_, claim any) { v.enqueue(claim) },
	})
	_, _ = pvs.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: v.enqueue, UpdateFunc: func(_, volume any) { v.enqueue(volume) }, DeleteFunc: v.enqueueClaimOf,
	})
	// A claim may have been seen before its class.
	_, _ = classes.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: v.enqueueClaims, UpdateFunc: func(_, class any) { v.enqueueClaims(class) },
	})
	return v
}

func (v *volumes) enqueue(object any) {
	if name, err := cache.ObjectToName(object); err == nil {
		v.queue.Add(name)
	}
}

// enqueueClaimOf looks again at the claim of a volume that was deleted, which may have come before they were bound.
func (v *volumes) enqueueClaimOf(object any) {
	if last, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = last.Obj
	}
	if volume, ok := object.(*corev1.PersistentVolume); ok && volume.Spec.ClaimRef != nil {
		v.queue.Add(cache.NewObjectName(volume.Spec.ClaimRef.Namespace, volume.Spec.ClaimRef.Name))
	}
}

func (v *volumes) enqueueClaims(any) {
	claims, err := v.claims.List(labels.Everything())
	if err != nil {
		return // a lister of a cache has no errors
	}
	for _, claim := range claims {
		v.enqueue(claim)
	}
}

func (v *volumes) run(ctx context.Context, factory informers.SharedInformerFactory) {
	defer v.queue.ShutDown()
	factory.WaitForCacheSyncWithContext(ctx)
	for range volumeWorkers {
		go func() {
			for v.next(ctx) {
			}
		}()
	}
	<-ctx.Done()
}

func (v *volumes) next(ctx context.Context) bool {
	name, ended := v.queue.Get()
	if ended {
		return false
	}
	defer v.queue.Done(name)
	if err := v.sync(ctx, name); err != nil {
		utilruntime.HandleErrorWithContext(ctx, err, "simulate volumes: this is tried again", "of", name)
		v.queue.AddRateLimited(name)
		return true
	}
	v.queue.Forget(name)
	return true
}

func (v *volumes) sync(ctx context.Context, name cache.ObjectName) error {
	if name.Namespace == "" {
		return v.reclaim(ctx, name.Name)
	}
	claim, err := v.claims.PersistentVolumeClaims(name.Namespace).Get(name.Name)
	if err != nil || claim.DeletionTimestamp != nil {
		return ignoreNotFound(err)
	}
	class, err := v.classes.Get(classOf(claim))
	if err != nil {
		return ignoreNotFound(err) // enqueueClaims comes back when the class exists
	}
	switch {
	case handedOver(claim, class):
		_, err := v.client.CoreV1().PersistentVolumes().Create(ctx, volumeFor(claim, class), metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("create a volume: %w", err)
		}
	case mayGrow(claim, class):
		return v.grow(ctx, claim)
	}
	return nil
}

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// mayGrow reports whether a claim asks for more than it has, and may do that.
func mayGrow(claim *corev1.PersistentVolumeClaim, class *storagev1.StorageClass) bool {
	asks, has := claim.Spec.Resources.Requests[corev1.ResourceStorage], claim.Status.Capacity[corev1.ResourceStorage]
	return claim.Status.Phase == corev1.ClaimBound && class.AllowVolumeExpansion != nil && *class.AllowVolumeExpansion &&
		asks.Cmp(has) > 0
}

// grow expands the volume of a claim, and then says so in the claim.
func (v *volumes) grow(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	volume, err := v.volumes.Get(claim.Spec.VolumeName)
	if err != nil {
		return ignoreNotFound(err)
	}
	if !simulated(volume) || volume.Spec.ClaimRef == nil || volume.Spec.ClaimRef.UID != claim.UID {
		return nil
	}
	asks, has := claim.Spec.Resources.Requests[corev1.ResourceStorage], volume.Spec.Capacity[corev1.ResourceStorage]
	if asks.Cmp(has) > 0 {
		volume = volume.DeepCopy()
		volume.Spec.Capacity[corev1.ResourceStorage] = asks
		if _, err := v.client.CoreV1().PersistentVolumes().Update(ctx, volume, metav1.UpdateOptions{}); err != nil {
			return fmt.Errorf("expand volume %s: %w", volume.Name, err)
		}
	}
	claim = claim.DeepCopy()
	if claim.Status.Capacity == nil {
		claim.Status.Capacity = corev1.ResourceList{}
	}
	claim.Status.Capacity[corev1.ResourceStorage] = asks
	_, err = v.client.CoreV1().PersistentVolumeClaims(claim.Namespace).UpdateStatus(ctx, claim, metav1.UpdateOptions{})
	if err != nil {
		return fmt.Errorf("write the capacity of volume %s: %w", volume.Name, err)
	}
	return nil
}

// reclaim deletes a volume that its claim has left.
func (v *volumes) reclaim(ctx context.Context, name string) error {
	volume, err := v.volumes.Get(name)
	if err != nil {
		return ignoreNotFound(err)
	}
	if !simulated(volume) || volume.DeletionTimestamp != nil || volume.Status.Phase != corev1.VolumeReleased ||
		volume.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimDelete {
		return nil
	}
	// Exactly this one: its policy may have changed since.
	only := metav1.Preconditions{UID: &volume.UID, ResourceVersion: &volume.ResourceVersion}
	err = v.client.CoreV1().PersistentVolumes().Delete(ctx, name, metav1.DeleteOptions{Preconditions: &only})
	if err = ignoreNotFound(err); err != nil {
		return fmt.Errorf("delete the volume: %w", err)
	}
	return nil
}

func simulated(volume *corev1.PersistentVolume) bool {
	return volume.Annotations[simulatedVolume] != ""
}
