package simulator

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/rehearse-dev/rehearse/suites/grove/api"
)

var (
	specPath      = field.NewPath("spec")
	cliquesPath   = specPath.Child("template", "cliques")
	schedulerPath = cliquesPath.Child("spec", "podSpec", "schedulerName")
	topologyPath  = specPath.Child("template", "topologyConstraint")
)

// validator rejects PodCliqueSets whose scheduler is not available, or does not support what they need.
type validator struct {
	selection
}

// ValidateCreate implements admission.Validator.
func (v *validator) ValidateCreate(ctx context.Context, set *api.PodCliqueSet) (admission.Warnings, error) {
	v = &validator{v.in(set.Namespace)}
	return nil, rejection(set.Name, append(v.topology(set), v.spec(ctx, set)...))
}

// ValidateUpdate implements admission.Validator. An update that does not change the spec is always accepted: labels,
// finalizers, everything that a deletion needs.
func (v *validator) ValidateUpdate(ctx context.Context, old, set *api.PodCliqueSet) (admission.Warnings, error) {
	v = &validator{v.in(set.Namespace)}
	if equality.Semantic.DeepEqual(old.Spec, set.Spec) || v.behaviour.Has(faultUpdatesUnchecked) {
		return nil, nil
	}
	errs := v.spec(ctx, set)
	if before, after := v.names(old, ""), v.names(set, ""); !slices.Equal(before, after) &&
		!v.behaviour.Has(faultSchedulerNameMutable) {
		errs = append(errs, field.Invalid(schedulerPath, strings.Join(after, ", "), "field is immutable"))
	}
	if fixed := minimums(old, set); len(fixed) > 0 && v.behaviour.Liberties.Takes(libertySizeFixed) {
		errs = append(errs, fixed...)
	}
	return nil, rejection(set.Name, errs)
}

// minimums rejects changes of the number of pods that a clique places together.
func minimums(old, set *api.PodCliqueSet) field.ErrorList {
	var errs field.ErrorList
	for i := range min(len(old.Spec.Template.Cliques), len(set.Spec.Template.Cliques)) {
		before, after := old.Spec.Template.Cliques[i].Spec.MinAvailable, set.Spec.Template.Cliques[i].Spec.MinAvailable
		if !ptr.Equal(before, after) {
			path := cliquesPath.Index(i).Child("spec", "minAvailable")
			errs = append(errs, field.Invalid(path, after, "field is immutable"))
		}
	}
	return errs
}

// ValidateDelete implements admission.Validator.
func (v *validator) ValidateDelete(context.Context, *api.PodCliqueSet) (admission.Warnings, error) {
	return nil, nil
}

func rejection(name string, errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(api.GroupVersion.WithKind(api.KindPodCliqueSet).GroupKind(), name, errs)
}

// names are the schedulers that the cliques name, each once; unnamed is used for cliques that name none.
func (v *validator) names(set *api.PodCliqueSet, unnamed string) []string {
	var names []string
	for i := range set.Spec.Template.Cliques {
		name := v.canonical(set.Spec.Template.Cliques[i].Spec.PodSpec.SchedulerName)
		if name == "" {
			name = unnamed
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (v *validator) spec(ctx context.Context, set *api.PodCliqueSet) field.ErrorList {
	if len(set.Spec.Template.Cliques) == 0 && !v.behaviour.Has(faultEmptySetAdmitted) {
		return field.ErrorList{field.Required(cliquesPath, "at least one PodClique must be defined")}
	}
	errs := validateNames(set)
	names := v.names(set, v.config.Scheduler.DefaultProfileName)
	if v.behaviour.unnamedFollow() {
		names = slices.DeleteFunc(v.names(set, ""), func(name string) bool { return name == "" })
	}
	if len(names) > 1 && !v.behaviour.Has(faultFirstCliqueDecides) {
		errs = append(errs, field.Invalid(schedulerPath, strings.Join(names, ", "), "the schedulerName for all pods have "+
			"to be the same"))
	}
	if v.behaviour.Has(faultUnlistedAdmitted) {
		return errs
	}
	for _, name := range names {
		if v.named(name) == nil {
			errs = append(errs, field.Invalid(schedulerPath, name, "schedulerName must be an enabled scheduler backend; this "+
				"scheduler is not enabled in OperatorConfiguration"))
		}
	}
	if backend := v.of(set); len(errs) == 0 && backend != nil {
		if err := backend.ValidatePodCliqueSet(ctx, set); err != nil {
			errs = append(errs, field.Forbidden(specPath, err.Error()))
		}
	}
	return errs
}

// topology rejects topology constraints if topology aware scheduling is off. An existing constraint may stay.
func (v *validator) topology(set *api.PodCliqueSet) field.ErrorList {
	constraints := set.TopologyConstraints()
	if len(constraints) == 0 || v.config.TopologyAwareScheduling.Enabled || v.behaviour.Has(faultTopologyUnchecked) {
		return nil
	}
	var levels []string
	for _, c := range constraints {
		if c.Pack != nil {
			levels = append(levels, strings.TrimSpace(c.Pack.Required+" "+c.Pack.Preferred))
		}
	}
	return field.ErrorList{field.Invalid(topologyPath, levels, "topology constraints are not allowed when Topology "+
		"Aware Scheduling is disabled")}
}

// validateNames ensures that the names of pods are not longer than a label value may be.
func validateNames(set *api.PodCliqueSet) field.ErrorList {
	for i := range set.Spec.Template.Cliques {
		clique := &set.Spec.Template.Cliques[i]
		last := podName(cliqueName(set.Name, max(int(set.Spec.Replicas)-1, 0), clique.Name), max(int(clique.Spec.Replicas)-1,
			0))
		if len(last) > validation.LabelValueMaxLength {
			return field.ErrorList{field.Invalid(field.NewPath("metadata", "name"), set.Name,
				fmt.Sprintf("its pods would have names like %s, longer than %d characters", strconv.Quote(last),
					validation.LabelValueMaxLength))}
		}
	}
	return nil
}
