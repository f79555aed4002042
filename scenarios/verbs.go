package scenarios

import (
	"github.com/rehearse-dev/rehearse/clusters"
)

// Object is a Kubernetes object as YAML; strings in it may hold ${...} expressions.
type Object map[string]any

// ObjectReference names one object.
type ObjectReference struct {
	// APIVersion of the object.
	APIVersion string `json:"apiVersion" fixed:"true"`
	// Kind of the object.
	Kind string `json:"kind" fixed:"true"`
	// Name of the object.
	Name string `json:"name,omitempty"`
	// Namespace of the object; the scenario's unless told.
	Namespace string `json:"namespace,omitempty"`
}

// User is somebody for whom the API server takes a write (impersonation).
type User struct {
	// User is the name: jane, or system:serviceaccount:NAMESPACE:NAME of a ServiceAccount.
	User string `json:"user"`
	// Groups that the user is in. The API server adds system:authenticated, and to a ServiceAccount with none the groups of ServiceAccounts.
	Groups []string `json:"groups,omitempty"`
}

// Patch changes a part of an object. Exactly one of merge, json and strategic is set.
type Patch struct {
	ObjectReference `json:",inline"`
	// Subresource to patch: status, scale, ...
	Subresource string `json:"subresource,omitempty" fixed:"true"`
	// Merge is a JSON merge patch (RFC 7386).
	Merge map[string]any `json:"merge,omitempty"`
	// JSON is a JSON patch (RFC 6902): a list of operations.
	JSON []map[string]any `json:"json,omitempty"`
	// Strategic is a strategic merge patch.
	Strategic map[string]any `json:"strategic,omitempty"`
}

// Delete deletes one object by its name, or all that a selector names.
type Delete struct {
	ObjectReference `json:",inline"`
	// Selector deletes all objects that have these labels, instead of one by its name.
	Selector map[string]string `json:"selector,omitempty"`
	// Propagation of the deletion: Background, Foreground or Orphan; the resource's default unless told.
	Propagation string `json:"propagation,omitempty" fixed:"true"`
	// Wait until the object is gone; true unless told.
	Wait *bool `json:"wait,omitempty"`
}

// Evict evicts a pod.
type Evict struct {
	// Name of the pod.
	Name string `json:"name"`
	// Namespace of the pod; the scenario's unless told.
	Namespace string `json:"namespace,omitempty"`
}

// Scale sets the number of replicas.
type Scale struct {
	ObjectReference `json:",inline"`
	// Replicas wanted.
	Replicas int32 `json:"replicas"`
}

// Transition is a change of the live cluster's state.
type Transition struct {
	clusters.Change `json:",inline"`
	// Force rehearses what the version skew policy forbids: a skipped minor, a downgrade of more than one.
	Force bool `json:"force,omitempty"`
	// Expect is what is expected of the transition; that the cluster reaches the state unless told.
	Expect *TransitionExpect `json:"expect,omitempty"`
	// Method is the tool by which a kind cluster goes up to a version: kubeadm, for those who rehearse that very tool; the provider's own way
	// unless told.
	Method string `json:"method,omitempty"`
	// OnFailure says what becomes of a cluster that does not reach the state: revert takes it back to the state before, so that it can be
	// used. The step fails nevertheless. Unless told the cluster is left as it is then.
	OnFailure string `json:"onFailure,omitempty"`
}

// TransitionExpect is what is expected of a transition.
type TransitionExpect struct {
	// Broken: the cluster does not reach the state, because of one component. Another transition must follow, or nothing.
	Broken *Broken `json:"broken"`
}

// Broken is a component that does not become what a state wants of it. It ends by itself, or does not become ready in all the time that the provider gives it
// (two minutes on local clusters). Any other failure is the error that it is, and a state that is reached a failure.
type Broken struct {
	// Component that is to blame. One that only waits for kube-apiserver is not.
	Component clusters.Component `json:"component,omitempty"`
	// System that is to blame, instead of a component: its process ends by itself before it serves, because of its configuration say.
	System string `json:"system,omitempty" fixed:"true"`
	// Message of the component's own: what it answers when asked whether it is ready, or the end of its log.
	Message *Text `json:"message"`
}

// Culprit is the component, or the system as a component.
func (b *Broken) Culprit() clusters.Component {
	if b.System != "" {
		return clusters.SystemComponent(b.System)
	}
	return b.Component
}

// Values of Method and OnFailure.
const (
	MethodKubeadm = "kubeadm"
	Revert        = "revert"
)

// ComponentReference names a component (kube-apiserver, kube-controller-manager, kube-scheduler, kube-scheduler/NAME or etcd), or a system that is a process.
// Exactly one field is set.
type ComponentReference struct {
	// Component by the name of its binary.
	Component clusters.Component `json:"component,omitempty" fixed:"true"`
	// System by its name.
	System string `json:"system,omitempty" fixed:"true"`
}

// Silences says whether the API server gives no answers without the component.
func (r ComponentReference) Silences() bool {
	return r.Component == clusters.APIServer || r.Component == clusters.Etcd
}

// String is the name of what is meant.
func (r ComponentReference) String() string {
	if r.System != "" {
		return r.System
	}
	return string(r.Component)
}

// Selection names the objects that an assertion is about: one by its name, those with labels, or all of the kind.
type Selection struct {
	ObjectReference `json:",inline"`
	// Selector takes the objects that have these labels.
	Selector map[string]string `json:"selector,omitempty"`
	// AllNamespaces looks into every namespace instead of the scenario's.
	AllNamespaces bool `json:"allNamespaces,omitempty"`
}

// Assertion says what must be true of the selected objects. Without count and absent: at least one of them matches.
type Assertion struct {
	Selection `json:",inline"`
	// Match is a partial object: maps are compared by key, lists by their map keys or else as "contains".
	Match map[string]any `json:"match,omitempty"`
	// CEL is an expression that is true of a matching object: "object" is the object, "objects" all that are selected.
	CEL string `json:"cel,omitempty" expression:"assertion"`
	// Count of objects that match: a number, {min, max}, or "all" (every selected one, and at least one).
	Count *Count `json:"count,omitempty"`
	// Absent: no selected object matches.
	Absent bool `json:"absent,omitempty"`
	// Vacuous: "allowed" lets an assertion pass whose match or cel was never checked, since no object was selected at any time. Default: it fails.
	// That there is none is said without match and cel.
	Vacuous string `json:"vacuous,omitempty" fixed:"true"`
	// Within is how long eventually may take; the step's timeout unless told. Only for eventually.
	Within Duration `json:"within,omitempty"`
	// Stale: allowed takes a status of an earlier generation, too. By default eventually waits until status.observedGeneration is the object's
	// metadata.generation, where match has status or cel selects it and the kind has the field, and takes no condition whose own observedGeneration
	// is older. An assertion that names observedGeneration compares it itself. Only for eventually.
	Stale string `json:"stale,omitempty" fixed:"true"`
	// For is how long always or never must hold from now on. Always and never need it or throughout; eventually has neither.
	For Duration `json:"for,omitempty"`
	// Throughout names two steps: always or never must have held at every moment from the beginning of the first to the end of the last,
	// transitions in between included. The last is this step itself, or one before it.
	Throughout []string `json:"throughout,omitempty" fixed:"true"`
}

// RolledOut selects objects that must be rolled out.
type RolledOut struct {
	Selection `json:",inline"`
	// Within is how long it may take; default: the step's timeout.
	Within Duration `json:"within,omitempty"`
}

// MayBeVacuous says whether the assertion has a condition and may be true of no object at all.
func (a *Assertion) MayBeVacuous() bool {
	conditional := len(a.Match) > 0 || a.CEL != ""
	return conditional && a.Vacuous != Allowed && (a.Absent || a.Count != nil && a.Count.Holds(0, 0))
}

// Allowed is the value of an assertion's Stale and Vacuous.
const Allowed = "allowed"

// Count is how many objects must match.
type Count struct {
	// Min is the least that is wanted.
	Min *int `json:"min,omitempty"`
	// Max is the most that is wanted.
	Max *int `json:"max,omitempty"`
	// All wants every selected object to match, and at least one.
	All bool `json:"-"`
}

// Resolve is a question to the cluster's DNS, repeated until the answer is as expected or time is up.
type Resolve struct {
	// Name to resolve, absolute: web.${namespace}.svc.cluster.local.
	Name string `json:"name"`
	// Type of the record: A, AAAA, SRV, PTR, CNAME, TXT; A unless told.
	Type string `json:"type,omitempty" fixed:"true"`
	// Within is how long the right answer may take; the step's timeout unless told.
	Within Duration `json:"within,omitempty"`
	// Expect is what is expected of the answer; at least one record unless told.
	Expect *ResolveExpect `json:"expect,omitempty"`
}

// ResolveExpect is what is expected of an answer of the DNS.
type ResolveExpect struct {
	// Rcode of the answer: NOERROR, NXDOMAIN, ...; NOERROR unless told.
	Rcode string `json:"rcode,omitempty" fixed:"true"`
	// Count of records of the type asked for.
	Count *Count `json:"count,omitempty"`
	// Answers that must be among the records' data: an address, a target, "priority weight port target" for SRV.
	Answers []string `json:"answers,omitempty"`
}

// Metric reads a component's metric: the sum of the series whose labels match.
type Metric struct {
	// Component whose /metrics is read; kube-apiserver unless told.
	Component clusters.Component `json:"component,omitempty" fixed:"true"`
	// Name of the metric: apiserver_request_total.
	Name string `json:"name"`
	// Labels that a series must have.
	Labels map[string]string `json:"labels,omitempty"`
	// Since is the name of an earlier metric step against whose value delta is counted; a row of a table is "name [row]".
	Since string `json:"since,omitempty" fixed:"true"`
	// Within repeats the reading until it is as expected; read once unless told.
	Within Duration `json:"within,omitempty"`
	// Expect is what is expected of the value; that the metric exists unless told.
	Expect *MetricExpect `json:"expect,omitempty"`
}

// MetricExpect is what is expected of a metric's value. Exactly one field is set.
type MetricExpect struct {
	// Value wanted.
	Value *float64 `json:"value,omitempty"`
	// Delta wanted since the metric step that since names.
	Delta *float64 `json:"delta,omitempty"`
	// Absent: no series matches.
	Absent bool `json:"absent,omitempty"`
	// CEL is an expression over "value" and "delta" (both double: write 3.0, not 3). Only with since is there a delta.
	CEL string `json:"cel,omitempty" expression:"metric"`
}

// Command runs a program on this machine. KUBECONFIG and NAMESPACE are set for it, and the variables of [Programs](#programs).
type Command struct {
	// Run is the program and its arguments; no shell interprets them. A program with a slash in its name is a file, relative to the scenario's folder.
	Run []string `json:"run"`
	// Env adds environment variables.
	Env map[string]string `json:"env,omitempty"`
	// Stdin is given to the program.
	Stdin string `json:"stdin,omitempty"`
	// Shared says that the program changes nothing outside of the scenario's namespace, so that other scenarios may share the cluster. Default: false.
	Shared bool `json:"shared,omitempty"`
	// Within repeats the command until it is as expected; run once unless told.
	Within Duration `json:"within,omitempty"`
	// Expect is what is expected of the program; exit code 0 unless told.
	Expect *CommandExpect `json:"expect,omitempty"`
}

// Exec runs a program in a container of a pod. The cluster's nodes must be real: a pod on a simulated node runs nothing.
type Exec struct {
	// Pod is the name of the pod.
	Pod string `json:"pod"`
	// Namespace of the pod; the scenario's unless told.
	Namespace string `json:"namespace,omitempty"`
	// Container of the pod; its only or default one unless told.
	Container string `json:"container,omitempty"`
	// Run is the program and its arguments; no shell interprets them.
	Run []string `json:"run"`
	// Stdin is given to the program.
	Stdin string `json:"stdin,omitempty"`
	// Shared says that the program changes nothing outside of the scenario's namespace, so that other scenarios may share the cluster. Default: false.
	Shared bool `json:"shared,omitempty"`
	// Within repeats the program until it is as expected; run once unless told. That it could not be started is tried again in any case.
	Within Duration `json:"within,omitempty"`
	// Expect is what is expected of the program; exit code 0 unless told.
	Expect *CommandExpect `json:"expect,omitempty"`
}

// CommandExpect is what is expected of a program.
type CommandExpect struct {
	// ExitCode wanted, 0 to 255; 0 unless told.
	ExitCode int `json:"exitCode,omitempty"`
	// Stdout of the program.
	Stdout *Text `json:"stdout,omitempty"`
	// Stderr of the program.
	Stderr *Text `json:"stderr,omitempty"`
}

// Expect is what is expected of a write.
type Expect struct {
	// Rejected: the API server refuses the write. A transport error, a time-out or a 5xx is no refusal (unless that very code is asked for).
	Rejected *Rejection `json:"rejected,omitempty"`
	// Warnings that the API server must send, each at least once.
	Warnings []Text `json:"warnings,omitempty"`
	// Dropped lists the paths of fields that are sent and that the API server drops: a feature gate is off, say. Each must be dropped, and nothing else
	// may be. They are written like the paths of unchanged.
	Dropped []string `json:"dropped,omitempty"`
	// Match is a partial object that what is returned must match.
	Match map[string]any `json:"match,omitempty"`
	// CEL is an expression that is true of the "object" returned.
	CEL string `json:"cel,omitempty" expression:"write"`
}

// Values of Step.FieldValidation.
const (
	StrictFields = "Strict"
	WarnFields   = "Warn"
	IgnoreFields = "Ignore"
)

// Rejection is how the API server must refuse a write; each field that is set must be so. See [Who refuses](#who-refuses) for by.
type Rejection struct {
	// Code of the HTTP response: 422.
	Code int `json:"code,omitempty"`
	// Reason of the Status: Invalid, Forbidden, Conflict, ...
	Reason string `json:"reason,omitempty"`
	// Field that a cause names: metadata.name.
	Field string `json:"field,omitempty"`
	// Message of the cause that names the field or, without a field, of the Status.
	Message *Text `json:"message,omitempty"`
	// Causes that must all be there, and no others.
	Causes []Cause `json:"causes,omitempty"`
	// By is who refuses: schema, webhook, policy, rbac or admission. A refusal that does not tell who it is from is by none of them.
	By string `json:"by,omitempty" fixed:"true"`
	// AnyOf holds alternatives, where a specification allows several answers: one of them must be met whole, besides the other fields. The report
	// says which one was.
	AnyOf []Rejection `json:"anyOf,omitempty"`
}

// Who can refuse a write, as Rejection.By names them.
const (
	// BySchema: what the kind itself demands of an object.
	BySchema = "schema"
	// ByWebhook: an admission webhook.
	ByWebhook = "webhook"
	// ByPolicy: an admission policy in CEL.
	ByPolicy = "policy"
	// ByRBAC: the API server's authorizers.
	ByRBAC = "rbac"
	// ByAdmission: an admission plugin that is built into the API server.
	ByAdmission = "admission"
)

// Refusers lists who can refuse a write.
func Refusers() []string { return []string{BySchema, ByWebhook, ByPolicy, ByRBAC, ByAdmission} }

// Codes are those that a refusal may be asked to have.
func (r *Rejection) Codes() []int {
	var codes []int
	if r.Code != 0 {
		codes = append(codes, r.Code)
	}
	for i := range r.AnyOf {
		codes = append(codes, r.AnyOf[i].Codes()...)
	}
	return codes
}

// Cause is one of a refusal's details (metav1.StatusCause).
type Cause struct {
	// Reason of the cause: FieldValueInvalid, ...
	Reason string `json:"reason,omitempty"`
	// Field that the cause names.
	Field string `json:"field,omitempty"`
	// Message of the cause.
	Message *Text `json:"message,omitempty"`
}

// Text is a condition on a text; as a plain string it is "contains". Each field that is set must hold, and one must be set.
type Text struct {
	// Contains this.
	Contains string `json:"contains,omitempty"`
	// Equals this. An empty text is written as matches: "^$".
	Equals string `json:"equals,omitempty"`
	// Matches this regular expression (RE2).
	Matches string `json:"matches,omitempty"`
}
