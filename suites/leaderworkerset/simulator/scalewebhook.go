package simulator

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/rehearse-dev/rehearse/suites/leaderworkerset/api"
)

// scaleValidator applies the rules for replicas to changes through the scale subresource.
type scaleValidator struct {
	reader client.Reader
}

// Handle implements admission.Handler.
func (v *scaleValidator) Handle(ctx context.Context, request admission.Request) admission.Response {
	var scale autoscalingv1.Scale
	if err := json.Unmarshal(request.Object.Raw, &scale); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	var old api.LeaderWorkerSet
	err := v.reader.Get(ctx, client.ObjectKey{Namespace: request.Namespace, Name: request.Name}, &old)
	switch {
	case apierrors.IsNotFound(err):
		return admission.Allowed("")
	case err != nil:
		return admission.Errored(http.StatusInternalServerError, err)
	}
	set := old.DeepCopy()
	set.Spec.Replicas = &scale.Spec.Replicas
	_, err = new(setValidator).ValidateUpdate(ctx, &old, set)
	var invalid *apierrors.StatusError
	if !errors.As(err, &invalid) {
		return admission.Allowed("")
	}
	response := admission.Denied("")
	response.Result = &invalid.ErrStatus
	return response
}
