package simulator

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/suites/leaderworkerset/api"
)

// network returns a networkConfig with a policy: nil for "none", and without a policy for "empty".
func network(policy string) *api.NetworkConfig {
	switch policy {
	case "none":
		return nil
	case "empty":
		return &api.NetworkConfig{}
	}
	p := api.SubdomainPolicy(policy)
	return &api.NetworkConfig{SubdomainPolicy: &p}
}

func written(config *api.NetworkConfig) string {
	switch {
	case config == nil:
		return "none"
	case config.SubdomainPolicy == nil:
		return "empty"
	}
	return string(*config.SubdomainPolicy)
}

func updateOf(t *testing.T, old *api.LeaderWorkerSet) context.Context {
	t.Helper()
	request := admissionv1.AdmissionRequest{Operation: admissionv1.Create}
	if old != nil {
		data, err := json.Marshal(old)
		golden.Must(t, err)
		request.Operation, request.OldObject = admissionv1.Update, runtime.RawExtension{Raw: data}
	}
	return admission.NewContextWithRequest(t.Context(), admission.Request{AdmissionRequest: request})
}

func TestDefaultPolicy(t *testing.T) {
	tests := []struct{ fault, variant, old, written, want string }{
		{"", "", "", "none", "Shared"},
		{"", "", "", "empty", "Shared"},
		{"", "", "", "Shared", "Shared"},
		{"", "", "", "UniquePerReplica", "UniquePerReplica"},
		{"", "", "", "Foo", "Foo"}, // rejected by the schema
		{"", "", "UniquePerReplica", "none", "Shared"},
		{"", "", "UniquePerReplica", "empty", "Shared"},
		{"", "", "UniquePerReplica", "Shared", "Shared"},
		{"", VariantBefore, "", "none", "none"},
		{faultNoDefaultPolicy, "", "", "none", "none"},
		{faultNoDefaultPolicy, "", "", "empty", "Shared"},
		{faultEmptyConfigUndefaulted, "", "", "empty", "empty"},
		{faultEmptyConfigUndefaulted, "", "", "none", "Shared"},
		{faultDropsExplicitShared, "", "", "Shared", "none"},
		{faultDropsExplicitShared, "", "", "none", "Shared"},
		{faultNullKeepsOldPolicy, "", "UniquePerReplica", "none", "UniquePerReplica"},
		{faultNullKeepsOldPolicy, "", "", "none", "Shared"},
	}
	for _, test := range tests {
		var faults []string
		if test.fault != "" {
			faults = []string{test.fault}
		}
		var old *api.LeaderWorkerSet
		if test.old != "" {
			old = &api.LeaderWorkerSet{Spec: api.LeaderWorkerSetSpec{NetworkConfig: network(test.old)}}
		}
		set := &api.LeaderWorkerSet{Spec: api.LeaderWorkerSetSpec{NetworkConfig: network(test.written)}}
		golden.Must(t, (&setDefaulter{behaviour: with(test.variant, faults...)}).Default(updateOf(t, old), set))
		if got := written(set.Spec.NetworkConfig); got != test.want {
			t.Errorf("%+v: got %s", test, got)
		}
	}
}

func newSet(name string, replicas, size, surge int32) *api.LeaderWorkerSet {
	return &api.LeaderWorkerSet{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: api.LeaderWorkerSetSpec{
			Replicas: &replicas, LeaderWorkerTemplate: api.LeaderWorkerTemplate{Size: &size},
			RolloutStrategy: api.RolloutStrategy{RollingUpdateConfiguration: &api.RollingUpdateConfiguration{MaxUnavailable: intstr.FromInt32(1), MaxSurge: intstr.FromInt32(surge)}},
		},
	}
}

func TestValidation(t *testing.T) {
	rolling := func(change func(*api.RollingUpdateConfiguration)) *api.LeaderWorkerSet {
		set := newSet("my-lws", 2, 2, 0)
		change(set.Spec.RolloutStrategy.RollingUpdateConfiguration)
		return set
	}
	long := strings.Repeat("a", 63)
	minus := int32(-1)
	tests := map[string]struct {
		set  *api.LeaderWorkerSet
		want string // a part of the error; empty if the set is accepted
	}{
		"valid":                  {newSet("my-lws", 2, 2, 0), ""},
		"no replicas":            {newSet("my-lws", 0, 1, 0), ""},
		"negative replicas":      {newSet("my-lws", -1, 1, 0), "spec.replicas: Invalid value: -1"},
		"no size":                {newSet("my-lws", 1, 0, 0), "spec.leaderWorkerTemplate.size: Invalid value: 0"},
		"too many pods":          {newSet("my-lws", 1<<20, 1<<20, 0), "times size must be no more than"},
		"digit first":            {newSet("1-lws", 1, 1, 0), "metadata.name: Invalid value"},
		"dot":                    {newSet("my.lws", 1, 1, 0), "metadata.name: Invalid value"},
		"longest alone":          {newSet(long[:52], 1, 1, 0), ""},
		"too long alone":         {newSet(long[:53], 1, 1, 0), "no more than 52 characters"},
		"longest with workers":   {newSet(long[:50], 10, 2, 0), ""},
		"too long by one group":  {newSet(long[:50], 11, 2, 0), "no more than 49 characters"},
		"too long by surge":      {newSet(long[:50], 10, 2, 1), "no more than 49 characters"},
		"nothing may be missing": {rolling(func(c *api.RollingUpdateConfiguration) { c.MaxUnavailable = intstr.FromInt32(0) }), "must not be 0 when maxSurge is 0"},
		"negative surge": {
			rolling(func(c *api.RollingUpdateConfiguration) { c.MaxSurge = intstr.FromInt32(-1) }),
			"maxSurge: Invalid value",
		},
		"no number": {
			rolling(func(c *api.RollingUpdateConfiguration) { c.MaxSurge = intstr.FromString("many") }),
			"maxSurge: Invalid value: \"many\"",
		},
		"too much": {
			rolling(func(c *api.RollingUpdateConfiguration) { c.MaxUnavailable = intstr.FromString("101%") }),
			"must not be greater than 100%",
		},
		"negative partition": {
			rolling(func(c *api.RollingUpdateConfiguration) { c.Partition = &minus }),
			"partition: Invalid value: -1",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := new(setValidator).ValidateCreate(t.Context(), test.set)
			rejected(t, err, test.want)
		})
	}
	_, err := (&setValidator{behaviour: with("", faultAcceptsLongNames)}).ValidateCreate(t.Context(),
		newSet(long, 1, 1, 0))
	rejected(t, err, "")
}

func rejected(t *testing.T, err error, want string) {
	t.Helper()
	if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want a rejection with %q", err, want)
	}
}

func TestUpdateValidation(t *testing.T) {
	long := strings.Repeat("a", 50)
	policy := func(set *api.LeaderWorkerSet, p string) *api.LeaderWorkerSet {
		set.Spec.NetworkConfig = network(p)
		return set
	}
	tests := map[string]struct {
		fault    string
		old, new *api.LeaderWorkerSet
		want     string
	}{
		"scale to where the name is too long": {
			"", newSet(long, 10, 2, 0), newSet(long, 11, 2, 0),
			"no more than 49 characters",
		},
		"an old name that was too long": {"", newSet(long, 11, 2, 0), newSet(long, 12, 2, 0), ""},
		"policy": {
			"", policy(newSet("a", 1, 1, 0), "Shared"),
			policy(newSet("a", 1, 1, 0), "UniquePerReplica"), "",
		},
		"policy of old": {
			faultPolicyImmutable, policy(newSet("a", 1, 1, 0), "none"),
			policy(newSet("a", 1, 1, 0), "Shared"), "",
		},
		"policy, immutable": {
			faultPolicyImmutable, policy(newSet("a", 1, 1, 0), "Shared"),
			policy(newSet("a", 1, 1, 0), "UniquePerReplica"), "field is immutable",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			v := &setValidator{}
			if test.fault != "" {
				v.behaviour = with("", test.fault)
			}
			_, err := v.ValidateUpdate(t.Context(), test.old, test.new)
			rejected(t, err, test.want)
		})
	}
}

// The scale subresource cannot make a name too long either.
func TestScaleValidation(t *testing.T) {
	set := newSet(strings.Repeat("a", 50), 10, 2, 0)
	set.Namespace = "ns"
	validator := &scaleValidator{reader: stored(t, set)}
	for replicas, want := range map[string]string{"10": "", "11": "no more than 49 characters"} {
		request := admissionv1.AdmissionRequest{
			Namespace: "ns", Name: set.Name,
			Object: runtime.RawExtension{Raw: []byte(`{"spec":{"replicas":` + replicas + `}}`)},
		}
		response := validator.Handle(t.Context(), admission.Request{AdmissionRequest: request})
		if message := response.Result.Message; response.Allowed != (want == "") || !strings.Contains(message, want) {
			t.Errorf("scaled to %s: allowed is %t, %s", replicas, response.Allowed, message)
		}
	}
	rule := new(simulation).validating().Webhooks[1].Rules[0]
	if rule.Resources[0] != "leaderworkersets/scale" || rule.Operations[0] != "UPDATE" {
		t.Errorf("the webhook is asked about %+v", rule)
	}
}
