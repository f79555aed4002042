package systems

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/processes"
	"github.com/rehearse-dev/rehearse/clusters/systems/internal/installing"
	"github.com/rehearse-dev/rehearse/clusters/systems/internal/objects"
	"github.com/rehearse-dev/rehearse/clusters/systems/internal/outages"
	"github.com/rehearse-dev/rehearse/clusters/systems/internal/places"
)

// system is an installed system.
type system struct {
	definition clusters.System
	// installed: it was seen to serve as defined.
	installed bool
	// built is the program of a module system.
	built clusters.BuiltModule
	// installation is what the cluster has of it.
	installation installing.Installation
	// place and process of a process system.
	place   *places.Place
	program program
	process *processes.Process
	// started is when the process was started.
	started time.Time
	// watched: the exit of the process is noticed.
	watched bool
	// pardon of the process, after outages of the API server.
	pardon outages.Pardon
	// unready: the process need not be ready, since it was not before the cluster changed, or when it was killed.
	unready bool
}

// Inventory lists the objects that were created for systems, by system name: they must be deleted with it.
type Inventory map[string][]objects.Reference

// roster is the installed systems, in the order in which they were installed, and the logs of all that ever ran.
type roster struct {
	mu      sync.Mutex
	systems []*system
	logs    map[string][]string
}

// all returns the systems in their order.
func (r *roster) all() []*system {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.systems)
}

// system returns the system of a name; nil if it is not installed.
func (r *roster) system(name string) *system {
	all := r.all()
	if i := slices.IndexFunc(all, func(s *system) bool { return s.definition.Name == name }); i >= 0 {
		return all[i]
	}
	return nil
}

// add adds a system, for which objects were created already.
func (r *roster) add(definition clusters.System, created []objects.Reference) *system {
	r.mu.Lock()
	defer r.mu.Unlock()
	sys := &system{definition: definition, installation: installing.Installation{
		System: definition.Name, Objects: slices.Clone(created),
	}}
	r.systems = append(r.systems, sys)
	return sys
}

func (r *roster) forget(sys *system) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.systems = slices.DeleteFunc(r.systems, func(known *system) bool { return known == sys })
}

// addLog adds the log file of a system's new process.
func (r *roster) addLog(name, file string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.logs == nil {
		r.logs = map[string][]string{}
	}
	r.logs[name] = append(r.logs[name], file)
}

// replicasBeside returns the other replicas of a system's service.
func (r *roster) replicasBeside(sys *system) []*system {
	return slices.DeleteFunc(r.all(), func(other *system) bool { return other == sys || !replicas(sys, other) })
}

// installationsBeside returns the installations of the other replicas of the service of a system.
func (r *roster) installationsBeside(system string) []*installing.Installation {
	var all []*installing.Installation
	for _, other := range r.replicasBeside(r.system(system)) {
		all = append(all, &other.installation)
	}
	return all
}

// Inventory returns what was created for the installed systems.
func (r *roster) Inventory() Inventory {
	all := Inventory{}
	for _, sys := range r.all() {
		all[sys.definition.Name] = slices.Clone(sys.installation.Objects)
	}
	return all
}

// LogFiles returns the log files of every system's process, one for each start, in order.
func (r *roster) LogFiles() map[string][]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	files := map[string][]string{}
	for name, logs := range r.logs {
		files[name] = slices.Clone(logs)
	}
	return files
}

// Collect copies the processes' logs into a folder.
func (r *roster) Collect(_ context.Context, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the folder for the systems' logs: %w", err)
	}
	var errs []error
	for _, files := range r.LogFiles() {
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, filepath.Base(file)), data, 0o600)
			}
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("collect the systems' logs: %w", err)
	}
	return nil
}
