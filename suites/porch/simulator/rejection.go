package simulator

import (
	"errors"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/suites/porch/engine"
)

// statusOf converts an error to an API server's answer: a rejection by its class, any other error unchanged.
func statusOf(rules engine.Rules, resource schema.GroupResource, name string, err error) error {
	var rejection *engine.Rejection
	if !errors.As(err, &rejection) {
		return err
	}
	status := metav1.Status{
		Status: metav1.StatusFailure, Message: rejection.Text,
		Details: &metav1.StatusDetails{Group: resource.Group, Kind: resource.Resource, Name: name},
	}
	if rejection.Field != "" {
		status.Details.Causes = []metav1.StatusCause{{
			Type: metav1.CauseTypeFieldValueInvalid, Field: rejection.Field,
			Message: rejection.Text,
		}}
	}
	switch class(rules, rejection.Class) {
	case engine.BadRequest:
		status.Code, status.Reason = http.StatusBadRequest, metav1.StatusReasonBadRequest
	case engine.Conflict:
		status.Code, status.Reason = http.StatusConflict, metav1.StatusReasonConflict
	case engine.Unprocessable:
		status.Code, status.Reason = http.StatusUnprocessableEntity, metav1.StatusReasonInvalid
	case engine.Forbidden:
		status.Code, status.Reason = http.StatusForbidden, metav1.StatusReasonForbidden
	case engine.NotFound:
		status.Code, status.Reason = http.StatusNotFound, metav1.StatusReasonNotFound
	}
	return &apierrors.StatusError{ErrStatus: status}
}

// class of a rejection's answer, which differs if the simulator has that fault.
func class(rules engine.Rules, of engine.Class) engine.Class {
	switch {
	case of == engine.BadRequest && rules.Has(engine.BadRequestAsInvalid), of == engine.Conflict &&
		rules.Has(engine.ConflictAsInvalid):
		return engine.Unprocessable
	case of == engine.Unprocessable && rules.Has(engine.BusinessRuleAsBadRequest):
		return engine.BadRequest
	}
	return of
}
