package liberty

import (
	"context"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// The liberties of every webhook.
const (
	OtherWords  = "other-words"
	Warnings    = "warnings"
	SlowAnswers = "slow-answers"
)

// slowest is how late an answer is at most.
const slowest = time.Second

// Said is what other words say of a request that is not allowed; the specification names none.
const Said = "not like this, please"

// Webhook takes the liberties. words says the same as a message in other words; where it is nil they are always Said,
// and the answer is a plain 403.
func (s Set) Webhook(w *admission.Webhook, words func(message string) string) *admission.Webhook {
	inner := w.Handler
	w.Handler = admission.HandlerFunc(func(ctx context.Context, request admission.Request) admission.Response {
		if !s.Linger(ctx, request.Kind.Kind+" "+request.Name) {
			return admission.Errored(http.StatusServiceUnavailable, ctx.Err())
		}
		response := inner.Handle(ctx, request)
		if s.Has(OtherWords) && isRefusal(response) {
			response.Result = reworded(response.Result, words)
		}
		if s.Has(Warnings) {
			response = response.WithWarnings("this is good to know, and says nothing about the request")
		}
		return response
	})
	return w
}

// Linger waits as long as a slow answer takes; it is false when the context has ended.
func (s Set) Linger(ctx context.Context, about string) bool {
	return !s.Has(SlowAnswers) || pause(ctx, time.Duration(s.roll(SlowAnswers, about)*float64(slowest)))
}

// isRefusal: the request is not allowed. That the webhook failed is no refusal.
func isRefusal(response admission.Response) bool {
	return !response.Allowed && response.Result != nil && response.Result.Code < http.StatusInternalServerError
}

func reworded(said *metav1.Status, words func(string) string) *metav1.Status {
	text := Said
	if words != nil {
		text = words(said.Message)
	}
	return &metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden,
		Message: text,
	}
}
