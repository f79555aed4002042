package jobs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kustomization"
	"github.com/rehearse-dev/rehearse/clusters/systems"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// References returns the files that scenarios and systems name: definitions, CustomResourceDefinitions, webhooks and
// manifests, relative to the current folder. loaded are all scenarios of the files, and selected those that run. A
// program that is named is an error, because pods have only those of the image.
func References(loaded, selected []*scenarios.Scenario, defined []clusters.System) ([]string, error) {
	here, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("find what the shards read: %w", err)
	}
	r := named{here: here}
	for _, s := range loaded {
		for _, path := range s.DefinitionFiles {
			r.add(path)
		}
	}
	for _, s := range selected {
		if err := r.scenario(s); err != nil {
			return nil, err
		}
	}
	for _, system := range defined {
		all := []clusters.System{system}
		for _, version := range system.Versions {
			all = append(all, system.At(version.From))
		}
		for _, one := range all {
			if err := r.system(one); err != nil {
				return nil, err
			}
		}
	}
	return r.files, nil
}

// named collects files. here is the current folder.
type named struct {
	here  string
	files []string
}

// scenario adds what a scenario's systems name.
func (r *named) scenario(s *scenarios.Scenario) error {
	for _, state := range s.Path() {
		for _, system := range state.Systems {
			if err := r.system(system); err != nil {
				return fmt.Errorf("%s: scenario %s: %w", s.ClusterPosition, s.Title(), err)
			}
		}
	}
	for i := range s.Spec.Steps {
		step := &s.Spec.Steps[i]
		if step.Command == nil || len(step.Command.Run) == 0 {
			continue
		}
		program := clusters.ProgramBeside(filepath.Dir(s.Position.File), step.Command.Run[0])
		if err := r.program(program); err != nil {
			return fmt.Errorf("%s: %w", step.Position, err)
		}
	}
	return nil
}

// system adds what a system names.
func (r *named) system(system clusters.System) error {
	if system.Process != nil && len(system.Process.Command) > 0 {
		if err := r.program(system.Process.Command[0]); err != nil {
			return fmt.Errorf("system %s: %w", system.Name, err)
		}
	}
	for _, name := range systems.Files(system) {
		if !kustomization.In(name) {
			r.add(name)
			continue
		}
		read, err := kustomization.Files(name)
		if err != nil {
			return fmt.Errorf("system %s: %w", system.Name, err)
		}
		for _, file := range read {
			r.add(file)
		}
	}
	return nil
}

// program returns an error for a program that is a file below the current folder.
func (r *named) program(path string) error {
	if name := r.relative(path); strings.ContainsRune(path, '/') && filepath.IsLocal(name) {
		return fmt.Errorf("the pods do not get the program %s: put it into the image, and use --in-image", name)
	}
	return nil
}

func (r *named) add(path string) { r.files = append(r.files, r.relative(path)) }

// relative returns the path relative to the current folder, if the file is below it.
func (r *named) relative(path string) string {
	if !filepath.IsAbs(path) {
		return path
	}
	for _, here := range []string{r.here, evaluated(r.here)} {
		if name, err := filepath.Rel(here, path); err == nil && filepath.IsLocal(name) {
			return name
		}
	}
	return path
}

// evaluated returns the path without symbolic links, which kustomize evaluates.
func evaluated(path string) string {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return path
	}
	return real
}
