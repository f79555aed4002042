package simulator

import (
	"context"
	"fmt"

	"github.com/rehearse-dev/rehearse/suites/grove/api/scheduler"
)

// gangLast reports whether PodGangs are created after their pods: as before GREP-375, or by a fault.
func (r *setReconciler) gangLast() bool {
	return r.behaviour.Variant == VariantBefore || r.behaviour.Has(faultPodsBeforeGang)
}

// ensureGangLast is the old behaviour: pods first, then a PodGang that references all of them from the start, without
// conditions.
func (r *setReconciler) ensureGangLast(ctx context.Context, one replica, gang *scheduler.PodGang, there bool) error {
	if err := r.ensureCliques(ctx, one); err != nil {
		return err
	}
	if one.missing() > 0 {
		return nil
	}
	want := one.gang(one.present)
	if !there {
		if err := r.Create(ctx, want); err != nil {
			return fmt.Errorf("create PodGang %s: %w", want.Name, err)
		}
		*gang = *want
	} else if err := r.updateGang(ctx, want, gang); err != nil {
		return err
	}
	if r.behaviour.Variant == VariantBefore {
		return nil
	}
	if err := r.begin(ctx, gang); err != nil {
		return err
	}
	return r.finish(ctx, gang)
}
