// Package scenarios is the scenario language: its types, whose comments are its reference, and its strict loader.
package scenarios

import (
	"github.com/rehearse-dev/rehearse/clusters"
)

// APIVersion and Kind of a scenario document.
const (
	APIVersion = "rehearse.dev/v1alpha1"
	Kind       = "Scenario"
)

// Scenario is one YAML document: the state a cluster starts in, and ordered steps.
type Scenario struct {
	// APIVersion is rehearse.dev/v1alpha1.
	APIVersion string `json:"apiVersion" fixed:"true"`
	// Kind is Scenario.
	Kind string `json:"kind" fixed:"true"`
	// Metadata names the scenario.
	Metadata Metadata `json:"metadata" fixed:"true"`
	// Spec is what the scenario does.
	Spec Spec `json:"spec"`

	// Position is where the document starts, and ClusterPosition where it says what cluster it starts with.
	Position        Position `json:"-"`
	ClusterPosition Position `json:"-"`
	// Text is the whole file, for reports that show where a step is written.
	Text string `json:"-"`
	// Case holds the values of this row when the scenario comes from a table (spec.cases); nil otherwise.
	Case map[string]any `json:"-"`
	// CaseName is the row's name, "" without a table.
	CaseName string `json:"-"`
}

// Metadata names a scenario.
type Metadata struct {
	// Name is unique among the scenarios of a run; a DNS-1123 subdomain.
	Name string `json:"name"`
	// Labels select scenarios (--label) and appear in reports; system names the suite that the scenario belongs to.
	Labels map[string]string `json:"labels,omitempty"`
}

// Spec is what a scenario does.
type Spec struct {
	// Description says in a sentence what must hold.
	Description string `json:"description,omitempty" fixed:"true"`
	// Covers lists the ids of the requirements that the scenario tests.
	Covers []string `json:"covers,omitempty" fixed:"true"`
	// Known lists failures that are known: there the failure is reported as known, and success is a failure.
	Known []KnownIssue `json:"known,omitempty" fixed:"true"`
	// Needs lists what the scenario needs of its clusters that not every provider supports: exec (pods that run),
	// snapshots (snapshot and restore), components (kill and restart), metrics, dns (resolve), simulatedNodes (as many as
	// wanted, of any name and capacity), podImage (nodes that run the image localhost/rehearse-pod:1, which is a busybox
	// that sleeps), schedulers (more than one kube-scheduler), oneEtcd (the same etcd for all versions, so that they go
	// down below 1.34), breakages (to tell which component a transition broke), controlPlanes (more than one),
	// mixedVersions (upTo and via), webhookCalls (of a system), peerProxy (API servers that pass requests on to one
	// another). Where the provider lacks one the scenario is skipped, and the report says so.
	Needs []clusters.Ability `json:"needs,omitempty" fixed:"true"`
	// Cluster is the state that the cluster starts in.
	Cluster clusters.State `json:"cluster" fixed:"true"`
	// Cases is a table: the scenario is repeated with ${case.x} for each row. A row's own "name" names its repetition;
	// all rows have the same columns. Empty once loaded: each row is a scenario of its own then.
	Cases []map[string]any `json:"cases,omitempty" table:"true"`
	// Exclusive scenarios have a cluster to themselves.
	Exclusive bool `json:"exclusive,omitempty"`
	// Timeout of each step that sets none. Default: --step-timeout, 30s.
	Timeout Duration `json:"timeout,omitempty"`
	// Continue is the default of the steps' own continue: with true every step is run, so that one run shows all that
	// fails.
	Continue bool `json:"continue,omitempty"`
	// Steps run in order; the scenario ends at the first that fails, unless that step says continue.
	Steps []Step `json:"steps"`
}

// KnownIssue is a failure that is known: somebody else's bug, with where to read of it.
type KnownIssue struct {
	// Covers lists the requirements that are not met.
	Covers []string `json:"covers"`
	// Versions of Kubernetes that have the issue: minors ("1.34") or exact versions ("1.34.4"). It applies where a
	// cluster on the scenario's path has one of them.
	Versions []string `json:"versions"`
	// Step is the name of the step that fails; a failure anywhere else is a failure. A row of a table is "name [row]".
	Step string `json:"step"`
	// Message is what the failure must contain. Default: any failure of that step is the issue. With a message the failure
	// may also be that a component of the cluster ended by itself, with these words at the end of its log.
	Message string `json:"message,omitempty"`
	// Reason says in a sentence what goes wrong.
	Reason string `json:"reason"`
	// Link to where it is discussed.
	Link string `json:"link,omitempty"`
}
