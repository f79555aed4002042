package simulator

import (
	"context"
	"fmt"
	"math"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/rehearse-dev/rehearse/suites/leaderworkerset/api"
)

// setValidator rejects objects that no controller could implement.
type setValidator struct {
	behaviour behaviour
}

// ValidateCreate implements admission.Validator.
func (v *setValidator) ValidateCreate(_ context.Context, set *api.LeaderWorkerSet) (admission.Warnings, error) {
	errs := validateSpec(set)
	for _, message := range validation.IsDNS1035Label(set.Name) {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), set.Name, message))
	}
	if !v.behaviour.in(set.Namespace).Has(faultAcceptsLongNames) {
		errs = append(errs, validateNameLength(set)...)
	}
	return nil, rejection(set.Name, errs)
}

// ValidateUpdate implements admission.Validator.
func (v *setValidator) ValidateUpdate(_ context.Context, old, set *api.LeaderWorkerSet) (admission.Warnings, error) {
	errs := validateSpec(set)
	if longestName(set) < longestName(old) {
		errs = append(errs, validateNameLength(set)...)
	}
	if v.behaviour.in(set.Namespace).Has(faultPolicyImmutable) && old.SubdomainPolicy() != set.SubdomainPolicy() {
		errs = append(errs, field.Forbidden(field.NewPath("spec", "networkConfig", "subdomainPolicy"), "field is immutable"))
	}
	return nil, rejection(set.Name, errs)
}

// ValidateDelete implements admission.Validator.
func (v *setValidator) ValidateDelete(context.Context, *api.LeaderWorkerSet) (admission.Warnings, error) {
	return nil, nil
}

func rejection(name string, errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(api.GroupVersion.WithKind(api.Kind).GroupKind(), name, errs)
}

func validateSpec(set *api.LeaderWorkerSet) field.ErrorList {
	spec := field.NewPath("spec")
	errs := apivalidation.ValidateNonnegativeField(int64(set.Replicas()), spec.Child("replicas"))
	size := spec.Child("leaderWorkerTemplate", "size")
	if set.Size() < 1 {
		errs = append(errs, field.Invalid(size, set.Size(), "must be greater than or equal to 1"))
	}
	if pods := int64(set.Replicas()) * int64(set.Size()); pods > math.MaxInt32 {
		errs = append(errs, field.Invalid(spec.Child("replicas"), set.Replicas(), fmt.Sprintf("times size must be no more "+
			"than %d", math.MaxInt32)))
	}
	return append(errs, validateRollingUpdate(set, spec.Child("rolloutStrategy", "rollingUpdateConfiguration"))...)
}

func validateRollingUpdate(set *api.LeaderWorkerSet, path *field.Path) field.ErrorList {
	config := set.Spec.RolloutStrategy.RollingUpdateConfiguration
	if config == nil {
		return nil
	}
	var errs field.ErrorList
	if config.Partition != nil {
		errs = append(errs, apivalidation.ValidateNonnegativeField(int64(*config.Partition), path.Child("partition"))...)
	}
	errs = append(errs, validateShare(config.MaxUnavailable, path.Child("maxUnavailable"))...)
	errs = append(errs, validateShare(config.MaxSurge, path.Child("maxSurge"))...)
	if zero(config.MaxUnavailable) && zero(config.MaxSurge) {
		errs = append(errs, field.Invalid(path.Child("maxUnavailable"), config.MaxUnavailable.String(),
			"must not be 0 when maxSurge is 0"))
	}
	return errs
}

func zero(value intstr.IntOrString) bool {
	n, err := intstr.GetScaledValueFromIntOrPercent(&value, 100, true)
	return err == nil && n == 0
}

// validateShare accepts a number and a percentage of up to 100.
func validateShare(value intstr.IntOrString, path *field.Path) field.ErrorList {
	n, err := intstr.GetScaledValueFromIntOrPercent(&value, 100, true)
	switch {
	case err != nil:
		return field.ErrorList{field.Invalid(path, value.String(), "must be an integer or a percentage (e.g '5%')")}
	case n < 0:
		return field.ErrorList{field.Invalid(path, value.String(), "must be greater than or equal to 0")}
	case value.Type == intstr.String && n > 100:
		return field.ErrorList{field.Invalid(path, value.String(), "must not be greater than 100%")}
	}
	return nil
}

// revisionSuffix is the maximal length that the label controller-revision-hash adds to a StatefulSet's name.
const revisionSuffix = len("-") + 10

// longestName is the maximal length of a name so that all derived names are valid DNS labels and label values: the
// names of leaders, workers and Services, and the revisions of the StatefulSets.
func longestName(set *api.LeaderWorkerSet) int {
	last := max(int(set.Replicas())+resolve(set).surge-1, 0)
	group := len("-") + len(strconv.Itoa(last))
	longest := max(group, revisionSuffix)
	if set.Size() > 1 {
		worker := len("-") + len(strconv.Itoa(int(set.Size()-1)))
		longest = group + max(worker, revisionSuffix)
	}
	return validation.DNS1123LabelMaxLength - longest
}

func validateNameLength(set *api.LeaderWorkerSet) field.ErrorList {
	limit := longestName(set)
	if len(set.Name) <= limit {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("metadata", "name"), set.Name,
		fmt.Sprintf("must be no more than %d characters, so that the names of the pods, Services and revisions of its "+
			"groups have no more than %d", limit, validation.DNS1123LabelMaxLength))}
}
