package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/suites"
	"github.com/rehearse-dev/rehearse/suites/cases"
	"github.com/rehearse-dev/rehearse/suites/grove"
	"github.com/rehearse-dev/rehearse/suites/grove/kaischeduler"
	grovesimulator "github.com/rehearse-dev/rehearse/suites/grove/simulator"
	"github.com/rehearse-dev/rehearse/suites/kai"
	kaisimulator "github.com/rehearse-dev/rehearse/suites/kai/simulator"
	"github.com/rehearse-dev/rehearse/suites/kubernetes"
	"github.com/rehearse-dev/rehearse/suites/leaderworkerset"
	lwssimulator "github.com/rehearse-dev/rehearse/suites/leaderworkerset/simulator"
	"github.com/rehearse-dev/rehearse/suites/porch"
	porchsimulator "github.com/rehearse-dev/rehearse/suites/porch/simulator"
	"github.com/rehearse-dev/rehearse/suites/simulators"
)

// suiteEntry is where the parts of a suite come from. Its name is also that of its folder of scenarios and of its simulator.
type suiteEntry struct {
	name string
	// system is what the scenarios call the system under test, "" for Kubernetes itself.
	system       string
	requirements func() ([]suites.Requirement, error)
	profiles     []suites.Profile
	// rules of which cases can be drawn; none in most suites.
	rules []cases.Rule
	// simulator of the system; the zero value where there is none.
	simulator simulators.Simulator
	// others are simulators of what the system works with, by name.
	others simulators.Catalog
}

// allSuites lists the suites. A new one is one entry here.
func allSuites() []suiteEntry {
	return []suiteEntry{
		{name: "kubernetes", requirements: kubernetes.Requirements, rules: kubernetes.Rules()},
		{
			name: lwssimulator.Name, system: lwssimulator.Name, requirements: leaderworkerset.Requirements,
			simulator: simulators.Simulator{
				Run: func(ctx context.Context, o simulators.Options) error {
					return lwssimulator.Run(ctx, lwssimulator.Options(o))
				},
				Faults:   faultsOf(lwssimulator.Faults(), func(f lwssimulator.Fault) simulators.Fault { return simulators.Fault(f) }),
				Variants: lwssimulator.Variants(), Probes: lwssimulator.Probes(),
			},
		},
		{
			name: kaisimulator.Name, system: kaisimulator.Name, requirements: kai.Requirements, profiles: kai.Profiles(), rules: kai.Rules(),
			simulator: simulators.Simulator{
				Run: func(ctx context.Context, o simulators.Options) error {
					return kaisimulator.Run(ctx, kaisimulator.Options(o))
				},
				Faults:   faultsOf(kaisimulator.Faults(), func(f kaisimulator.Fault) simulators.Fault { return simulators.Fault(f) }),
				Variants: kaisimulator.Variants(), Probes: kaisimulator.Probes(),
			},
		},
		{
			name: porchsimulator.Name, system: porchsimulator.Name, requirements: porch.Requirements, rules: porch.Rules(),
			simulator: simulators.Simulator{
				Run: func(ctx context.Context, o simulators.Options) error {
					return porchsimulator.Run(ctx, porchsimulator.Options(o))
				},
				Faults:   faultsOf(porchsimulator.Faults(), func(f porchsimulator.Fault) simulators.Fault { return simulators.Fault(f) }),
				Variants: porchsimulator.Variants(), Probes: porchsimulator.Probes(), Hosts: porchsimulator.Hosts(),
			},
		},
		{
			name: grovesimulator.Name, system: grovesimulator.Name, requirements: grove.Requirements,
			simulator: simulators.Simulator{
				RunConfigured: func(ctx context.Context, o simulators.Options, config []byte) error {
					return grovesimulator.Run(ctx, grovesimulator.Options(o), config)
				},
				Faults:   faultsOf(grovesimulator.Faults(), func(f grovesimulator.Fault) simulators.Fault { return simulators.Fault(f) }),
				Variants: grovesimulator.Variants(), Probes: grovesimulator.Probes(),
			},
			others: simulators.Catalog{kaischeduler.Name: simulators.Simulator{
				Run: func(ctx context.Context, o simulators.Options) error {
					return kaischeduler.Run(ctx, kaischeduler.Options(o))
				},
			}},
		},
	}
}

func faultsOf[F any](list []F, convert func(F) simulators.Fault) []simulators.Fault {
	var all []simulators.Fault
	for _, fault := range list {
		all = append(all, convert(fault))
	}
	return all
}

func suiteNames() []string {
	var names []string
	for _, entry := range allSuites() {
		names = append(names, entry.name)
	}
	return names
}

// findSuite loads a suite by its name.
func findSuite(name string) (suites.Suite, error) {
	for _, entry := range allSuites() {
		if entry.name == name {
			return entry.load()
		}
	}
	return suites.Suite{}, fmt.Errorf("there is no suite %q; there are: %s", name, strings.Join(suiteNames(), ", "))
}

func (e suiteEntry) load() (suites.Suite, error) {
	requirements, err := e.requirements()
	if err != nil {
		return suites.Suite{}, fmt.Errorf("suite %s: %w", e.name, err)
	}
	set, err := scenarios.Library(e.name)
	if err != nil {
		return suites.Suite{}, fmt.Errorf("suite %s: %w", e.name, err)
	}
	return suites.Suite{
		Name: e.name, System: e.system, Requirements: requirements, Scenarios: set.Scenarios, Faults: e.simulator.Faults, Profiles: e.profiles, Rules: e.rules,
	}, nil
}
