package operator

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

func TestSpecChanged(t *testing.T) {
	object := func(uid types.UID, generation int64, version string) client.Object {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: uid, Generation: generation, ResourceVersion: version}}
	}
	before := object("a", 2, "10")
	for _, c := range []struct {
		title string
		after client.Object
		want  bool
	}{
		{"another status", object("a", 2, "11"), false},
		{"another specification", object("a", 3, "11"), true},
		{"deleted and made again", object("b", 2, "11"), true},
	} {
		if got := SpecChanged().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: c.after}); got != c.want {
			t.Errorf("%s: passes %v, want %v", c.title, got, c.want)
		}
	}
	if !SpecChanged().Create(event.CreateEvent{Object: before}) || !SpecChanged().Delete(event.DeleteEvent{Object: before}) {
		t.Error("a creation or a deletion does not pass")
	}
}
