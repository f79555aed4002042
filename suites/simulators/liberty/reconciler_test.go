package liberty

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func TestReconciler(t *testing.T) {
	for liberty, c := range map[string]struct {
		looks, errors [2]int // of 30 reconciles: at least, at most
		late          bool
	}{
		"":         {looks: [2]int{30, 30}},
		FailsFirst: {looks: [2]int{12, 28}, errors: [2]int{2, 18}},
		FailsAfter: {looks: [2]int{30, 30}, errors: [2]int{2, 18}},
		Twice:      {looks: [2]int{60, 60}},
		Late:       {looks: [2]int{30, 30}, late: true},
	} {
		t.Run(liberty, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var s Set
				if liberty != "" {
					s = set(t, liberty+"=1")
				}
				looks, errs, began := 0, 0, time.Now()
				r := s.Reconciler("test", reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
					looks++
					return reconcile.Result{}, nil
				}))
				for range 30 {
					if _, err := r.Reconcile(t.Context(),
						reconcile.Request{NamespacedName: types.NamespacedName{Name: "web"}}); err != nil {
						errs++
					}
				}
				within := func(n int, bounds [2]int) bool { return bounds[0] <= n && n <= bounds[1] }
				if !within(looks, c.looks) || !within(errs, c.errors) {
					t.Errorf("%d looks, %d errors", looks, errs)
				}
				if took := time.Since(began); c.late != (took > 0) || took > 30*latest {
					t.Errorf("it took %s", took)
				}
			})
		})
	}
}

// An error of the controller itself is returned unchanged.
func TestReconcilerKeepsErrors(t *testing.T) {
	want := errors.New("broken")
	calls := 0
	r := set(t, Twice, FailsAfter).Reconciler("test",
		reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
			calls++
			return reconcile.Result{}, want
		}))
	if _, err := r.Reconcile(t.Context(), reconcile.Request{}); !errors.Is(err, want) || calls != 1 {
		t.Errorf("got %v after %d calls", err, calls)
	}
}

func TestServe(t *testing.T) {
	for liberty, restarts := range map[string]bool{"": false, Restarts: true} {
		t.Run(liberty, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var s Set
				if liberty != "" {
					s = set(t, liberty)
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				times, began, noted := 0, time.Now(), time.Duration(0)
				s = s.Noting(func(string) { noted = time.Since(began) })
				err := s.Serve(ctx, func(ctx context.Context) error {
					times++
					<-ctx.Done()
					return nil
				})
				if err != nil || restarts != (times > 1) || times > 12 {
					t.Errorf("%d times, %v", times, err)
				}
				if restarts != (noted > 0) || noted > firstLife.longest {
					t.Errorf("the first restart is noted after %s", noted)
				}
				broken := errors.New("broken")
				if err := s.Serve(t.Context(), func(context.Context) error { return broken }); !errors.Is(err, broken) {
					t.Errorf("what ends by itself ends: %v", err)
				}
			})
		})
	}
}
