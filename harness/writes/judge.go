package writes

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/net/http2"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rehearse-dev/rehearse/scenarios"
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
// answer with one of them is a rejection, even if it would otherwise be unknown. An answer that comes too early to
// judge the write (notReady), or not from an API server (foreign), stays unknown.
func Judge(err error, asked ...int) Outcome {
	var want scenarios.Rejection
	for _, code := range asked {
		want.AnyOf = append(want.AnyOf, scenarios.Rejection{Code: code})
	}
	return judgeFor(err, &want)
}

// judgeFor returns what the answer means to a scenario that expects a rejection; nil if it expects none.
func judgeFor(err error, want *scenarios.Rejection) Outcome {
	if err == nil {
		return Accepted
	}
	status, answered := StatusOf(err)
	switch {
	case !answered:
		return Unknown
	case verdict(status), want != nil && asksFor(*want, status):
		return Rejected
	}
	return Unknown
}

// asksFor reports whether the scenario expects this answer, which is no verdict on the write. It must name the code.
// That is not enough if the answer comes too early to judge the write: then the scenario must also name the words that
// only such an answer has.
func asksFor(want scenarios.Rejection, status metav1.Status) bool {
	if !slices.Contains(want.Codes(), int(status.Code)) {
		return false
	}
	if words := notReady(status); words != "" {
		return meets(want, status) && !meets(want, silenced(status, words))
	}
	switch {
	case status.Code == http.StatusTooManyRequests:
		return meets(want, status) // an overloaded server does not answer an eviction that expects another 429
	case foreign(status):
		return answersInPlainText(int(status.Code))
	}
	return true
}

// meets reports whether a rejection is as wanted.
func meets(want scenarios.Rejection, status metav1.Status) bool {
	problems, _ := differences(want, status)
	return len(problems) == 0
}

// silenced returns the status without these words in its texts.
func silenced(status metav1.Status, words string) metav1.Status {
	status = *status.DeepCopy()
	status.Message = strings.ReplaceAll(status.Message, words, "")
	for i, cause := range causes(status) {
		status.Details.Causes[i].Message = strings.ReplaceAll(cause.Message, words, "")
	}
	return status
}

// answersInPlainText reports whether an API server itself may answer with the code, and without a Status: before it
// handles the request (k8s.io/apiserver, pkg/server/filters), or because it does not serve the path.
func answersInPlainText(code int) bool {
	return code == http.StatusNotFound || code == http.StatusMethodNotAllowed || code >= http.StatusInternalServerError
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

// verdict reports whether an API server returns the answer after it has looked at the write. An overloaded server
// (429), one that does not know us (401), one that is not ready, and one that gave up (408, 5xx other than mistyped)
// have not. Neither has a server of another kind.
func verdict(status metav1.Status) bool {
	if foreign(status) || notReady(status) != "" || aside(status) {
		return false
	}
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
		return cause.Type == policyv1.DisruptionBudgetCause
	})
}

// foreign reports whether the answer was not a Status of an API server: client-go makes one of any text that it gets.
func foreign(status metav1.Status) bool {
	return slices.ContainsFunc(causes(status), func(cause metav1.StatusCause) bool {
		return cause.Type == metav1.CauseTypeUnexpectedServerResponse
	})
}

// absent reports whether an API server says that an object does not exist.
func absent(err error) bool { return apierrors.IsNotFound(err) && !unserved(err) }

// unserved reports whether an API server has answered in plain text that it does not know the path, as it does if it
// does not serve the kind in this version. The object may exist, and another API server may serve it.
func unserved(err error) bool {
	var unsent *unsentError
	if errors.As(err, &unsent) {
		err = unsent.cause
	}
	status, _ := StatusOf(err)
	return apierrors.IsNotFound(err) && foreign(status)
}

// notReady recognizes what an API server answers with a 4xx code while it can't judge yet, and returns the words that
// only such an answer has; "" if it is another one. These are admission plugins whose informers have not synced (right
// after a start), a quota without a status, a namespace whose default ServiceAccount does not exist yet, and a
// disruption budget that is new.
func notReady(status metav1.Status) string {
	if rejectedBy(status).by == scenarios.ByWebhook {
		return "" // the text is the webhook's own
	}
	for _, early := range []struct{ words, rest string }{
		{"not yet ready", " to handle request"},
		{"status unknown", " for quota"},
		{"not yet synced", " to use for admission"}, // the parameters of an admission policy
		{`serviceaccount "default" not found`, ""},
	} {
		if strings.Contains(status.Message, early.words+early.rest) {
			return early.words
		}
	}
	const words = "still being processed"
	if slices.ContainsFunc(causes(status), func(cause metav1.StatusCause) bool {
		return cause.Type == policyv1.DisruptionBudgetCause && strings.Contains(cause.Message, words)
	}) {
		return words
	}
	return ""
}

// aside recognizes other 4xx answers that are no verdict on the write: a conflict in the quota's own bookkeeping, and
// a dry run about which a webhook was not asked, since it has side effects.
func aside(status metav1.Status) bool {
	return strings.Contains(status.Message, "Operation cannot be fulfilled on resourcequotas") ||
		strings.Contains(status.Message, "\" does not support dry run")
}

// refused reports whether the error shows that the write was not stored: it was not sent, or the API server stopped
// handling it before it stores anything.
func refused(err error) bool {
	if errors.Is(err, syscall.ECONNREFUSED) {
		return true
	}
	status, answered := StatusOf(err)
	switch {
	case !answered:
		return false
	case status.Code == http.StatusUnauthorized, status.Code == http.StatusTooManyRequests:
		return true
	case foreign(status):
		return false
	}
	said := strings.TrimPrefix(status.Message, "Internal error occurred: ")
	return notReady(status) != "" || aside(status) ||
		status.Code == http.StatusInternalServerError && strings.HasPrefix(said, "failed calling webhook ")
}

func causes(status metav1.Status) []metav1.StatusCause {
	if status.Details == nil {
		return nil
	}
	return status.Details.Causes
}
