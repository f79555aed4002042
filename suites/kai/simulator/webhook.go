package simulator

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/rehearse-dev/rehearse/suites/kai/api"
	"github.com/rehearse-dev/rehearse/suites/simulators/fault"
)

// validator validates PodGroups.
type validator struct {
	rule   hierarchy
	faults fault.Set
}

func (i implementation) validator() validator {
	return validator{rule: hierarchy{judgeNames: i.ruleInWebhook(), faults: i.faults}, faults: i.faults}
}

// in is the validator for a request's namespace.
func (v validator) in(ctx context.Context) validator {
	if request, err := admission.RequestFromContext(ctx); err == nil {
		v.faults = v.faults.In(request.Namespace)
		v.rule.faults = v.faults
	}
	return v
}

// ValidateCreate validates a new object.
func (v validator) ValidateCreate(ctx context.Context, group *api.PodGroup) (admission.Warnings, error) {
	v = v.in(ctx)
	if v.skips(ctx) {
		return nil, nil
	}
	err := v.rule.check(group.Spec.SubGroups)
	if err == nil && v.faults.Has(parentMinMemberRejected) {
		err = minMemberOfParents(group.Spec.SubGroups)
	}
	return nil, v.rejection(err)
}

// ValidateUpdate validates the new object as if it were created.
func (v validator) ValidateUpdate(ctx context.Context, before, after *api.PodGroup) (admission.Warnings, error) {
	v = v.in(ctx)
	switch {
	case v.skips(ctx), v.faults.Has(updatesUnchecked):
		return nil, nil
	case v.faults.Has(updatesNamesOnly):
		return nil, v.rejection(v.rule.allNames(after.Spec.SubGroups))
	case v.faults.Has(updatesRatcheted) && equality.Semantic.DeepEqual(before.Spec.SubGroups, after.Spec.SubGroups):
		return nil, nil
	case v.faults.Has(oldObjectJudged):
		if err := v.rule.check(before.Spec.SubGroups); err != nil {
			return nil, v.rejection(err)
		}
	}
	err := v.rule.check(after.Spec.SubGroups)
	if err == nil && v.faults.Has(updatesFrozen) && !equality.Semantic.DeepEqual(before.Spec, after.Spec) {
		err = errors.New("the spec cannot be changed")
	}
	if err == nil && v.faults.Has(parentMinMemberRejected) {
		err = minMemberOfParents(after.Spec.SubGroups)
	}
	return nil, v.rejection(err)
}

// ValidateDelete accepts every deletion.
func (v validator) ValidateDelete(_ context.Context, group *api.PodGroup) (admission.Warnings, error) {
	if v.faults.Has(deletionsJudged) {
		return nil, v.rejection(v.rule.check(group.Spec.SubGroups))
	}
	return nil, nil
}

// skips reports whether a fault prevents the validation of the request.
func (v validator) skips(ctx context.Context) bool {
	request, err := admission.RequestFromContext(ctx)
	return err == nil && v.faults.Has(dryRunUnchecked) && request.DryRun != nil && *request.DryRun
}

// rejection is converted by controller-runtime: 403 Forbidden with a plain error's message.
func (v validator) rejection(err error) error {
	if err != nil && v.faults.Has(rejectsAsBadRequest) {
		return apierrors.NewBadRequest(err.Error())
	}
	return err
}

// minMemberOfParents is the check of the fault parentMinMemberRejected.
func minMemberOfParents(groups []api.SubGroup) error {
	parents := map[string]bool{}
	for _, group := range groups {
		if group.Parent != nil {
			parents[*group.Parent] = true
		}
	}
	for _, group := range groups {
		if parents[group.Name] && group.MinMember > 0 {
			return fmt.Errorf("subgroup %s: minMember cannot be set on a parent", group.Name)
		}
	}
	return nil
}
