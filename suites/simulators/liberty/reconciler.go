package liberty

import (
	"context"
	"errors"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/rehearse-dev/rehearse/clusters/pauses"
)

// The liberties of every controller.
const (
	// Late, FailsFirst, FailsAfter and Twice are about when and how often a controller reconciles an object.
	Late       = "late"
	FailsFirst = "fails-first"
	FailsAfter = "fails-after"
	Twice      = "looks-twice"
)

// latest is the maximal delay of a reconcile.
const latest = 3 * time.Second

// errLiberty is the error of a controller that did nothing wrong.
var errLiberty = errors.New("retried because of a liberty")

// Reconciler is a controller with the liberties.
func (s Set) Reconciler(controller string, inner reconcile.Reconciler) reconcile.Reconciler {
	return reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
		about := controller + " " + request.Name
		if !s.Delay(ctx, about) {
			return reconcile.Result{}, nil
		}
		if s.happens(FailsFirst, about, often) {
			return reconcile.Result{}, errLiberty
		}
		result, err := inner.Reconcile(ctx, request)
		if err == nil && s.Takes(Twice) {
			result, err = inner.Reconcile(ctx, request)
		}
		if err == nil && s.happens(FailsAfter, about, often) {
			return reconcile.Result{}, errLiberty
		}
		return result, err
	})
}

// Delay waits for the delay of a reconcile; it returns false if the context has ended.
func (s Set) Delay(ctx context.Context, about string) bool {
	return !s.Takes(Late) || pauses.For(ctx, time.Duration(s.roll(Late, about)*float64(latest)))
}

// Workers is how many objects are reconciled at once, so that a delayed reconcile does not block others.
func (s Set) Workers(usual int) int {
	if s.Has(Late) {
		return 64 * usual
	}
	return usual
}
