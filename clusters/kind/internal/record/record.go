// Package record stores a cluster's data in its folder.
package record

import (
	"maps"
	"path/filepath"
	"sync"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/folders"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/settings"
)

// Record is what a cluster's folder says of it: that it is ours, and enough to find it again.
type Record struct {
	// Dir is the cluster's folder.
	Dir string

	mu  sync.Mutex
	now content
}

// content of the record's file.
type content struct {
	folders.Record

	// Ours are the flags that were ever set by a state, each with the value that it had before; null where it was not
	// there.
	Ours map[clusters.Component]map[string]*string `json:"ours,omitempty"`
	// CreationRevision names the scheduler configuration of the creation, SchedulerRevision the one now; empty while
	// they are the same.
	CreationRevision  string `json:"creationRevision,omitempty"`
	SchedulerRevision string `json:"schedulerRevision,omitempty"`
	// Towards is the version of a transition that did not arrive, or goes on: parts of the cluster may have it.
	Towards string `json:"towards,omitempty"`
	// Restarts counts those that were asked for.
	Restarts int `json:"restarts,omitempty"`
	// Versions are those of the API servers, by control plane; empty while all have the version of the state.
	Versions []string `json:"versions,omitempty"`
	// Behind are the control planes that the last transition did not change, because it was to stop before them.
	Behind []int `json:"behind,omitempty"`
}

// New is of a cluster that is to be created in a state.
func New(dir, name string, state clusters.State) (*Record, error) {
	r := &Record{
		Dir: dir,
		now: content{Record: folders.Record{Name: name, State: state}, Ours: map[clusters.Component]map[string]*string{}},
	}
	for _, component := range append(clusters.ControlPlane(), clusters.Kubelet) {
		r.now.Ours[component] = settings.ReplacedAtCreation(component, state)
	}
	var err error
	if r.now.CreationRevision, err = settings.SchedulerRevision(state); err != nil {
		return nil, err
	}
	return r, r.save()
}

// Read reads the one of a folder.
func Read(dir string) (*Record, error) {
	r := &Record{Dir: dir}
	return r, folders.Read(dir, &r.now)
}

// Name of the cluster.
func (r *Record) Name() string { return r.now.Name }

// Kubeconfig is the administrator's.
func (r *Record) Kubeconfig() string { return filepath.Join(r.Dir, kubeconfigFile) }

// State that the cluster is in.
func (r *Record) State() clusters.State {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now.State
}

// Created notes that the cluster is there, and whether it outlives this process.
func (r *Record) Created(lasting bool) error {
	r.mu.Lock()
	r.now.Lasting = lasting
	r.mu.Unlock()
	return r.save()
}

// SetOut notes that the cluster is on its way to a version, and returns the version that an earlier transition did
// not reach, "" for none: parts of the cluster may have it.
func (r *Record) SetOut(version string) (mixed string, err error) {
	r.mu.Lock()
	if r.now.Towards != r.now.State.Version {
		mixed = r.now.Towards
	}
	changed := version != r.now.State.Version
	if changed {
		r.now.Towards = version
	}
	r.mu.Unlock()
	if changed {
		err = r.save()
	}
	return mixed, err
}

// Arrive notes that the cluster is in a state. What the state says nothing of has gone back to what it was, on every
// node.
func (r *Record) Arrive(state clusters.State) error {
	r.mu.Lock()
	r.now.State, r.now.Towards, r.now.Versions, r.now.Behind = state, "", nil, nil
	for component, ours := range r.now.Ours {
		wanted := settings.StateFlags(state, component)
		maps.DeleteFunc(ours, func(name string, _ *string) bool { _, still := wanted[name]; return !still })
	}
	r.mu.Unlock()
	return r.save()
}

// OursOf returns a copy of what is recorded of a component's flags.
func (r *Record) OursOf(component clusters.Component) map[string]*string {
	r.mu.Lock()
	defer r.mu.Unlock()
	ours := maps.Clone(r.now.Ours[component])
	if ours == nil {
		ours = map[string]*string{}
	}
	return ours
}

// Remember what is recorded of a component's flags.
func (r *Record) Remember(component clusters.Component, ours map[string]*string) error {
	r.mu.Lock()
	r.now.Ours[component] = ours
	r.mu.Unlock()
	return r.save()
}

// NextRestart numbers the restarts that were asked for.
func (r *Record) NextRestart() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now.Restarts++
	return r.now.Restarts
}

// Mark is what to mark kube-scheduler's manifest with for a revision of its configuration: nothing while it is what
// the scheduler was created with.
func (r *Record) Mark(revision string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now.SchedulerRevision == "" && revision == r.now.CreationRevision {
		return ""
	}
	r.now.SchedulerRevision = revision
	return revision
}

func (r *Record) save() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return folders.Write(r.Dir, r.now)
}
