package simulator

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/rehearse-dev/rehearse/suites/simulators/fault"
)

// labelSubGroup names a pod's sub group.
const labelSubGroup = "kai.scheduler/subgroup-name"

// mutates reports whether a fault gives the implementation a mutating webhook.
func (i implementation) mutates() bool {
	return i.faults.Has(namesLowered) || i.faults.Has(parentsLowered)
}

// lowerer is the mutating webhook of a faulty implementation.
type lowerer struct {
	faults fault.Set
}

// Handle converts to lowercase what the faults say, and leaves everything else unchanged.
func (l lowerer) Handle(_ context.Context, request admission.Request) admission.Response {
	object := map[string]any{}
	if err := json.Unmarshal(request.Object.Raw, &object); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	groups, _, err := unstructured.NestedFieldNoCopy(object, "spec", "subGroups")
	if err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	list, _ := groups.([]any)
	for _, item := range list {
		if group, ok := item.(map[string]any); ok {
			l.lower(group, "name", namesLowered)
			l.lower(group, "parent", parentsLowered)
		}
	}
	changed, err := json.Marshal(object)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	return admission.PatchResponseFromRaw(request.Object.Raw, changed)
}

func (l lowerer) lower(group map[string]any, field, bug string) {
	if text, ok := group[field].(string); ok && l.faults.Has(bug) {
		group[field] = strings.ToLower(text)
	}
}

// judgePod applies the rule for names to a pod's label, as only a faulty implementation does.
func (i implementation) judgePod(request admission.Request) admission.Response {
	var pod corev1.Pod
	if err := json.Unmarshal(request.Object.Raw, &pod); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	if name, ok := pod.Labels[labelSubGroup]; ok && i.ruleInWebhook() {
		if err := (names{i.faults}).check(name); err != nil {
			return admission.Denied(err.Error())
		}
	}
	return admission.Allowed("")
}
