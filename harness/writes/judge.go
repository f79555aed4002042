package writes

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/net/http2"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Outcome is the outcome of a write.
type Outcome int

// The outcomes of a write.
const (
	// Unknown: the outcome is unknown. The connection broke, time was up, or the API server was not able to judge.
	Unknown Outcome = iota
	// Accepted: the API server accepted the write.
	Accepted
	// Rejected: the API server judged the write and rejected it.
	Rejected
)

// String is the outcome in lower case.
func (o Outcome) String() string {
	return [...]string{Unknown: "unknown", Accepted: "accepted", Rejected: "rejected"}[o]
}

// Judge returns what the answer to a write means. The scenario expects a rejection to have one of the asked codes: an
// answer with one of them is a rejection, even if it would otherwise be unknown.
func Judge(err error, asked ...int) Outcome {
	if err == nil {
		return Accepted
	}
	status, ok := StatusOf(err)
	if !ok {
		return Unknown
	}
	if slices.Contains(asked, int(status.Code)) {
		return Rejected
	}
	if foreign(status) || notReady(status) || !verdict(status) {
		return Unknown
	}
	return Rejected
}

// mistyped reports whether server-side apply could not read an object, the sent or the stored one, as one of its
// kind. The API server answers with 500, though it has judged the object (k8s.io/apiserver,
// endpoints/handlers/fieldmanager; structured-merge-diff in apimachinery's util/managedfields).
func mistyped(status metav1.Status) bool {
	return status.Code == http.StatusInternalServerError &&
		(strings.HasPrefix(status.Message, "failed to create typed patch object (") ||
			strings.HasPrefix(status.Message, "failed to create manager for existing fields: ") &&
				strings.Contains(status.Message, " to smd typed: "))
}

// StatusOf returns the API server's Status that an error carries.
func StatusOf(err error) (metav1.Status, bool) {
	var answer apierrors.APIStatus
	if err == nil || !errors.As(err, &answer) {
		return metav1.Status{}, false
	}
	return answer.Status(), true
}

// Words returns the API server's own words in an error, with its code and reason; those of the error if it did not
// answer.
func Words(err error) string {
	status, ok := StatusOf(err)
	if !ok {
		return explained(err).Error()
	}
	return fmt.Sprintf("%d %s: %s", status.Code, status.Reason, status.Message)
}

// Aborted reports whether the API server ended the request without an answer. An HTTP/2 server does that when the
// handler panics.
func Aborted(err error) bool {
	var stream http2.StreamError
	return errors.As(err, &stream) && stream.Code == http2.ErrCodeInternal
}

// explained adds the likely cause to the error of an aborted request.
func explained(err error) error {
	if !Aborted(err) {
		return err
	}
	return fmt.Errorf("the API server aborted the request, as it does after a panic; its log has the cause: %w", err)
}

// verdict reports whether an API server returns the code after it has looked at the write. An overloaded server
// (429), one that does not know us (401), and one that gave up (408, 5xx other than mistyped) have not.
func verdict(status metav1.Status) bool {
	switch status.Code {
	case http.StatusUnauthorized, http.StatusRequestTimeout, http.StatusTooEarly:
		return false
	case http.StatusTooManyRequests:
		return disruptionBudget(status)
	}
	return status.Code >= 400 && status.Code < 500 || mistyped(status)
}

// disruptionBudget reports whether a PodDisruptionBudget rejected an eviction. That has the code of an overloaded
// server.
func disruptionBudget(status metav1.Status) bool {
	return slices.ContainsFunc(causes(status), func(cause metav1.StatusCause) bool {
		return cause.Type == policyv1.DisruptionBudgetCause && !strings.Contains(cause.Message, "still being processed")
	})
}

// foreign reports whether the answer was not a Status of an API server: client-go makes one of any text that it gets.
func foreign(status metav1.Status) bool {
	return slices.ContainsFunc(causes(status), func(cause metav1.StatusCause) bool {
		return cause.Type == metav1.CauseTypeUnexpectedServerResponse
	})
}

// notReady recognizes what an API server answers with a 4xx code while it can't judge, or not yet: admission plugins
// whose informers have not synced (right after a start), the quota's own bookkeeping, and a dry run about which a
// webhook was not asked.
func notReady(status metav1.Status) bool {
	for _, words := range []string{
		"not yet ready to handle request",
		"status unknown for quota",
		"Operation cannot be fulfilled on resourcequotas",
		"not yet synced to use for admission", // the parameters of an admission policy
		"\" does not support dry run",         // a webhook that has side effects is not asked
	} {
		if strings.Contains(status.Message, words) {
			return true
		}
	}
	return false
}

func causes(status metav1.Status) []metav1.StatusCause {
	if status.Details == nil {
		return nil
	}
	return status.Details.Causes
}
