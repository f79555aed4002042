package simulator

import (
	"context"
	"encoding/json"
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/rehearse-dev/rehearse/suites/simulators/liberty"
)

// newRecorder records Events until the context ends.
func newRecorder(ctx context.Context, config *rest.Config) (events.EventRecorder, error) {
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a client for Events: %w", err)
	}
	broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: clients.EventsV1()})
	if err := broadcaster.StartRecordingToSinkWithContext(ctx); err != nil {
		return nil, fmt.Errorf("record Events: %w", err)
	}
	return broadcaster.NewRecorder(runtime.NewScheme(), Name), nil
}

// record records an accepted write in an Event. A dry run has no side effects.
func (e *endpoints) record(request admission.Request, response admission.Response) {
	dry := request.DryRun != nil && *request.DryRun
	if e.recorder == nil || dry || !response.Allowed || request.Operation == admissionv1.Delete {
		return
	}
	object := &metav1.PartialObjectMetadata{}
	if err := json.Unmarshal(request.Object.Raw, object); err != nil {
		e.options.Logger.Error(err, "an Event could not be recorded", "podGroup", request.Name)
		return
	}
	e.liberties.Takes(liberty.MoreEvents)
	e.recorder.Eventf(object, nil, corev1.EventTypeNormal, "Validated", "Validate", "its sub groups were looked at")
}
