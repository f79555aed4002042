package suites

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"

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
	// Files contain requirements.yaml.
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
