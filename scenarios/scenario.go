// Package scenarios is the scenario language: its types and its strict loader. The language reference is generated from
// the comments of the types.
package scenarios

import (
	"github.com/rehearse-dev/rehearse/clusters"
)

// APIVersion and Kind of a scenario document.
const (
	APIVersion = "rehearse.dev/v1alpha1"
	Kind       = "Scenario"
)

// Scenario is one YAML document: the first state of a cluster, and ordered steps.
type Scenario struct {
	// APIVersion is rehearse.dev/v1alpha1.
	APIVersion string `json:"apiVersion" fixed:"true"`
	// Kind is Scenario.
	Kind string `json:"kind" fixed:"true"`
	// Metadata names the scenario.
	Metadata Metadata `json:"metadata" fixed:"true"`
	// Spec is the content of the scenario.
	Spec Spec `json:"spec"`

	// Position is where the document starts, and ClusterPosition where it says what cluster it starts with.
	Position        Position `json:"-"`
	ClusterPosition Position `json:"-"`
	// Text is the whole file, for reports that show where a step is written.
	Text string `json:"-"`
	// Definitions are the files that define systems of the document, one after the other.
	Definitions string `json:"-"`
	// DefinitionFiles are the paths of these files, relative to the current folder.
	DefinitionFiles []string `json:"-"`
	// Case holds the values of this row when the scenario comes from a table (spec.cases); nil otherwise.
	Case map[string]any `json:"-"`
	// CaseName is the row's name, "" without a table.
	CaseName string `json:"-"`
	// origin is what the scenario was read from; nil if it was changed after that.
	origin *origin
}

// Metadata names a scenario.
type Metadata struct {
	// Name is a DNS-1123 subdomain, unique among the scenarios of a run.
	Name string `json:"name"`
	// Labels select scenarios (--label) and appear in reports; the label system names the scenario's suite.
	Labels map[string]string `json:"labels,omitempty"`
}

// Spec is the content of a scenario.
type Spec struct {
	// Description states in one sentence what must hold.
	Description string `json:"description,omitempty" fixed:"true"`
	// Covers lists the ids of the requirements that the scenario tests.
	Covers []string `json:"covers,omitempty" fixed:"true"`
	// Known lists known failures: such a failure is reported as known, and a success as a failure.
	Known []KnownIssue `json:"known,omitempty" fixed:"true"`
	// Needs lists the abilities that the scenario needs and that not every provider supports: exec (pods that run),
	// snapshots (snapshot and restore), components (kill and restart), metrics, dns (resolve), simulatedNodes (any number
	// of nodes, of any name and capacity), podImage (nodes that run the image localhost/rehearse-pod:1, a busybox that
	// sleeps), schedulers (more than one kube-scheduler), oneEtcd (the same etcd for all versions: a rollback below 1.34
	// and an even number of control planes need it), breakages (detecting which component a transition broke),
	// controlPlanes (more than one), mixedVersions (upTo and via), componentVersions (components of other versions),
	// emulation (emulatedVersion), webhookCalls (of a system), peerProxy (API servers that forward requests to one
	// another). If the provider lacks one, the scenario is reported as skipped.
	Needs []clusters.Ability `json:"needs,omitempty" fixed:"true"`
	// Cluster is the first state of the cluster.
	Cluster clusters.State `json:"cluster" fixed:"true"`
	// Cases is a table: the scenario is repeated with ${case.x} for each row. The column "name" names the repetition;
	// all rows have the same columns. Empty after loading, when each row is a separate scenario.
	Cases []map[string]any `json:"cases,omitempty" table:"true"`
	// Exclusive scenarios have a cluster to themselves. Other scenarios share clusters, except those that kill or restart
	// a component or a system, take or restore a snapshot, expect a broken cluster, count a metric, limit a latency, check
	// writes in a window, run a program, or change an object that others use, such as a Node.
	Exclusive bool `json:"exclusive,omitempty"`
	// Timeout of steps that set none. Default: --step-timeout (30s); 10m for a transition. It does not apply to the
	// restart or kill of a component or a system, nor to a snapshot or its restore, nor to survives, each look of which
	// may take 5m.
	Timeout Duration `json:"timeout,omitempty"`
	// Continue is the default of the steps' continue: with true all steps run, so that one run shows all failures.
	Continue bool `json:"continue,omitempty"`
	// Steps run in order; the scenario ends at the first failure, except if that step has continue.
	Steps []Step `json:"steps"`
}

// KnownIssue is a known failure, caused by a bug in other software.
type KnownIssue struct {
	// Covers lists the requirements that are not met.
	Covers []string `json:"covers"`
	// Versions of Kubernetes that have the issue: minors ("1.34") or exact versions ("1.34.4"). It applies if a state
	// on the scenario's path has one of them. If systems is set, versions may be left out: then any version counts.
	Versions []string `json:"versions,omitempty"`
	// Systems that have the issue, each with its versions: {kyverno: [v1.18.2]}, or {kyverno: [v1.18]} for each of that
	// minor. It applies if a state has one of them for each system, and one of the versions of Kubernetes, if given.
	Systems map[string][]string `json:"systems,omitempty"`
	// Step is the name of the step that fails; a failure of another step is an ordinary failure. A row of a table is
	// "name [row]".
	Step string `json:"step"`
	// Message must be contained in the problem that the step reports, or in its evidence. If the step has several
	// problems, the issue explains only those that contain it, and the scenario fails with the others. Default: any
	// failure of that step is the issue. With a message, the failure may also be a component that exited with this text
	// at the end of its log.
	Message string `json:"message,omitempty"`
	// Reason describes the problem in one sentence.
	Reason string `json:"reason"`
	// Link to the issue or discussion.
	Link string `json:"link,omitempty"`
}
