package suites

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"

	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/suites/cases"
	"github.com/rehearse-dev/rehearse/suites/simulators"
)

// Definition defines a suite. Each suite's package has one.
type Definition struct {
	// Name of the suite, of its folder of scenarios and of its simulator.
	Name string
	// System is what the scenarios call the system under test. Default: the suite's name.
	System string
	// Title says what the suite is about.
	Title string
	// Files contain requirements.yaml, and the folder scenarios. Without this folder, the scenarios are this project's
	// own, of the suite's name.
	Files fs.FS
	// Profiles of implementations; none if there is only one kind.
	Profiles []Profile
	// Rules for which cases can be drawn; none in most suites.
	Rules []cases.Rule
	// Simulator of the system; nil if the system is Kubernetes itself.
	Simulator *simulators.Simulator
	// Others are simulators of the systems that it works with, by name.
	Others simulators.Catalog
}

// Catalog returns the suite's simulators.
func (d Definition) Catalog() simulators.Catalog {
	all := simulators.Catalog{}
	if d.Simulator != nil {
		all[d.Name] = *d.Simulator
	}
	maps.Copy(all, d.Others)
	return all
}

// Requirements reads the suite's requirements, in the order of their file.
func (d Definition) Requirements() ([]Requirement, error) {
	return LoadRequirements(d.Files, "requirements.yaml")
}

// Load reads the suite with all its scenarios.
func (d Definition) Load() (Suite, error) {
	set, err := d.load()
	if err != nil {
		return Suite{}, fmt.Errorf("suite %s: %w", d.Name, err)
	}
	return d.Suite(set.Scenarios)
}

func (d Definition) load() (*scenarios.Set, error) {
	if _, err := fs.Stat(d.Files, "scenarios"); errors.Is(err, fs.ErrNotExist) {
		return scenarios.Library(d.Name)
	}
	files, err := fs.Sub(d.Files, "scenarios")
	if err != nil {
		return nil, err
	}
	return scenarios.LoadFS(files, path.Join(d.Name, "scenarios"))
}

// Suite returns the suite with these scenarios.
func (d Definition) Suite(list []*scenarios.Scenario) (Suite, error) {
	requirements, err := d.Requirements()
	if err != nil {
		return Suite{}, fmt.Errorf("suite %s: %w", d.Name, err)
	}
	suite := Suite{Name: d.Name, Requirements: requirements, Scenarios: list, Profiles: d.Profiles, Rules: d.Rules}
	if d.Simulator != nil {
		suite.System, suite.Faults = cmp.Or(d.System, d.Name), d.Simulator.Faults
		suite.Liberties = d.Simulator.Liberties
	}
	return suite, nil
}
