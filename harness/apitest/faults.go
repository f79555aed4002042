package apitest

import (
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Fault is how a server misbehaves. The zero Fault is a connection that breaks before anything was stored.
type Fault struct {
	// Status is the answer, instead of what was asked for.
	Status *metav1.Status
	// Text is an answer that no API server gives, with this code.
	Text string
	Code int
	// Stored does what was asked for all the same.
	Stored bool
	// Wet does what was asked for, also when it is a dry run, and answers as usual.
	Wet bool
	// Without is a field of the object that is taken as if it was not sent.
	Without string
	// Warnings come with the usual answer.
	Warnings []string
}

// Status is a failure as an API server tells it, with its causes.
func Status(code int32, reason metav1.StatusReason, message string, causes ...metav1.StatusCause) *metav1.Status {
	status := &metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure, Code: code, Reason: reason, Message: message,
	}
	if len(causes) > 0 {
		status.Details = &metav1.StatusDetails{Causes: causes}
	}
	return status
}

// Failure is a status with this code and reason.
func Failure(code int32, reason metav1.StatusReason) *metav1.Status {
	return Status(code, reason, fmt.Sprintf("rejected by the test: %s", reason))
}

// TooOld is how the API server answers a resourceVersion that it no longer has.
func TooOld() metav1.Status {
	return *Status(http.StatusGone, metav1.StatusReasonExpired, "too old resource version")
}

// TooLarge is how the API server answers a resourceVersion that it does not have yet.
func TooLarge() metav1.Status {
	return *Status(http.StatusGatewayTimeout, metav1.StatusReasonTimeout,
		"Timeout: Too large resource version: 999, current: 5", metav1.StatusCause{
			Type: metav1.CauseTypeResourceVersionTooLarge, Message: "Too large resource version",
		})
}

func (c *call) notFound() *metav1.Status {
	return Status(http.StatusNotFound, metav1.StatusReasonNotFound, fmt.Sprintf("%s %q not found", c.resource, c.Name))
}
