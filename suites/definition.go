package suites

import (
	"cmp"
	"fmt"
	"maps"

	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/suites/cases"
	"github.com/rehearse-dev/rehearse/suites/simulators"
)

// Definition is what makes a suite. Each suite's package has one.
type Definition struct {
	// Name of the suite, of its folder of scenarios and of its simulator.
	Name string
	// System is what the scenarios call the system under test. Default: the suite's name.
	System string
	// Title says what the suite is about.
	Title string
	// Requirements reads what is required.
	Requirements func() ([]Requirement, error)
	// Profiles of implementations; none where there is only one kind.
	Profiles []Profile
	// Rules of which cases can be drawn; none in most suites.
	Rules []cases.Rule
	// Simulator of the system; nil where the system is Kubernetes itself.
	Simulator *simulators.Simulator
	// Others are simulators of what the system works with, by name.
	Others simulators.Catalog
}

// Catalog is the simulators that the suite brings.
func (d Definition) Catalog() simulators.Catalog {
	all := simulators.Catalog{}
	if d.Simulator != nil {
		all[d.Name] = *d.Simulator
	}
	maps.Copy(all, d.Others)
	return all
}

// Suite is the suite with these scenarios.
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
