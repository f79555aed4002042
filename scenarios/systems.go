package scenarios

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/scenarios/internal/decode"
	"github.com/rehearse-dev/rehearse/scenarios/internal/states"
	"github.com/rehearse-dev/rehearse/scenarios/internal/yamltree"
)

// besideFile makes the file names in the scenario's systems relative to the folder of the scenario's file.
func (s *Scenario) besideFile() {
	dir := filepath.Dir(s.Position.File)
	s.Spec.Cluster.Systems = slices.Clone(s.Spec.Cluster.Systems)
	for i, system := range s.Spec.Cluster.Systems {
		s.Spec.Cluster.Systems[i] = besideItsFile(dir, system)
	}
	for i := range s.Spec.Steps {
		if t := s.Spec.Steps[i].Transition; t != nil {
			for j, change := range t.Systems {
				t.Systems[j].System = besideItsFile(dir, change.System)
			}
		}
	}
}

// besideItsFile makes the file names of a system relative to the file that has them: its definition, or else the
// scenario, which is in the folder dir.
func besideItsFile(dir string, system clusters.System) clusters.System {
	if system.Definition != "" {
		dir, system.Definition = filepath.Dir(relativeTo(dir, system.Definition)), ""
	}
	return system.Beside(dir).At(system.Version)
}

// LoadSystem reads the definition of a system from a YAML file, with the same strict checks as in a scenario. File
// names in it are relative to the folder of that file.
func LoadSystem(path string) (clusters.System, error) {
	var system clusters.System
	file, err := yamltree.ReadSource(path)
	if err != nil {
		return system, err
	}
	found := &yamltree.Problems{}
	if root := readDefinition(file, found); root != nil {
		(&decode.Decoder{Found: found, Language: wording()}).Decode(root, reflect.ValueOf(&system).Elem())
		if len(found.List) == 0 {
			list := root.Like(yamltree.Sequence)
			list.Items = []*yamltree.Node{root}
			(&states.Check{Problems: found}).Systems([]clusters.System{system}, list)
		}
	}
	return besideItsFile(filepath.Dir(path), system), yamltree.JoinErrors(nil, found.List)
}

// ErrNoSuchSystem means that no scenario has the named system.
var ErrNoSuchSystem = errors.New("no scenario has this system")

// ReplaceSystem returns copies of the scenarios with another definition of the system with this name. It runs scenarios
// that were written for a simulator against the real system. It does not support transitions that change the installed
// system, except to remove it or to change the calls of its webhooks: the error lists all of them.
func ReplaceSystem(list []*Scenario, name string, with clusters.System) ([]*Scenario, error) {
	with.Name = name
	var errs []error
	replaced, found := eachSystem(list, name, func(s *Scenario, step *Step, there bool,
		system clusters.System,
	) clusters.System {
		if there && changesCalls(system) {
			return system
		}
		if there {
			errs = append(errs, fmt.Errorf("%s: scenario %s changes system %s, which is replaced by another definition; "+
				"leave the scenario out (--focus, --label)", step.Position, s.Title(), name))
		}
		configured, err := with, error(nil)
		if !there && system.Simulated != nil {
			configured, err = with.Configured(system.Simulated.Config)
		}
		if !there && err == nil {
			configured, err = withCalls(configured, system)
		}
		if err != nil {
			at := s.ClusterPosition
			if step != nil {
				at = step.Position
			}
			errs = append(errs, fmt.Errorf("%s: scenario %s: %w; leave the scenario out (--focus, --label)", at, s.Title(),
				err))
		}
		return configured
	})
	if !found {
		errs = append(errs, fmt.Errorf("replace system %s: %w", name, ErrNoSuchSystem))
	}
	return replaced, errors.Join(errs...)
}

// SetFaults returns copies of the scenarios with other faults of the simulated system with this name. They apply from
// its installation until a transition sets simulated again.
func SetFaults(list []*Scenario, name string, faults []string) ([]*Scenario, error) {
	return setSimulated(list, name, "faults", func(s *clusters.Simulated) { s.Faults = slices.Clone(faults) })
}

// SetLiberties is SetFaults for liberties.
func SetLiberties(list []*Scenario, name string, liberties []string) ([]*Scenario, error) {
	return setSimulated(list, name, "liberties", func(s *clusters.Simulated) { s.Liberties = slices.Clone(liberties) })
}

func setSimulated(list []*Scenario, name, what string, change func(*clusters.Simulated)) ([]*Scenario, error) {
	var errs []error
	set, found := eachSystem(list, name, func(s *Scenario, _ *Step, there bool, system clusters.System) clusters.System {
		if there {
			return system
		}
		if system.Simulated == nil {
			errs = append(errs, fmt.Errorf("%s: system %s of scenario %s is not simulated, and so has no %s to choose",
				s.ClusterPosition, name, s.Title(), what))
			return system
		}
		simulated := *system.Simulated
		change(&simulated)
		system.Simulated = &simulated
		return system
	})
	if !found {
		errs = append(errs, fmt.Errorf("set the %s of system %s: %w", what, name, ErrNoSuchSystem))
	}
	return set, errors.Join(errs...)
}

// eachSystem returns copies of the scenarios. It calls do for each definition and each change of the system, except
// removals, and uses the result instead. there reports whether the system is installed at that point. step is the
// transition; nil for the first state. The second result reports whether any scenario has the system.
func eachSystem(list []*Scenario, name string, do func(s *Scenario, step *Step, there bool,
	system clusters.System) clusters.System,
) ([]*Scenario, bool) {
	found := false
	var all []*Scenario
	for _, s := range list {
		there := false
		all = append(all, s.WithSystems(func(step *Step, change clusters.SystemChange) clusters.System {
			system := change.System
			if change.Name != name {
				return system
			}
			if !change.Remove {
				system = do(s, step, there, system)
			}
			found, there = true, !change.Remove
			return system
		}))
	}
	return all, found
}

// WithSystems returns a copy of the scenario with other systems. It calls instead for each system of the first state
// and for each system that a transition changes or removes, and uses the result. step is the transition; nil for the
// first state.
func (s *Scenario) WithSystems(instead func(step *Step, change clusters.SystemChange) clusters.System) *Scenario {
	c := *s
	c.origin = nil // reading it again would bring back the old systems
	c.Spec.Cluster.Systems = slices.Clone(s.Spec.Cluster.Systems)
	for i, system := range c.Spec.Cluster.Systems {
		c.Spec.Cluster.Systems[i] = instead(nil, clusters.SystemChange{System: system})
	}
	c.Spec.Steps = slices.Clone(s.Spec.Steps)
	for i := range c.Spec.Steps {
		if c.Spec.Steps[i].Transition == nil {
			continue
		}
		transition := *c.Spec.Steps[i].Transition
		transition.Systems = slices.Clone(transition.Systems)
		for j, change := range transition.Systems {
			transition.Systems[j].System = instead(&c.Spec.Steps[i], change)
		}
		c.Spec.Steps[i].Transition = &transition
	}
	return &c
}
