package liberty

import (
	"context"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/rehearse-dev/rehearse/clusters/pauses"
)

// The liberties of any webhook.
const (
	OtherWords  = "other-words"
	Warnings    = "warnings"
	SlowAnswers = "slow-answers"
)

// slowest is the maximal delay of an answer.
const slowest = time.Second

// Said is the other message for a rejected request; the specification requires none.
const Said = "not like this, please"

// Webhook has the liberties. words returns a message in other words; if it is nil, the message is always Said, and the
// answer is a plain 403.
func (s Set) Webhook(w *admission.Webhook, words func(message string) string) *admission.Webhook {
	inner := w.Handler
	w.Handler = admission.HandlerFunc(func(ctx context.Context, request admission.Request) admission.Response {
		if !s.Linger(ctx, request.Kind.Kind+" "+request.Name) {
			return admission.Errored(http.StatusServiceUnavailable, ctx.Err())
		}
		response := inner.Handle(ctx, request)
		if isRejection(response) && s.Takes(OtherWords) {
			response.Result = reworded(response.Result, words)
		}
		if s.Takes(Warnings) {
			response = response.WithWarnings("this is good to know, and says nothing about the request")
		}
		return response
	})
	return w
}

// Linger waits for the delay of a slow answer; it returns false if the context has ended.
func (s Set) Linger(ctx context.Context, about string) bool {
	return !s.Takes(SlowAnswers) || pauses.For(ctx, time.Duration(s.roll(SlowAnswers, about)*float64(slowest)))
}

// isRejection: the request is rejected. A failure of the webhook is not a rejection.
func isRejection(response admission.Response) bool {
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
