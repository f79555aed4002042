package liberty

import (
	"context"
	"net/http"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

func TestWebhook(t *testing.T) {
	rejected := admission.Denied("")
	rejected.Result = &metav1.Status{
		Code: http.StatusUnprocessableEntity, Reason: metav1.StatusReasonInvalid, Message: "spec.a: bad",
		Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Field: "spec.a"}}},
	}
	handle := func(answer admission.Response, words func(string) string, liberties ...string) admission.Response {
		w := &admission.Webhook{Handler: admission.HandlerFunc(func(context.Context,
			admission.Request,
		) admission.Response {
			return answer
		})}
		return set(t, liberties...).Webhook(w, words).Handler.Handle(t.Context(), admission.Request{})
	}
	if got := handle(rejected, nil); got.Result.Message != "spec.a: bad" || len(got.Warnings) != 0 {
		t.Errorf("without a liberty: %+v", got)
	}
	plain := handle(rejected, nil, OtherWords).Result
	if plain.Code != http.StatusForbidden || plain.Message != Said || plain.Details != nil {
		t.Errorf("in other words: %+v", plain)
	}
	if rejected.Result.Code != http.StatusUnprocessableEntity {
		t.Error("the answer itself was changed")
	}
	if got := handle(rejected, func(text string) string { return "no: " + text },
		OtherWords).Result.Message; got != "no: spec.a: bad" {
		t.Errorf("in words of its own: %s", got)
	}
	if got := handle(admission.Errored(http.StatusInternalServerError, context.Canceled), nil,
		OtherWords).Result.Code; got != http.StatusInternalServerError {
		t.Errorf("a failure became a %d", got)
	}
	if got := handle(admission.Allowed(""), nil, OtherWords, Warnings); !got.Allowed || len(got.Warnings) != 1 {
		t.Errorf("with a warning: %+v", got)
	}
}
