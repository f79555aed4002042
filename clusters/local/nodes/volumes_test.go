package nodes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	kubetesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

const csi = "disks.example.com"

func storage(quantity string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(quantity)}
}

// fastClass is a class without anything that is optional.
func fastClass() *storagev1.StorageClass {
	return &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "fast"}, Provisioner: csi}
}

// pending is a claim that kube-controller-manager has handed to an external provisioner.
func pending() *corev1.PersistentVolumeClaim {
	class, block := "fast", corev1.PersistentVolumeBlock
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "data", UID: "1-2", Annotations: map[string]string{provisionerOfClaim: csi},
		},
		Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: &class, VolumeMode: &block,
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany},
			Resources:   corev1.VolumeResourceRequirements{Requests: storage("3Gi")},
		},
		Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending},
	}
}

// bound are a claim and its volume.
func bound() (*corev1.PersistentVolumeClaim, *corev1.PersistentVolume) {
	claim := pending()
	volume := volumeFor(claim, fastClass())
	volume.UID, volume.ResourceVersion, volume.Status.Phase = "7", "9", corev1.VolumeBound
	claim.Spec.VolumeName, claim.Status.Phase, claim.Status.Capacity = volume.Name, corev1.ClaimBound, storage("3Gi")
	return claim, volume
}

// simulateVolumes returns a controller whose caches hold the objects. It does not run: a test calls sync.
func simulateVolumes(t *testing.T, client kubernetes.Interface) *volumes {
	t.Helper()
	factory := informers.NewSharedInformerFactory(client, 0)
	v := newVolumes(client, factory)
	factory.StartWithContext(t.Context())
	factory.WaitForCacheSyncWithContext(t.Context())
	return v
}

// writesOf returns the writes that a client has made: verb, resource and subresource.
func writesOf(client *fake.Clientset) []string {
	var writes []string
	for _, action := range client.Actions() {
		if verb := action.GetVerb(); verb != "list" && verb != "watch" {
			write := verb + " " + action.GetResource().Resource
			if sub := action.GetSubresource(); sub != "" {
				write += "/" + sub
			}
			writes = append(writes, write)
		}
	}
	return writes
}

func TestClaims(t *testing.T) {
	create := []string{"create persistentvolumes"}
	type claimAndClass func(*corev1.PersistentVolumeClaim, *storagev1.StorageClass)
	waits := func(c *corev1.PersistentVolumeClaim, s *storagev1.StorageClass) {
		mode := storagev1.VolumeBindingWaitForFirstConsumer
		s.VolumeBindingMode = &mode
	}
	for name, test := range map[string]struct {
		change claimAndClass
		want   []string
	}{
		"handed over": {func(*corev1.PersistentVolumeClaim, *storagev1.StorageClass) {}, create},
		"with the beta annotation": {func(c *corev1.PersistentVolumeClaim, _ *storagev1.StorageClass) {
			c.Annotations = map[string]string{provisionerOfClaimBeta: csi}
		}, create},
		"with the class in the beta annotation": {func(c *corev1.PersistentVolumeClaim, _ *storagev1.StorageClass) {
			c.Annotations[corev1.BetaStorageClassAnnotation], c.Spec.StorageClassName = "fast", nil
		}, create},
		"a driver that replaced one of Kubernetes": {func(_ *corev1.PersistentVolumeClaim, s *storagev1.StorageClass) {
			s.Provisioner = "kubernetes.io/aws-ebs"
		}, create},
		"not handed over": {func(c *corev1.PersistentVolumeClaim, _ *storagev1.StorageClass) { c.Annotations = nil }, nil},
		"handed to Kubernetes itself": {func(c *corev1.PersistentVolumeClaim, _ *storagev1.StorageClass) {
			c.Annotations[provisionerOfClaim] = "kubernetes.io/host-path"
		}, nil},
		"the class has no provisioner": {func(_ *corev1.PersistentVolumeClaim, s *storagev1.StorageClass) {
			s.Provisioner = "kubernetes.io/no-provisioner"
		}, nil},
		"the class does not exist": {func(_ *corev1.PersistentVolumeClaim, s *storagev1.StorageClass) { s.Name = "b" }, nil},
		"no class":                 {func(c *corev1.PersistentVolumeClaim, _ *storagev1.StorageClass) { c.Spec.StorageClassName = nil }, nil},
		"no node is selected yet":  {waits, nil},
		"a node is selected": {func(c *corev1.PersistentVolumeClaim, s *storagev1.StorageClass) {
			waits(c, s)
			c.Annotations[selectedNode] = "node-0"
		}, create},
		"a volume is named": {func(c *corev1.PersistentVolumeClaim, _ *storagev1.StorageClass) {
			c.Spec.VolumeName = "mine"
		}, nil},
		"it has lost its volume": {func(c *corev1.PersistentVolumeClaim, _ *storagev1.StorageClass) {
			c.Status.Phase = corev1.ClaimLost
		}, nil},
		"it selects a volume": {func(c *corev1.PersistentVolumeClaim, _ *storagev1.StorageClass) {
			c.Spec.Selector = &metav1.LabelSelector{}
		}, nil},
		"being deleted": {func(c *corev1.PersistentVolumeClaim, _ *storagev1.StorageClass) {
			c.DeletionTimestamp, c.Finalizers = &metav1.Time{Time: time.Now()}, []string{"kubernetes.io/pvc-protection"}
		}, nil},
		"a clone": {func(c *corev1.PersistentVolumeClaim, _ *storagev1.StorageClass) {
			c.Spec.DataSourceRef = &corev1.TypedObjectReference{Kind: "PersistentVolumeClaim", Name: "other"}
		}, create},
		"from a snapshot": {func(c *corev1.PersistentVolumeClaim, _ *storagev1.StorageClass) {
			group := "snapshot.storage.k8s.io"
			c.Spec.DataSourceRef = &corev1.TypedObjectReference{APIGroup: &group, Kind: "VolumeSnapshot", Name: "s"}
		}, create},
		"from a populator": {func(c *corev1.PersistentVolumeClaim, _ *storagev1.StorageClass) {
			group := "cdi.kubevirt.io"
			c.Spec.DataSourceRef = &corev1.TypedObjectReference{APIGroup: &group, Kind: "VolumeImportSource", Name: "s"}
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			claim, class := pending(), fastClass()
			test.change(claim, class)
			client := fake.NewClientset(claim, class)
			v := simulateVolumes(t, client)
			for range 2 { // the second time, the volume may exist
				golden.Must(t, v.sync(t.Context(), cache.NewObjectName("shop", "data")))
				if got := writesOf(client); !slices.Equal(got, test.want) {
					t.Errorf("writes: %q, want %q", got, test.want)
				}
				client.ClearActions()
			}
		})
	}
}

func TestVolumeOfAClaim(t *testing.T) {
	claim, class := pending(), fastClass()
	volume := volumeFor(claim, class)
	ref := volume.Spec.ClaimRef
	got := fmt.Sprintln(volume.Name, volume.Annotations, volume.Finalizers, volume.Spec.Capacity.Storage(),
		volume.Spec.AccessModes, *volume.Spec.VolumeMode, volume.Spec.PersistentVolumeReclaimPolicy,
		volume.Spec.StorageClassName, volume.Spec.MountOptions, volume.Spec.HostPath.Path, volume.Spec.NodeAffinity,
		ref.Kind, ref.Namespace, ref.Name, ref.UID)
	want := "pvc-1-2 map[pv.kubernetes.io/provisioned-by:disks.example.com rehearse.dev/simulated-volume:true] [] 3Gi " +
		"[ReadWriteMany] Block Delete fast [] /var/lib/rehearse/volumes/pvc-1-2 nil PersistentVolumeClaim shop data 1-2\n"
	if got != want {
		t.Errorf("volume:\n%s\nwant\n%s", got, want)
	}
	retain, gold := corev1.PersistentVolumeReclaimRetain, "gold"
	class.ReclaimPolicy, class.MountOptions, claim.Spec.VolumeAttributesClassName = &retain, []string{"discard"}, &gold
	volume = volumeFor(claim, class)
	if volume.Spec.PersistentVolumeReclaimPolicy != retain || !slices.Equal(volume.Spec.MountOptions, class.MountOptions) {
		t.Errorf("the class's %s and %s are missing: %+v", retain, class.MountOptions, volume.Spec)
	}
	if volume.Spec.HostPath != nil || volume.Spec.CSI == nil || *volume.Spec.VolumeAttributesClassName != gold {
		t.Errorf("no CSI volume with attributes: %+v", volume.Spec)
	}
}

func TestReclaim(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*corev1.PersistentVolume)
		want   []string
	}{
		"bound":    {func(v *corev1.PersistentVolume) { v.Status.Phase = corev1.VolumeBound }, nil},
		"released": {func(*corev1.PersistentVolume) {}, []string{"delete persistentvolumes"}},
		"retained": {func(v *corev1.PersistentVolume) {
			v.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain
		}, nil},
		"of another provisioner": {func(v *corev1.PersistentVolume) { delete(v.Annotations, simulatedVolume) }, nil},
		"being deleted": {func(v *corev1.PersistentVolume) {
			v.DeletionTimestamp, v.Finalizers = &metav1.Time{Time: time.Now()}, []string{"kubernetes.io/pv-protection"}
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			_, volume := bound()
			volume.Status.Phase = corev1.VolumeReleased
			test.change(volume)
			client := fake.NewClientset(volume)
			v := simulateVolumes(t, client)
			golden.Must(t, v.sync(t.Context(), cache.NewObjectName("", volume.Name)))
			if got := writesOf(client); !slices.Equal(got, test.want) {
				t.Errorf("writes: %q, want %q", got, test.want)
			}
			if test.want != nil {
				only := client.Actions()[len(client.Actions())-1].(kubetesting.DeleteActionImpl).DeleteOptions.Preconditions
				if only == nil || *only.UID != volume.UID || *only.ResourceVersion != volume.ResourceVersion {
					t.Errorf("preconditions %+v", only)
				}
			}
		})
	}
}

func TestGrow(t *testing.T) {
	status := "update persistentvolumeclaims/status"
	type parts struct {
		claim  *corev1.PersistentVolumeClaim
		volume *corev1.PersistentVolume
		class  *storagev1.StorageClass
	}
	for name, test := range map[string]struct {
		change func(parts)
		want   []string
	}{
		"asks for more":          {func(parts) {}, []string{"update persistentvolumes", status}},
		"the volume has grown":   {func(p parts) { p.volume.Spec.Capacity = storage("5Gi") }, []string{status}},
		"has what it asks for":   {func(p parts) { p.claim.Status.Capacity = storage("5Gi") }, nil},
		"the class forbids it":   {func(p parts) { p.class.AllowVolumeExpansion = nil }, nil},
		"not bound yet":          {func(p parts) { p.claim.Status.Phase = corev1.ClaimPending }, nil},
		"a volume of others":     {func(p parts) { p.volume.Annotations = nil }, nil},
		"another claim's volume": {func(p parts) { p.volume.Spec.ClaimRef.UID = "3" }, nil},
		"no volume":              {func(p parts) { p.claim.Spec.VolumeName = "gone" }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			claim, volume := bound()
			class, allowed := fastClass(), true
			class.AllowVolumeExpansion, claim.Spec.Resources.Requests = &allowed, storage("5Gi")
			test.change(parts{claim, volume, class})
			client := fake.NewClientset(claim, volume, class)
			v := simulateVolumes(t, client)
			golden.Must(t, v.sync(t.Context(), cache.NewObjectName("shop", "data")))
			if got := writesOf(client); !slices.Equal(got, test.want) {
				t.Fatalf("writes: %q, want %q", got, test.want)
			}
			if test.want == nil {
				return
			}
			volume, err1 := client.CoreV1().PersistentVolumes().Get(t.Context(), volume.Name, metav1.GetOptions{})
			claim, err2 := client.CoreV1().PersistentVolumeClaims("shop").Get(t.Context(), "data", metav1.GetOptions{})
			golden.Must(t, errors.Join(err1, err2))
			if volume.Spec.Capacity.Storage().String() != "5Gi" || claim.Status.Capacity.Storage().String() != "5Gi" {
				t.Errorf("the volume has %s, the claim %s", volume.Spec.Capacity.Storage(), claim.Status.Capacity.Storage())
			}
		})
	}
}

// The controller finds its work itself: of before its start, after errors, when a class comes after its claim, and
// when a volume is deleted before it is bound.
func TestVolumesComeAndGo(t *testing.T) {
	_, old := bound()
	old.Name, old.Status.Phase = "pvc-old", corev1.VolumeReleased
	client := fake.NewClientset(pending(), old)
	fails := 3
	client.PrependReactor("create", "persistentvolumes", func(kubetesting.Action) (bool, runtime.Object, error) {
		fails--
		return fails >= 0, nil, errors.New("the API server restarts")
	})
	startVolumes(t.Context(), client, informers.NewSharedInformerFactory(client, 0))
	volumes := client.CoreV1().PersistentVolumes()
	await := func(want ...string) {
		t.Helper()
		var names []string
		err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, 10*time.Second, true,
			func(ctx context.Context) (bool, error) {
				list, err := volumes.List(ctx, metav1.ListOptions{})
				if err != nil {
					return false, err
				}
				names = nil
				for _, volume := range list.Items {
					names = append(names, volume.Name)
				}
				return slices.Equal(names, want), nil
			})
		if err != nil {
			t.Fatalf("volumes %q, want %q: %v", names, want, err)
		}
	}
	await()
	if _, err := client.StorageV1().StorageClasses().Create(t.Context(), fastClass(), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	await("pvc-1-2")
	golden.Must(t, volumes.Delete(t.Context(), "pvc-1-2", metav1.DeleteOptions{}))
	await("pvc-1-2")
}
