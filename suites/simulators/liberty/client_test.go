package liberty

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

// counted is a client of objects in memory that counts creations and patches.
func counted() (c client.WithWatch, creations, patches *int) {
	creations, patches = new(int), new(int)
	c = interceptor.NewClient(fake.NewClientBuilder().WithScheme(scheme.Scheme).Build(), interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.CreateOption) error {
			*creations++
			return c.Create(ctx, o, options...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch,
			options ...client.PatchOption,
		) error {
			*patches++
			return c.Patch(ctx, o, p, options...)
		},
	})
	return c, creations, patches
}

func service(name string) *corev1.Service {
	yes := true
	return &corev1.Service{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: name,
		OwnerReferences: []metav1.OwnerReference{
			{APIVersion: "v1", Kind: "Pod", Name: "web", UID: "1", Controller: &yes, BlockOwnerDeletion: &yes},
		},
	}}
}

func TestClient(t *testing.T) {
	for liberty, c := range map[string]struct {
		creations, patches int
		adorned, loose     bool
	}{
		"":           {creations: 1},
		MadeTwice:    {creations: 2},
		WrittenTwice: {creations: 1, patches: 1},
		MoreMetadata: {creations: 1, adorned: true},
		LooseOwners:  {creations: 1, loose: true},
	} {
		t.Run(liberty, func(t *testing.T) {
			var s Set
			if liberty != "" {
				s = set(t, liberty)
			}
			inner, creations, patches := counted()
			w := writer{Set: s, twice: func(o client.Object) bool { return o.GetName() == "web" }}
			made := service("web")
			golden.Must(t, w.create(t.Context(), inner, made))
			var stored corev1.Service
			golden.Must(t, inner.Get(t.Context(), client.ObjectKeyFromObject(made), &stored))
			if *creations != c.creations || *patches != c.patches {
				t.Errorf("%d creations, %d patches", *creations, *patches)
			}
			if (stored.Labels[Mark] != "") != c.adorned || (stored.OwnerReferences[0].BlockOwnerDeletion == nil) != c.loose {
				t.Errorf("stored %+v", stored.ObjectMeta)
			}
		})
	}
}

// Some updates conflict and change nothing. Some writes are done, but return an error.
func TestClientFails(t *testing.T) {
	inner, _, _ := counted()
	golden.Must(t, inner.Create(t.Context(), service("web")))
	conflicts, w := 0, writer{Set: set(t, Conflicts+"=1")}
	for range 30 {
		var now corev1.Service
		golden.Must(t, inner.Get(t.Context(), client.ObjectKeyFromObject(service("web")), &now))
		before := now.ResourceVersion
		now.Labels = map[string]string{"a": before}
		err := w.update(t.Context(), inner, &now)
		if err != nil && !apierrors.IsConflict(err) {
			t.Fatal(err)
		}
		if err != nil {
			conflicts++
		}
		if (now.ResourceVersion == before) != (err != nil) {
			t.Errorf("version %s became %s with %v", before, now.ResourceVersion, err)
		}
	}
	lost, w := 0, writer{Set: set(t, AnswersLost+"=1")}
	for i := range 30 {
		made := service("web-" + string(rune('a'+i%26)) + string(rune('a'+i/26)))
		if err := w.create(t.Context(), inner, made); err != nil {
			lost++
		}
		if err := inner.Get(t.Context(), client.ObjectKeyFromObject(made), &corev1.Service{}); err != nil {
			t.Errorf("the write was not done: %v", err)
		}
	}
	if conflicts < 2 || conflicts > 25 || lost < 2 || lost > 20 {
		t.Errorf("%d conflicts and %d lost answers of 30", conflicts, lost)
	}
}
