package simulator

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	admissionv1 "k8s.io/api/admission/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/rehearse-dev/rehearse/suites/leaderworkerset/api"
)

// annotationPolicyWrites is set only by a fault.
const annotationPolicyWrites = "leaderworkerset.sigs.k8s.io/policy-writes"

// setDefaulter sets the policy's default. The other defaults are in the API's schema. This one is not, so an object
// from before the field existed gets its default only when it is written.
type setDefaulter struct {
	behaviour behaviour
}

// Default implements admission.Defaulter.
func (d *setDefaulter) Default(ctx context.Context, set *api.LeaderWorkerSet) error {
	if d.behaviour.Variant == VariantBefore || d.behaviour.Liberties.Takes(libertyDefaultsInSchema) {
		return nil
	}
	d = &setDefaulter{d.behaviour.in(set.Namespace)}
	old, err := oldSet(ctx)
	if err != nil {
		return err
	}
	if d.behaviour.Has(faultEveryPolicyWriteRolls) && old != nil {
		writes, _ := strconv.Atoi(old.Annotations[annotationPolicyWrites])
		if set.Annotations == nil {
			set.Annotations = map[string]string{}
		}
		set.Annotations[annotationPolicyWrites] = strconv.Itoa(writes + 1)
	}
	d.defaultPolicy(&set.Spec, old)
	return nil
}

func (d *setDefaulter) defaultPolicy(spec *api.LeaderWorkerSetSpec, old *api.LeaderWorkerSet) {
	if spec.NetworkConfig == nil {
		if d.behaviour.Has(faultNoDefaultPolicy) {
			return
		}
		spec.NetworkConfig = &api.NetworkConfig{}
	} else if spec.NetworkConfig.SubdomainPolicy == nil && d.behaviour.Has(faultEmptyConfigUndefaulted) {
		return
	}
	if policy := spec.NetworkConfig.SubdomainPolicy; policy != nil {
		if *policy == api.SubdomainShared && d.behaviour.Has(faultDropsExplicitShared) {
			spec.NetworkConfig = nil
		}
		return
	}
	policy := api.SubdomainShared
	if old != nil && d.behaviour.Has(faultNullKeepsOldPolicy) {
		policy = old.SubdomainPolicy()
	}
	spec.NetworkConfig.SubdomainPolicy = &policy
}

// oldSet is the object before an update; nil on a creation.
func oldSet(ctx context.Context) (*api.LeaderWorkerSet, error) {
	request, err := admission.RequestFromContext(ctx)
	if err != nil || request.Operation != admissionv1.Update {
		return nil, err
	}
	old := &api.LeaderWorkerSet{}
	if err := json.Unmarshal(request.OldObject.Raw, old); err != nil {
		return nil, fmt.Errorf("read the object before the update: %w", err)
	}
	return old, nil
}
