package local

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// A cluster that has StorageClasses keeps them.
func TestDefaultClass(t *testing.T) {
	for name, test := range map[string]struct{ has, want string }{
		"no class":      {"", clusters.DefaultClass},
		"another class": {"fast", "fast"},
		"its own":       {clusters.DefaultClass, clusters.DefaultClass},
	} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewClientset()
			classes := client.StorageV1().StorageClasses()
			if test.has != "" {
				class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: test.has}}
				if _, err := classes.Create(t.Context(), class, metav1.CreateOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			keeper := &nodesKeeper{client: client}
			golden.Must(t, keeper.putDefaultClass(t.Context()))
			list, err := classes.List(t.Context(), metav1.ListOptions{})
			if err != nil || len(list.Items) != 1 || list.Items[0].Name != test.want {
				t.Errorf("classes %+v, %v; want %s", list.Items, err, test.want)
			}
		})
	}
}

// A group that loses a resource takes it from its nodes. What others have added stays.
func TestCapacityThatIsGone(t *testing.T) {
	one := 1
	state := func(capacity map[string]string) clusters.State {
		return clusters.State{Version: "1.36.3", Nodes: []clusters.NodeGroup{{Count: &one, Capacity: capacity}}}
	}
	old := nodesOf(state(map[string]string{"example.com/gpu": "4", "cpu": "7"}))[0]
	old.Status.Capacity["example.com/others"] = resource.MustParse("1")
	client := fake.NewClientset(old)
	keeper := &nodesKeeper{client: client}
	golden.Must(t, keeper.putNode(t.Context(), nodesOf(state(nil))[0], true, *old))
	node, err := client.CoreV1().Nodes().Get(t.Context(), old.Name, metav1.GetOptions{})
	golden.Must(t, err)
	for _, list := range []corev1.ResourceList{node.Status.Capacity, node.Status.Allocatable} {
		_, gpu := list["example.com/gpu"]
		_, others := list["example.com/others"]
		if gpu || !others || list.Cpu().String() == "7" {
			t.Errorf("got %v", list)
		}
	}
}

func TestBindsVolumes(t *testing.T) {
	for controllers, want := range map[string]bool{
		"": true, "*,-ttl-controller": true, "*,-persistentvolume-binder-controller,-ttl-controller": false,
	} {
		change := &clusters.ComponentChange{Flags: map[string]*string{"controllers": &controllers}}
		state := clusters.State{}.With(clusters.Change{
			Components: map[clusters.Component]*clusters.ComponentChange{clusters.ControllerManager: change},
		})
		if got := bindsVolumes(state); got != want {
			t.Errorf("%q: %t, want %t", controllers, got, want)
		}
	}
}

// A node of an older program does not say what its group gave it: everything but the cluster's own taints.
func TestWhatTheGroupGave(t *testing.T) {
	taints := []corev1.Taint{{Key: "k"}, {Key: "node.kubernetes.io/unreachable"}}
	node := corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"zone": "a"}}, Spec: corev1.NodeSpec{Taints: taints},
	}
	if got := settingsOfGroup(node); got.Labels["zone"] != "a" || len(got.Taints) != 1 || got.Taints[0].Key != "k" {
		t.Errorf("without an annotation: %+v", got)
	}
	node.Annotations = map[string]string{groupAnnotation: `{"labels": {"zone": "b"}}`}
	if got := settingsOfGroup(node); got.Labels["zone"] != "b" || len(got.Taints) != 0 {
		t.Errorf("with an annotation: %+v", got)
	}
}
