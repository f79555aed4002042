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

	"github.com/rehearse-dev/rehearse/scenarios"
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
	plain := func(code int, text string) error {
		return apierrors.NewGenericServerResponse(code, "POST", services, "x", text, 0, true)
	}
	unready := apierrors.NewForbidden(services, "x", errors.New("not yet ready to handle request"))
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
		"disruption budget, asked":       {status(429, "TooManyRequests", "Cannot evict pod", budget), 429, Rejected},
		"not yet, asked":                 {status(429, "TooManyRequests", "Cannot evict pod", processing), 429, Unknown},
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
		"etcd":                       {status(500, "", "etcdserver: request timed out"), 0, Unknown},
		"admission not ready":        {unready, 0, Unknown},
		"admission not ready, asked": {unready, 403, Unknown},
		"a webhook that is not ready": {
			status(403, "Forbidden", `admission webhook "x" denied the request: not yet ready to handle request`), 0, Rejected,
		},
		"quota unknown": {
			apierrors.NewForbidden(services, "x", errors.New("status unknown for quota: q")), 0,
			Unknown,
		},
		"no default account": {status(403, "Forbidden",
			`pods "a" is forbidden: error looking up service account a/default: serviceaccount "default" not found`), 0, Unknown},
		"no such account": {status(403, "Forbidden",
			`pods "a" is forbidden: error looking up service account a/none: serviceaccount "none" not found`), 0, Rejected},
		"quota conflict": {status(409, "Conflict",
			`Operation cannot be fulfilled on resourcequotas "q": modified`), 0, Unknown},
		"no API server":                     {plain(404, "404 page not found"), 0, Unknown},
		"a proxy":                           {plain(403, "<html>"), 0, Unknown},
		"a proxy, asked":                    {plain(403, "<html>"), 403, Unknown},
		"a path that is not served, asked":  {plain(404, "404 page not found"), 404, Rejected},
		"overloaded, in plain text, asked":  {plain(429, "Too many requests"), 429, Rejected},
		"unavailable, in plain text, asked": {plain(503, "service unavailable"), 503, Rejected},
		"redirect":                          {status(307, "", "elsewhere"), 0, Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Judge(test.err, test.asked); got != test.want {
				t.Errorf("Judge(%v, %d) = %s, want %s", test.err, test.asked, got, test.want)
			}
		})
	}
}

// An answer that comes too early to judge the write is a rejection only if the scenario names its words. What else it
// expects may be true of it, too.
func TestJudgeByWords(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	processing := status(429, "TooManyRequests", "Cannot evict pod as it would violate the pod's disruption budget.",
		metav1.StatusCause{
			Type: policyv1.DisruptionBudgetCause, Message: "The disruption budget x is still being processed by the server.",
		})
	quota := apierrors.NewForbidden(pods, "x", errors.New("status unknown for quota: q, resources: pods"))
	overloaded := apierrors.NewGenericServerResponse(429, "POST", pods, "x", "Too many requests", 0, true)
	message := func(code int, text scenarios.Text) scenarios.Rejection {
		return scenarios.Rejection{Code: code, Message: &text}
	}
	for name, test := range map[string]struct {
		err  error
		want scenarios.Rejection
		is   Outcome
	}{
		"the words of every budget": {processing, message(429, scenarios.Text{Contains: "disruption budget"}), Unknown},
		"only what is not there":    {processing, message(429, scenarios.Text{Lacks: "quota"}), Unknown},
		"anything":                  {processing, message(429, scenarios.Text{Matches: ".*"}), Unknown},
		"the reason":                {processing, scenarios.Rejection{Code: 429, Reason: "TooManyRequests"}, Unknown},
		"a cause of every budget":   {processing, causing("disruption budget x"), Unknown},
		"the cause":                 {processing, causing("still being processed"), Rejected},
		"one of two": {
			processing, scenarios.Rejection{AnyOf: []scenarios.Rejection{{Code: 403}, causing("being processed")}}, Rejected,
		},
		"any quota":                 {quota, message(403, scenarios.Text{Contains: "quota"}), Unknown},
		"a quota without a status":  {quota, message(403, scenarios.Text{Contains: "status unknown"}), Rejected},
		"a quota that is exceeded":  {quota, message(403, scenarios.Text{Contains: "exceeded quota"}), Unknown},
		"a quota whose code is not": {quota, message(422, scenarios.Text{Contains: "status unknown"}), Unknown},
		"a quota without a code":    {quota, message(0, scenarios.Text{Contains: "status unknown"}), Unknown},
		"a quota, in full":          {quota, message(403, scenarios.Text{Equals: quota.Error()}), Rejected},
		"a budget, but overloaded":  {overloaded, message(429, scenarios.Text{Contains: "disruption budget"}), Unknown},
		"overloaded":                {overloaded, scenarios.Rejection{Code: 429}, Rejected},
		"another failure than is asked": {
			status(500, "InternalError", "no"), message(500, scenarios.Text{Contains: "yes"}), Rejected,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := judgeFor(test.err, &test.want); got != test.is {
				t.Errorf("judgeFor(%v, %s) = %s, want %s", test.err, describeRejection(test.want), got, test.is)
			}
		})
	}
}

// causing is the rejection of an eviction with one cause, whose message contains a text.
func causing(text string) scenarios.Rejection {
	return scenarios.Rejection{Code: 429, Causes: []scenarios.Cause{{Message: &scenarios.Text{Contains: text}}}}
}

func TestRefused(t *testing.T) {
	webhook := errors.New(`failed calling webhook "x": connect: connection refused`)
	for name, test := range map[string]struct {
		err  error
		want bool
	}{
		"accepted":       {nil, false},
		"not sent":       {&url.Error{Op: "Post", URL: "https://x", Err: syscall.ECONNREFUSED}, true},
		"reset":          {&url.Error{Op: "Post", URL: "https://x", Err: syscall.ECONNRESET}, false},
		"too late":       {context.DeadlineExceeded, false},
		"webhook":        {apierrors.NewInternalError(webhook), true},
		"a 500 about it": {apierrors.NewInternalError(fmt.Errorf("conversion: %w", webhook)), false},
		"etcd":           {status(500, "", "etcdserver: request timed out"), false},
		"unavailable":    {apierrors.NewServiceUnavailable("starting"), false},
		"overloaded":     {apierrors.NewTooManyRequests("later", 1), true},
		"who":            {apierrors.NewUnauthorized("who"), true},
		"not ready":      {status(403, "Forbidden", "x is forbidden: not yet ready to handle request"), true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := refused(test.err); got != test.want {
				t.Errorf("refused(%v) = %t", test.err, got)
			}
		})
	}
}
