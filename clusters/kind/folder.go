package kind

import (
	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/folders"
)

// record is what a cluster's folder says of it: that it is ours, and enough to find it again.
type record struct {
	folders.Record

	// Ours are the flags that were ever set by a state, each with the value that it had before; null where it was not there.
	Ours map[clusters.Component]map[string]*string `json:"ours,omitempty"`
	// CreationRevision names the scheduler configuration of the creation, SchedulerRevision the one now; empty while they are the same.
	CreationRevision  string `json:"creationRevision,omitempty"`
	SchedulerRevision string `json:"schedulerRevision,omitempty"`
	// Towards is the version of a transition that did not arrive, or goes on: parts of the cluster may have it.
	Towards string `json:"towards,omitempty"`
	// Restarts counts those that were asked for.
	Restarts int `json:"restarts,omitempty"`
}

// Parts of a cluster's folder.
const (
	nodeFilesDir   = "node"
	kubeconfigFile = "kubeconfig"
	configFile     = "kind.yaml"
)
