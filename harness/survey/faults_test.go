package survey_test

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

// fault is something that happens to an object between two states, and the checks that catch it.
type fault struct {
	// name of the object, and the object as YAML. It is in namespace default.
	name, object string
	// before is a merge patch of the object before the first survey; "" for none.
	before string
	// after is a merge patch between the two surveys. "status {...}" patches the subresource status.
	after string
	// deletes says that the object is deleted; deletesPod that one of its pods is.
	deletes, deletesPod bool
	// must is an expression that a policy requires, for the operation (on) on the resource of the group.
	on, group, resource, must string
	// warns says that the policy only warns.
	warns bool
	// patch is a JSON patch that a policy applies to each update of the object.
	patch string
	// want are the checks that catch the fault.
	want string
}

// faults has, for each check, at least one fault that only this check catches. The exception is update: it is tried
// only if label fails, so its fault is caught by both.
func faults() []fault {
	const text, custom = `{apiVersion: v1, kind: ConfigMap, data: {a: b, lost: c}}`,
		`{apiVersion: example.com/v1, kind: %s, spec: {color: red}}`
	service := func(port int) string {
		return fmt.Sprintf(`{apiVersion: v1, kind: Service, spec: {ports: [{port: %d}]}}`, port)
	}
	return []fault{
		{name: "still", object: text},
		{name: "unsized", object: fmt.Sprintf(custom, "Sized")},
		{
			name: "no-size", object: `{apiVersion: example.com/v1, kind: Sized, spec: {replicas: 1}}`,
			after: `{"spec":{"replicas":null}}`, want: "content scale",
		},
		{name: "gone", object: text, deletes: true, want: "moved"},
		{
			name: "restarted", object: `{apiVersion: apps/v1, kind: ReplicaSet, spec: {replicas: 2, ` +
				`selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, ` +
				`spec: {containers: [{name: c, image: i}]}}}}`,
			deletesPod: true, want: "moved",
		},
		{name: "unread", object: fmt.Sprintf(custom, "Unread"), want: "read"},
		{name: "forgotten", object: fmt.Sprintf(custom, "Forgotten"), want: "read"},
		{name: "pale", object: fmt.Sprintf(custom, "Pale"), want: "content"},
		{name: "renamed", object: fmt.Sprintf(custom, "Pale"), want: "content"},
		{name: "edited", object: text, after: `{"data":{"a":"x"}}`, want: "content"},
		{name: "thinned", object: text, patch: `{op: "remove", path: "/data/lost"}`, want: "keep"},
		{name: "defaulted", object: text, patch: `{op: "replace", path: "/data/a", value: "x"}`, want: "keep"},
		{
			name: "frozen", object: text, on: "UPDATE", resource: "configmaps", must: "false",
			want: "update label apply",
		},
		{
			name: "unlabelled", object: text, on: "UPDATE", resource: "configmaps",
			must: "has(object.metadata.labels) == has(oldObject.metadata.labels)", want: "label",
		},
		{
			name: "held", object: `{apiVersion: v1, kind: ConfigMap, metadata: {finalizers: [example.com/a]}}`, on: "UPDATE",
			resource: "configmaps", must: "has(object.metadata.finalizers)", want: "finalizer",
		},
		{
			name: "sized", object: `{apiVersion: apps/v1, kind: ReplicaSet, spec: {replicas: 0, selector: ` +
				`{matchLabels: {c: d}}, template: {metadata: {labels: {c: d}}, spec: {containers: [{name: c, image: i}]}}}}`,
			on: "UPDATE", group: "apps", resource: "replicasets/scale", must: "false", want: "scale",
		},
		{
			name: "stays", object: `{apiVersion: v1, kind: Pod, spec: {containers: [{name: c, image: i}]}}`, on: "CREATE",
			resource: "pods/eviction", must: "false", want: "evict",
		},
		{name: "stateless", object: service(80), on: "UPDATE", resource: "services/status", must: "false", want: "status"},
		{name: "kept", object: text, on: "DELETE", resource: "configmaps", must: "false", want: "delete"},
		{name: "unborn", object: text, on: "CREATE", resource: "configmaps", must: "false", want: "create"},
		{
			name: "changed-since", object: text, before: `{"data":{"a":"x"}}`, on: "UPDATE", resource: "configmaps",
			must: "object.data == oldObject.data", want: "apply",
		},
		{
			name: "warned", object: text, on: "CREATE", resource: "configmaps", must: "false", warns: true,
			want: "changes warning",
		},
		{
			name: "down", object: service(81), before: `status {"status":{"conditions":[` + condition + `"True"}]}}`,
			after: `status {"status":{"conditions":[` + condition + `"False"}]}}`, want: "condition",
		},
	}
}

const condition = `{"type":"Available","reason":"A","message":"","lastTransitionTime":"2030-01-01T00:00:00Z","status":`

// policies are the YAML of a fault's policies.
func (f fault) policies() string {
	var all []string
	if f.must != "" {
		actions := "Deny"
		if f.warns {
			actions = "Warn"
		}
		all = append(all, policy("Validating", f.name, f.on, f.group, f.resource,
			fmt.Sprintf(`validations: [{expression: '%s', message: never}]`, f.must)),
			fmt.Sprintf(`{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, `+
				`metadata: {name: %s}, spec: {policyName: %[1]s, validationActions: [%s]}}`, f.name, actions))
	}
	if f.patch != "" {
		all = append(all, policy("Mutating", f.name, "UPDATE", "", "configmaps",
			fmt.Sprintf(`reinvocationPolicy: Never, mutations: [{patchType: JSONPatch, jsonPatch: `+
				`{expression: '[JSONPatch%s]'}}]`, f.patch)),
			fmt.Sprintf(`{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingAdmissionPolicyBinding, `+
				`metadata: {name: %s}, spec: {policyName: %[1]s}}`, f.name))
	}
	return strings.Join(all, "\n---\n")
}

// policy is the YAML of a policy for the object of that name.
func policy(kind, name, operation, group, resource, does string) string {
	return fmt.Sprintf(`{apiVersion: admissionregistration.k8s.io/v1, kind: %sAdmissionPolicy, metadata: {name: %s}, `+
		`spec: {matchConditions: [{name: its, expression: 'request.name == "%[2]s"'}], matchConstraints: {resourceRules: `+
		`[{apiGroups: ["%s"], apiVersions: [v1], operations: [%s], resources: ["%s"]}]}, %s}}`, kind, name, group,
		operation, resource, does)
}

// definitions are the CustomResourceDefinitions of the faults' kinds, in two versions. A webhook converts some of them.
func definitions(url, trusted string) string {
	var all []string
	for _, kind := range []string{"Unread", "Pale", "Forgotten", "Sized"} {
		conversion := fmt.Sprintf(`{strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: `+
			`{url: "%s", caBundle: %s}}}`, url, trusted)
		if kind == "Forgotten" || kind == "Sized" {
			conversion = `{strategy: None}`
		}
		scale := ""
		if kind == "Sized" {
			scale = `subresources: {scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}}, `
		}
		version := `{name: %s, ` + scale + `served: true, storage: %t, schema: {openAPIV3Schema: {type: object, properties: {spec: ` +
			`{type: object, x-kubernetes-preserve-unknown-fields: true}}}}}`
		all = append(all, fmt.Sprintf(`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: `+
			`{name: %ss.example.com}, spec: {group: example.com, scope: Namespaced, names: {plural: %[1]ss, kind: %s}, `+
			`conversion: %s, versions: [%s, %s]}}`, strings.ToLower(kind), kind, conversion,
			fmt.Sprintf(version, "v1", true), fmt.Sprintf(version, "v1beta1", false)))
	}
	return strings.Join(all, "\n---\n")
}

// converter is a webhook that converts objects between versions: correctly until faulty is set.
func converter(t *testing.T, faulty *atomic.Bool) (url, trusted string) {
	t.Helper()
	web := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review map[string]any
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			t.Error(err)
			return
		}
		request, _ := review["request"].(map[string]any)
		objects, _ := request["objects"].([]any)
		result := map[string]any{"status": "Success"}
		for _, one := range objects {
			o := unstructured.Unstructured{Object: one.(map[string]any)}
			o.SetAPIVersion(request["desiredAPIVersion"].(string))
			switch {
			case !faulty.Load():
			case o.GetKind() == "Unread":
				result = map[string]any{"status": "Failure", "message": "no such version"}
			case o.GetName() == "pale":
				unstructured.RemoveNestedField(o.Object, "spec", "color")
			default:
				_ = unstructured.SetNestedField(o.Object, "scarlet", "spec", "color") // a spec is an object
			}
		}
		answer := map[string]any{"uid": request["uid"], "result": result, "convertedObjects": objects}
		review["response"] = answer
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(review); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(web.Close)
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate().Raw})
	encoded, err := json.Marshal(certificate)
	golden.Must(t, err)
	return web.URL, string(encoded)
}
