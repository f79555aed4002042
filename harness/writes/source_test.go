package writes

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The messages are answers of API servers 1.35 and 1.36 (harness/realtest asks a real one again).
func TestRejectedBy(t *testing.T) {
	field := metav1.StatusCause{Type: "FieldValueInvalid", Field: "spec.x", Message: "no"}
	said := metav1.StatusCause{Message: "no"}
	for name, test := range map[string]struct {
		code    int32
		reason  metav1.StatusReason
		message string
		cause   *metav1.StatusCause
		by      string
		who     string
	}{
		"built-in validation": {
			422, "Invalid",
			`Service "9-web" is invalid: metadata.name: Invalid value: "9-web": a DNS-1035 label must`, &field, "schema", "",
		},
		"rule of a CRD": {
			422, "Invalid",
			`Widget "a" is invalid: spec: Invalid value: "object": no twins`, &field, "schema", "",
		},
		"wrong type": {
			400, "BadRequest",
			`ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field`,
			nil, "schema", "",
		},
		"wrong type, applied": {
			500, "",
			`failed to create typed patch object (a/b; x/v1, Kind=Widget): .spec.min: expected numeric (int or float), got string`, nil, "schema", "",
		},
		"another 500": {
			500, "InternalError",
			`Internal error occurred: failed calling webhook "x": no`, nil, "", "",
		},
		"bad JSON patch": {
			422, "Invalid",
			"the server rejected our request due to an error in our request", nil, "", "",
		},
		"webhook": {
			403, "Forbidden", `admission webhook "v.example.dev" denied the request: no`,
			nil, "webhook", "v.example.dev",
		},
		"webhook without word": {
			400, "",
			`admission webhook "v.example.dev" denied the request without explanation`, nil, "webhook", "v.example.dev",
		},
		"webhook that says it is invalid": {
			422, "Invalid",
			`admission webhook "v.example.dev" denied the request: Widget "a" is invalid: spec.x: no`, &field, "webhook",
			"v.example.dev",
		},
		"webhook that speaks of a policy": {
			422, "Invalid",
			`admission webhook "v.example.dev" denied the request: is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no`, &said, "webhook", "v.example.dev",
		},
		"webhook that speaks of a quota": {
			403, "Forbidden",
			`admission webhook "v.example.dev" denied the request: pods "a" is forbidden: exceeded quota: q`, nil, "webhook",
			"v.example.dev",
		},
		"policy": {
			422, "Invalid",
			`configmaps "a" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: failed expression: false`, &said, "policy", "p",
		},
		"policy with a reason of its own": {
			403, "Forbidden",
			`configmaps "a" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no`, &said, "policy",
			"p",
		},
		"policy that speaks of a webhook": {
			422, "Invalid",
			`configmaps "a" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: admission webhook "x" denied the request`, &said, "policy", "p",
		},
		"policy without a binding": {
			422, "Invalid",
			`configmaps "a" is forbidden: ValidatingAdmissionPolicy 'p' denied request: failed to configure policy: no`, &said,
			"policy", "p",
		},
		"mutating policy": {
			403, "Forbidden",
			`policy 'p' with binding 'b' denied request: no such key: x`, &said, "policy", "p",
		},
		"mutating policy without a binding": {
			403, "Forbidden",
			`policy "p" denied request: failed to configure policy: no`, &said, "policy", "p",
		},
		"not authorized": {
			403, "Forbidden",
			`configmaps is forbidden: User "jane" cannot create resource "configmaps" in API group "" in the namespace "a"`, nil,
			"rbac", "",
		},
		"not authorized to update": {
			403, "Forbidden",
			`configmaps "a" is forbidden: User "jane" cannot update resource "configmaps" in API group "" in the namespace "a"`,
			nil, "rbac", "",
		},
		"not authorized for a path": {
			403, "Forbidden", `forbidden: User "jane" cannot get path "/metrics"`, nil,
			"rbac", "",
		},
		"escalation": {
			403, "Forbidden",
			`roles.rbac.authorization.k8s.io "a" is forbidden: user "jane" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:` + "\n{}", nil, "rbac", "",
		},
		"quota": {
			403, "Forbidden",
			`configmaps "a" is forbidden: exceeded quota: q, requested: count/configmaps=1, used: count/configmaps=1, limited: count/configmaps=1`, nil, "admission", "ResourceQuota",
		},
		"limits": {
			403, "Forbidden",
			`pods "a" is forbidden: maximum cpu usage per Container is 1, but limit is 2`, nil, "admission", "LimitRanger",
		},
		"several limits": {
			403, "Forbidden",
			`pods "a" is forbidden: [maximum cpu usage per Container is 1, but limit is 2, maximum cpu usage per Pod is 1, but limit is 2]`, nil, "admission", "LimitRanger",
		},
		"namespace that goes": {
			403, "Forbidden",
			`configmaps "a" is forbidden: unable to create new content in namespace a because it is being terminated`, nil,
			"admission", "NamespaceLifecycle",
		},
		"default namespace": {
			403, "Forbidden",
			`namespaces "default" is forbidden: this namespace may not be deleted`, nil, "admission", "NamespaceLifecycle",
		},
		"service account": {
			403, "Forbidden",
			`pods "a" is forbidden: error looking up service account a/none: serviceaccount "none" not found`, nil, "admission",
			"ServiceAccount",
		},
		"pod security": {
			403, "Forbidden",
			`pods "a" is forbidden: violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false`, nil,
			"admission", "PodSecurity",
		},
		"priority class": {
			403, "Forbidden",
			`pods "a" is forbidden: no PriorityClass with name none was found`, nil, "admission", "Priority",
		},
		"runtime class": {
			403, "Forbidden",
			`pods "a" is forbidden: pod rejected: RuntimeClass "none" not found`, nil, "admission", "RuntimeClass",
		},
		"somebody's own 403": {
			403, "Forbidden",
			`packagerevisions.porch.kpt.dev "a" is forbidden: it is published`, nil, "", "",
		},
		"a 403 without words": {403, "Forbidden", "no", nil, "", ""},
		"the words of a quota, but no rejection": {
			403, "Forbidden", `widgets "a" is forbidden: the team has exceeded quota: q`,
			nil, "", "",
		},
		"exists": {409, "AlreadyExists", `configmaps "a" already exists`, nil, "", ""},
		"conflict": {
			409, "Conflict",
			`Operation cannot be fulfilled on configmaps "a": the object has been modified`, nil, "", "",
		},
		"not found":                        {404, "NotFound", `configmaps "a" not found`, nil, "", ""},
		"somebody's own 422":               {422, "Invalid", "clone cannot create a new revision", nil, "", ""},
		"somebody's own 422, with a cause": {422, "Invalid", `Widget "a" is invalid: no`, &said, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			status := metav1.Status{Code: test.code, Reason: test.reason, Message: test.message}
			if test.cause != nil {
				status.Details = &metav1.StatusDetails{Causes: []metav1.StatusCause{*test.cause}}
			}
			if got := rejectedBy(status); got.by != test.by || got.name != test.who {
				t.Errorf("rejected by %+v, want %s %s", got, test.by, test.who)
			}
		})
	}
}
