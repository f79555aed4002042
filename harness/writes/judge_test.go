package writes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"syscall"
	"testing"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func status(code int32, reason metav1.StatusReason, message string, causes ...metav1.StatusCause) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Code: code, Reason: reason, Message: message, Details: &metav1.StatusDetails{Causes: causes},
	}}
}

func TestJudge(t *testing.T) {
	services := schema.GroupResource{Resource: "services"}
	budget := metav1.StatusCause{
		Type:    policyv1.DisruptionBudgetCause,
		Message: "The disruption budget x needs 1 healthy pods and has 1 currently",
	}
	processing := metav1.StatusCause{
		Type:    policyv1.DisruptionBudgetCause,
		Message: "The disruption budget x is still being processed by the server.",
	}
	rejected := &url.Error{Op: "Post", URL: "https://x", Err: syscall.ECONNREFUSED}
	for name, test := range map[string]struct {
		err   error
		asked int
		want  Outcome
	}{
		"no error":                  {nil, 0, Accepted},
		"no error, rejection asked": {nil, 422, Accepted},
		"invalid":                   {status(422, "Invalid", "no"), 0, Rejected},
		"invalid, other code asked": {status(422, "Invalid", "no"), 403, Rejected},
		"bad request":               {apierrors.NewBadRequest("strict decoding error"), 0, Rejected},
		"forbidden":                 {apierrors.NewForbidden(services, "x", errors.New("policy")), 0, Rejected},
		"not found":                 {apierrors.NewNotFound(services, "x"), 0, Rejected},
		"method not allowed":        {apierrors.NewMethodNotSupported(services, "create"), 0, Rejected},
		"exists":                    {apierrors.NewAlreadyExists(services, "x"), 0, Rejected},
		"conflict":                  {apierrors.NewConflict(services, "x", errors.New("modified")), 0, Rejected},
		"too large":                 {apierrors.NewRequestEntityTooLargeError("limit"), 0, Rejected},
		"unsupported":               {status(415, "UnsupportedMediaType", "no"), 0, Rejected},
		"wrapped":                   {fmt.Errorf("create: %w", status(422, "Invalid", "no")), 0, Rejected},
		"applied with a wrong type": {status(500, "", "failed to create typed patch object (x): y"), 0, Rejected},
		"applied to a wrong type": {
			status(500, "", "failed to create manager for existing fields: failed to convert new object (x) to smd typed: y"), 0,
			Rejected,
		},
		"no manager, for another reason": {status(500, "", "failed to create manager for existing fields: x"), 0, Unknown},
		"connection refused":             {rejected, 0, Unknown},
		"connection refused, asked":      {rejected, 503, Unknown},
		"connection reset":               {&url.Error{Op: "Post", URL: "https://x", Err: syscall.ECONNRESET}, 422, Unknown},
		"eof":                            {&url.Error{Op: "Post", URL: "https://x", Err: io.EOF}, 0, Unknown},
		"unexpected eof":                 {io.ErrUnexpectedEOF, 0, Unknown},
		"deadline":                       {context.DeadlineExceeded, 0, Unknown},
		"canceled":                       {fmt.Errorf("send: %w", context.Canceled), 0, Unknown},
		"plain error":                    {errors.New("tls: bad certificate"), 0, Unknown},
		"unauthorized":                   {apierrors.NewUnauthorized("who"), 0, Unknown},
		"unauthorized, asked":            {apierrors.NewUnauthorized("who"), 401, Rejected},
		"overloaded":                     {apierrors.NewTooManyRequests("later", 1), 0, Unknown},
		"overloaded, asked":              {apierrors.NewTooManyRequests("later", 1), 429, Rejected},
		"disruption budget":              {status(429, "TooManyRequests", "Cannot evict pod", budget), 0, Rejected},
		"disruption budget, not yet":     {status(429, "TooManyRequests", "Cannot evict pod", processing), 0, Unknown},
		"request timeout":                {status(408, "Timeout", "no"), 0, Unknown},
		"timeout":                        {apierrors.NewTimeoutError("too slow", 1), 0, Unknown},
		"unavailable":                    {apierrors.NewServiceUnavailable("starting"), 0, Unknown},
		"unavailable, asked":             {apierrors.NewServiceUnavailable("starting"), 503, Rejected},
		"unavailable, other asked":       {apierrors.NewServiceUnavailable("starting"), 500, Unknown},
		"webhook failed":                 {apierrors.NewInternalError(errors.New(`failed calling webhook "x": connect: connection refused`)), 0, Unknown},
		"webhook failed, 422 asked":      {apierrors.NewInternalError(errors.New(`failed calling webhook "x"`)), 422, Unknown},
		"webhook failed, 500 asked":      {apierrors.NewInternalError(errors.New(`failed calling webhook "x"`)), 500, Rejected},
		"webhook denied":                 {status(400, "", `admission webhook "x" denied the request: no`), 0, Rejected},
		"no service IP": {apierrors.NewInternalError(errors.New("failed to allocate a serviceIP: the " +
			"allocator is not ready")), 0, Unknown},
		"etcd": {status(500, "", "etcdserver: request timed out"), 0, Unknown},
		"admission not ready": {
			apierrors.NewForbidden(services, "x", errors.New("not yet ready to handle request")),
			0, Unknown,
		},
		"admission not ready, asked": {
			apierrors.NewForbidden(services, "x", errors.New("not yet ready to handle request")),
			403, Rejected,
		},
		"quota unknown": {
			apierrors.NewForbidden(services, "x", errors.New("status unknown for quota: q")), 0,
			Unknown,
		},
		"quota conflict": {status(409, "Conflict",
			`Operation cannot be fulfilled on resourcequotas "q": modified`), 0, Unknown},
		"no API server": {apierrors.NewGenericServerResponse(404, "POST", services, "x", "404 page not found", 0,
			true), 0, Unknown},
		"a proxy": {
			apierrors.NewGenericServerResponse(403, "POST", services, "x", "<html>", 0, true), 0,
			Unknown,
		},
		"redirect": {status(307, "", "elsewhere"), 0, Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Judge(test.err, test.asked); got != test.want {
				t.Errorf("Judge(%v, %d) = %s, want %s", test.err, test.asked, got, test.want)
			}
		})
	}
}
