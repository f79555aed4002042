// Package record stores a cluster's data in its folder.
package record

import (
	"maps"
	"os"
	"path/filepath"
	"sync"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/folders"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/settings"
)

// Record stores what is known of a cluster in its folder: that it is ours, and enough to find it again.
type Record struct {
	// Dir is the cluster's folder.
	Dir string

	mu  sync.Mutex
	now content
}

// content is the content of the record's file.
type content struct {
	folders.Record

	// Engine is the program of the container engine that has the nodes, and Endpoint where it is; both are empty in
	// records of older versions.
	Engine   string `json:"engine,omitempty"`
	Endpoint string `json:"endpoint,omitempty"`
	// Ours are the flags that states have set, each with its earlier value; null if the flag was not set before.
	Ours map[clusters.Component]map[string]*string `json:"ours,omitempty"`
	// CreationRevision identifies the scheduler configuration at creation, SchedulerRevision the current one; empty
	// while they are the same.
	CreationRevision  string `json:"creationRevision,omitempty"`
	SchedulerRevision string `json:"schedulerRevision,omitempty"`
	// Towards is another version that parts of the cluster may have: during a transition, or after a failure or Hold.
	Towards string `json:"towards,omitempty"`
	// Restarts counts the requested restarts.
	Restarts int `json:"restarts,omitempty"`
	// Versions are the versions of the API servers, by control plane; empty while all have the version of the state.
	Versions []string `json:"versions,omitempty"`
	// Behind are the control planes that the last transition did not change, because it stopped before them.
	Behind []int `json:"behind,omitempty"`
	// Down are the control planes whose API servers were killed.
	Down []int `json:"down,omitempty"`
}

// New returns the record of a cluster that will be created in a state.
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
	return r, folders.Write(dir, r.now)
}

// Read reads the record in a folder.
func Read(dir string) (*Record, error) {
	r := &Record{Dir: dir}
	return r, folders.Read(dir, &r.now)
}

// Open locks the folder of a cluster for this process, and reads the record in it.
func Open(dir string) (r *Record, lock *os.File, err error) {
	r = &Record{Dir: dir}
	lock, err = folders.Open(dir, &r.now)
	return r, lock, err
}

// UseEngine records the engine that will have the nodes.
func (r *Record) UseEngine(program, endpoint string) error {
	return r.change(func(now *content) { now.Engine, now.Endpoint = program, endpoint })
}

// Engine returns the program of the engine that has the nodes, and where it is; "" if that is not recorded.
func (r *Record) Engine() (program, endpoint string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now.Engine, r.now.Endpoint
}

// Name returns the cluster's name.
func (r *Record) Name() string { return r.now.Name }

// Kubeconfig returns the path of the administrator's kubeconfig.
func (r *Record) Kubeconfig() string { return filepath.Join(r.Dir, kubeconfigFile) }

// State returns the state that the cluster is in.
func (r *Record) State() clusters.State {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now.State
}

// Created records that the cluster exists, and whether it outlives this process.
func (r *Record) Created(lasting bool) error {
	return r.change(func(now *content) { now.Lasting = lasting })
}

// SetOut records that a transition to a version begins. It returns another version that parts of the cluster may have
// from an earlier transition; "" for none.
func (r *Record) SetOut(version string) (mixed string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now.Towards != r.now.State.Version {
		mixed = r.now.Towards
	}
	if version == r.now.State.Version {
		return mixed, nil
	}
	r.now.Towards = version
	return mixed, folders.Write(r.Dir, r.now)
}

// Arrive records that the cluster is in a state. Flags that the state does not set have their earlier values again,
// on every node.
func (r *Record) Arrive(state clusters.State) error {
	return r.change(func(now *content) {
		now.State, now.Towards, now.Versions, now.Behind, now.Down = state, "", nil, nil, nil
		for component, ours := range now.Ours {
			wanted := settings.StateFlags(state, component)
			maps.DeleteFunc(ours, func(name string, _ *string) bool { _, still := wanted[name]; return !still })
		}
	})
}

// OursOf returns a copy of what is recorded about a component's flags.
func (r *Record) OursOf(component clusters.Component) map[string]*string {
	r.mu.Lock()
	defer r.mu.Unlock()
	ours := maps.Clone(r.now.Ours[component])
	if ours == nil {
		ours = map[string]*string{}
	}
	return ours
}

// Remember records what is known about a component's flags.
func (r *Record) Remember(component clusters.Component, ours map[string]*string) error {
	return r.change(func(now *content) { now.Ours[component] = ours })
}

// NextRestart returns the number of the next requested restart.
func (r *Record) NextRestart() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now.Restarts++
	return r.now.Restarts
}

// Mark records a revision of kube-scheduler's configuration, and returns what to mark the manifest with: "" while the
// scheduler has the configuration that it was created with.
func (r *Record) Mark(revision string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now.SchedulerRevision == "" && revision == r.now.CreationRevision {
		return ""
	}
	r.now.SchedulerRevision = revision
	return revision
}

// change changes the record, and saves it.
func (r *Record) change(edit func(*content)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	edit(&r.now)
	return folders.Write(r.Dir, r.now)
}
