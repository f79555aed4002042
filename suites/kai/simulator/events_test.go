package simulator

import (
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// There is an Event of each accepted write, but of no dry run, no rejection and no deletion.
func TestRecord(t *testing.T) {
	yes := true
	for name, c := range map[string]struct {
		request  admissionv1.AdmissionRequest
		rejected bool
		want     int
	}{
		"a creation":  {request: admissionv1.AdmissionRequest{Operation: admissionv1.Create}, want: 1},
		"an update":   {request: admissionv1.AdmissionRequest{Operation: admissionv1.Update}, want: 1},
		"a dry run":   {request: admissionv1.AdmissionRequest{Operation: admissionv1.Update, DryRun: &yes}},
		"a rejection": {request: admissionv1.AdmissionRequest{Operation: admissionv1.Create}, rejected: true},
		"a deletion":  {request: admissionv1.AdmissionRequest{Operation: admissionv1.Delete}},
	} {
		t.Run(name, func(t *testing.T) {
			said := events.NewFakeRecorder(1)
			c.request.Object = runtime.RawExtension{
				Raw: []byte(`{"apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup", "metadata": {"name": "web"}}`),
			}
			(&endpoints{recorder: said}).record(admission.Request{AdmissionRequest: c.request},
				admission.Response{AdmissionResponse: admissionv1.AdmissionResponse{Allowed: !c.rejected}})
			if len(said.Events) != c.want {
				t.Errorf("%d Events, want %d", len(said.Events), c.want)
			}
		})
	}
}

// A webhook that records Events says that it has side effects, but none of a dry run.
func TestSideEffects(t *testing.T) {
	for _, records := range []bool{false, true} {
		e, want := &endpoints{}, "None"
		if records {
			e.recorder, want = events.NewFakeRecorder(1), "NoneOnDryRun"
		}
		if got := e.validating().Webhooks[0].SideEffects; got == nil || string(*got) != want {
			t.Errorf("%t: %v, want %s", records, got, want)
		}
	}
}
