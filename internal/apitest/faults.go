package apitest

import (
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Fault is how a server misbehaves. The zero Fault breaks the connection before anything is stored.
type Fault struct {
	// Status is sent as the answer.
	Status *metav1.Status
	// Text is an answer that no API server would send, with this code.
	Text string
	Code int
	// Stored executes the request anyway.
	Stored bool
	// Wet executes the request even if it is a dry run, and answers as usual.
	Wet bool
	// Without is a field of the object that the server ignores.
	Without string
	// Warnings are added to the usual answer.
	Warnings []string
}

// Status returns a failure as an API server sends it, with its causes.
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

// Failure returns a status with this code and reason.
func Failure(code int32, reason metav1.StatusReason) *metav1.Status {
	return Status(code, reason, fmt.Sprintf("rejected by the test: %s", reason))
}

// TooOld is the API server's answer to a resourceVersion that it no longer has.
func TooOld() metav1.Status {
	return *Status(http.StatusGone, metav1.StatusReasonExpired, "too old resource version")
}

// TooLarge is the API server's answer to a resourceVersion that it does not have yet.
func TooLarge() metav1.Status {
	return *Status(http.StatusGatewayTimeout, metav1.StatusReasonTimeout,
		"Timeout: Too large resource version: 999, current: 5", metav1.StatusCause{
			Type: metav1.CauseTypeResourceVersionTooLarge, Message: "Too large resource version",
		})
}

func (c *call) notFound() *metav1.Status {
	return Status(http.StatusNotFound, metav1.StatusReasonNotFound, fmt.Sprintf("%s %q not found", c.resource, c.Name))
}
