package program

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/harness/matrix"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// fetchedSystem is the system whose versions are built instead of those of the scenarios; none without a flag.
type fetchedSystem struct {
	flag     string
	versions []string

	// name of the system. definition is that of the flag's file, or nil.
	name       string
	definition *clusters.System
}

// definesItself reports whether the flag names a file, so that no scenarios are needed.
func (s *fetchedSystem) definesItself() bool { return strings.Contains(s.flag, "=") }

// read checks the flags, and reads the definition. args are those of the command.
func (s *fetchedSystem) read(args []string) error {
	if s.flag == "" {
		if len(s.versions) > 0 {
			return errors.New("--versions: name their system with --system")
		}
		return nil
	}
	var err error
	if s.name, s.definition, err = cli.NamedSystem(s.flag); err != nil {
		return err
	}
	if s.definition == nil && len(s.versions) == 0 {
		return fmt.Errorf("--versions: name the versions of %s", s.name)
	}
	if s.definition == nil && !slices.ContainsFunc(args, isPath) {
		return fmt.Errorf("--system %s: name the file or folder of scenarios that defines it, or give its definition: "+
			"%s=FILE.yaml", s.name, s.name)
	}
	if s.definition != nil && s.definition.Module == nil {
		return fmt.Errorf("--system %s: the file defines a system of kind %s, and only programs of a module are built",
			s.flag, s.definition.Kind())
	}
	return nil
}

// programs are those of a definition at the versions; at its own version if none are given.
func (s *fetchedSystem) programs(definition clusters.System) []clusters.ModuleProgram {
	versions := s.versions
	if len(versions) == 0 {
		versions = []string{definition.Version}
	}
	var all []clusters.ModuleProgram
	for _, version := range versions {
		if program, ok := definition.At(version).Program(); ok && !slices.Contains(all, program) {
			all = append(all, program)
		}
	}
	return all
}

// of are the programs of Go modules that a scenario needs.
func (s *fetchedSystem) of(scenario *scenarios.Scenario) []clusters.ModuleProgram {
	chosen := matrix.Replicas(scenario, s.name)
	var all []clusters.ModuleProgram
	for _, state := range scenario.Path() {
		for _, system := range state.Systems {
			program, ok := system.Program()
			switch {
			case s.definition != nil && system.Name == s.name: // the file replaces it
			case slices.Contains(chosen, system.Name):
				all = append(all, s.programs(system)...)
			case ok:
				all = append(all, program)
			}
		}
	}
	return all
}

// in returns an error if the scenarios must define the system, and have no program of it that can be built.
func (s *fetchedSystem) in(list []*scenarios.Scenario) error {
	if s.flag == "" || s.definition != nil {
		return nil
	}
	kind := ""
	for _, scenario := range list {
		chosen := matrix.Replicas(scenario, s.name)
		for _, state := range scenario.Path() {
			for _, system := range state.Systems {
				if !slices.Contains(chosen, system.Name) {
					continue
				}
				if len(s.programs(system)) > 0 {
					return nil
				}
				kind = system.Kind()
			}
		}
	}
	if kind == "" {
		return errors.New("no scenario has this system")
	}
	return fmt.Errorf("the system is %s, and only programs of a module are built", kind)
}
