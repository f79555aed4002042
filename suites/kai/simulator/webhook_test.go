package simulator

import (
	"encoding/json"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/suites/kai/api"
)

// The webhook validates creations and updates, but not deletions. The test calls it without an API server.
func TestWebhook(t *testing.T) {
	valid, mixed := []api.SubGroup{sub("workers")}, []api.SubGroup{sub("Workers")}
	tests := []struct {
		name, variant string
		faults        []string
		operation     admissionv1.Operation
		before, after []api.SubGroup
		code          int32
		message       string
	}{
		{"create valid", Both, nil, admissionv1.Create, nil, valid, 200, ""},
		{
			"create mixed", Both, nil, admissionv1.Create, nil, mixed, 403,
			`subgroup name "Workers" must be lowercase; use "workers" instead`,
		},
		{"create mixed before the rule", Older, nil, admissionv1.Create, nil, mixed, 200, ""},
		{
			"create duplicates before the rule", Older, nil, admissionv1.Create, nil, append(mixed, mixed...), 403,
			"duplicate subgroup name Workers",
		},
		{
			"update to mixed", Webhook, nil, admissionv1.Update, valid, mixed, 403,
			`subgroup name "Workers" must be lowercase; use "workers" instead`,
		},
		{
			"update of mixed", Webhook, nil, admissionv1.Update, mixed, mixed, 403,
			`subgroup name "Workers" must be lowercase; use "workers" instead`,
		},
		{"update from mixed", Webhook, nil, admissionv1.Update, mixed, valid, 200, ""},
		{"delete mixed", Webhook, nil, admissionv1.Delete, mixed, nil, 200, ""},
		{
			"update to duplicates", Webhook, nil, admissionv1.Update, valid, append(valid, valid...), 403,
			"duplicate subgroup name workers",
		},
		{
			"names only on update", Webhook,
			[]string{updatesNamesOnly},
			admissionv1.Update, valid, append(valid, valid...), 200, "",
		},
		{
			"names on update", Webhook,
			[]string{updatesNamesOnly},
			admissionv1.Update, valid, mixed, 403,
			`subgroup name "Workers" must be lowercase; use "workers" instead`,
		},
		{"updates unchecked", Webhook, []string{updatesUnchecked}, admissionv1.Update, valid, mixed, 200, ""},
		{
			"bad request", Webhook,
			[]string{rejectsAsBadRequest},
			admissionv1.Create, nil, mixed, 400,
			`subgroup name "Workers" must be lowercase; use "workers" instead`,
		},
	}
	scheme := runtime.NewScheme()
	golden.Must(t, api.AddToScheme(scheme))
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			i, err := newImplementation(test.variant, test.faults, nil)
			golden.Must(t, err)
			request := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{Operation: test.operation}}
			request.Object, request.OldObject = raw(t, test.after), raw(t, test.before)
			response := admission.WithValidator(scheme, i.validator()).Handler.Handle(t.Context(), request)
			if response.Result.Code != test.code || response.Result.Message != test.message ||
				response.Allowed != (test.code == 200) {
				t.Errorf("got %t %+v, want %d %q", response.Allowed, response.Result, test.code, test.message)
			}
		})
	}
}

func raw(t *testing.T, groups []api.SubGroup) runtime.RawExtension {
	t.Helper()
	group := &api.PodGroup{Spec: api.PodGroupSpec{MinMember: 1, SubGroups: groups}}
	group.SetGroupVersionKind(api.GroupVersion.WithKind("PodGroup"))
	data, err := json.Marshal(group)
	golden.Must(t, err)
	return runtime.RawExtension{Raw: data}
}
