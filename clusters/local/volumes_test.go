package local_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/internal/clustertest"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

func claimOf(name, class string, mode corev1.PersistentVolumeMode) *corev1.PersistentVolumeClaim {
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, VolumeMode: &mode,
			Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			},
		},
	}
	if class != "" {
		claim.Spec.StorageClassName = &class
	}
	return claim
}

// database is a StatefulSet of two replicas, each with a claim that names no class.
func database() *appsv1.StatefulSet {
	replicas, labels := int32(2), map[string]string{"app": "db"}
	mounts := []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}
	return &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: "db"},
		Spec: appsv1.StatefulSetSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i", VolumeMounts: mounts}}},
			},
			VolumeClaimTemplates: []corev1.PersistentVolumeClaim{*claimOf("data", "", corev1.PersistentVolumeFilesystem)},
		},
	}
}

// Claims get volumes, also those of classes of other provisioners, and leave nothing behind.
func TestVolumes(t *testing.T) {
	one := 1
	state := clusters.State{Version: "1.35", Nodes: []clusters.NodeGroup{{Count: &one}}}
	c := clustertest.Create(t, clustertest.Local(t), "volumes", state)
	client, err := kubernetes.NewForConfig(c.RESTConfig())
	golden.Must(t, err)
	sets, pods := client.AppsV1().StatefulSets(metav1.NamespaceDefault), client.CoreV1().Pods(metav1.NamespaceDefault)
	claims := client.CoreV1().PersistentVolumeClaims(metav1.NamespaceDefault)
	ready := func(ctx context.Context) error {
		set, err := sets.Get(ctx, "db", metav1.GetOptions{})
		if err == nil && set.Status.ReadyReplicas != 2 {
			err = fmt.Errorf("%d replicas are ready", set.Status.ReadyReplicas)
		}
		return err
	}
	if _, err := sets.Create(t.Context(), database(), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the StatefulSet is ready", ready)

	old, err := claims.Get(t.Context(), "data-db-0", metav1.GetOptions{})
	golden.Must(t, err)
	golden.Must(t, claims.Delete(t.Context(), old.Name, metav1.DeleteOptions{}))
	golden.Must(t, pods.Delete(t.Context(), "db-0", metav1.DeleteOptions{}))
	eventually(t, "a new claim is bound", func(ctx context.Context) error {
		claim, err := claims.Get(ctx, old.Name, metav1.GetOptions{})
		if err == nil && (claim.UID == old.UID || claim.Status.Phase != corev1.ClaimBound) {
			err = fmt.Errorf("the claim %s (before %s) is %s", claim.UID, old.UID, claim.Status.Phase)
		}
		return err
	})
	eventually(t, "the StatefulSet is ready again", ready)

	grow := []byte(`{"spec": {"resources": {"requests": {"storage": "2Gi"}}}}`)
	if _, err := claims.Patch(t.Context(), old.Name, types.MergePatchType, grow, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the claim grows", func(ctx context.Context) error {
		claim, err := claims.Get(ctx, old.Name, metav1.GetOptions{})
		if err == nil && claim.Status.Capacity.Storage().String() != "2Gi" {
			err = fmt.Errorf("its capacity is %s", claim.Status.Capacity.Storage())
		}
		return err
	})

	otherProvisioners(t, client)
	golden.Must(t, sets.Delete(t.Context(), "db", metav1.DeleteOptions{}))
	golden.Must(t, claims.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}))
	eventually(t, "no volume is left", func(ctx context.Context) error {
		list, err := client.CoreV1().PersistentVolumes().List(ctx, metav1.ListOptions{})
		if err == nil && len(list.Items) > 0 {
			err = fmt.Errorf("%d volumes, the first %s %s", len(list.Items), list.Items[0].Name, list.Items[0].Status.Phase)
		}
		return err
	})
}

// otherProvisioners makes claims whose classes have provisioners that a user's cluster could have.
func otherProvisioners(t *testing.T, client kubernetes.Interface) {
	t.Helper()
	block, files := corev1.PersistentVolumeBlock, corev1.PersistentVolumeFilesystem
	attributes := &storagev1.VolumeAttributesClass{
		ObjectMeta: metav1.ObjectMeta{Name: "gold"}, DriverName: "d.example.com", Parameters: map[string]string{"iops": "1"},
	}
	if _, err := client.StorageV1().VolumeAttributesClasses().Create(t.Context(), attributes,
		metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for name, provisioner := range map[string]string{
		"csi": "ebs.csi.aws.com", "replaced": "kubernetes.io/aws-ebs", "path": "rancher.io/local-path",
	} {
		class := &storagev1.StorageClass{
			ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: provisioner, MountOptions: []string{"discard"},
		}
		if _, err := client.StorageV1().StorageClasses().Create(t.Context(), class, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		ofGold := claimOf(name+"-gold", name, files)
		ofGold.Spec.VolumeAttributesClassName = &attributes.Name
		for _, claim := range []*corev1.PersistentVolumeClaim{
			claimOf(name, name, files), claimOf(name+"-block", name, block), ofGold,
		} {
			if _, err := client.CoreV1().PersistentVolumeClaims(metav1.NamespaceDefault).Create(t.Context(), claim,
				metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	eventually(t, "all claims are bound", func(ctx context.Context) error {
		list, err := client.CoreV1().PersistentVolumeClaims(metav1.NamespaceDefault).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, claim := range list.Items {
			if claim.Status.Phase != corev1.ClaimBound {
				return fmt.Errorf("claim %s is %s", claim.Name, claim.Status.Phase)
			}
		}
		return nil
	})
}

func eventually(t *testing.T, what string, check func(context.Context) error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, time.Minute, true,
		func(ctx context.Context) (bool, error) {
			if err := check(ctx); ctx.Err() == nil {
				last = err
			}
			return last == nil, nil
		})
	if err != nil {
		t.Fatalf("%s: %v (last: %v)", what, err, last)
	}
}
