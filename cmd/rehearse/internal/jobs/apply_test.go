package jobs

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/utils/ptr"
)

// The Job owns its ConfigMap. Nothing asks for the permission to block its deletion.
func TestOwnerOfTheFiles(t *testing.T) {
	client := fake.NewClientset()
	a := &application{settings: settings{
		name: "rehearse", namespace: "ci", image: "i", completions: 1, parallelism: 1, cpu: "1", memory: "1Gi", files: []byte("x"),
	}}
	if err := a.create(t.Context(), client); err != nil {
		t.Fatal(err)
	}
	files, err := client.CoreV1().ConfigMaps("ci").Get(t.Context(), "rehearse", metav1.GetOptions{})
	if err != nil || len(files.OwnerReferences) != 1 {
		t.Fatalf("%+v, %v", files, err)
	}
	if owner := files.OwnerReferences[0]; owner.Name != "rehearse" || !ptr.Deref(owner.Controller, false) ||
		owner.BlockOwnerDeletion != nil {
		t.Errorf("the owner is %+v", owner)
	}
}
