// Package conformance runs a suite against an implementation, and judges which of the suite's requirements it meets.
package conformance

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness/planning"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/suites"
)

// Substitute replaces a simulated system with a real one.
type Substitute struct {
	// System is its name in the scenarios. Variant is the variant that it replaces. If Variant is "", it replaces the
	// system in scenarios that name no variant. For the system of a suite with profiles, it then also replaces the first
	// variant of the profile.
	System, Variant string
	// Definition of the system under test.
	Definition clusters.System
}

// selection contains the scenarios of a suite that apply to an implementation.
type selection struct {
	suite suites.Suite
	// profile of the implementation; nil selects all scenarios.
	profile *suites.Profile
	// substitutes are the replacements, by system and variant.
	substitutes scenarios.Variants

	// kept are the scenarios that will run. skipped are those that are not for the implementation or the provider, and
	// unplanned those that cannot be planned for another reason. why has the reasons of both, by title.
	kept, skipped, unplanned []*scenarios.Scenario
	why                      map[string]string
}

func newSelection(suite suites.Suite, profile, focus string, substitutes []Substitute) (*selection, error) {
	s := &selection{suite: suite, substitutes: scenarios.Variants{}, why: map[string]string{}}
	if profile != "" {
		found, err := suite.Profile(profile)
		if err != nil {
			return nil, err
		}
		s.profile = &found
	}
	for _, substitute := range substitutes {
		if err := s.substitute(substitute); err != nil {
			return nil, err
		}
	}
	pattern, err := regexp.Compile(focus)
	if err != nil {
		return nil, fmt.Errorf("focus %q is not a regular expression: %w", focus, err)
	}
	for _, scenario := range suite.Scenarios {
		if pattern.MatchString(scenario.Title()) && scenario.Metadata.Labels[suites.ReadingLabel] == "" &&
			s.inProfile(scenario) {
			s.take(scenario)
		}
	}
	return s, nil
}

// substitute records which variants a substitute replaces.
func (s *selection) substitute(by Substitute) error {
	if !slices.ContainsFunc(s.suite.Scenarios, func(c *scenarios.Scenario) bool { return has(c, by.System) }) {
		return fmt.Errorf("no scenario of suite %s has a system %q", s.suite.Name, by.System)
	}
	variants := []string{by.Variant}
	if by.Variant == "" && by.System == s.suite.System && len(s.suite.Profiles) > 0 {
		if s.profile == nil {
			var names []string
			for _, p := range s.suite.Profiles {
				names = append(names, p.Name)
			}
			return fmt.Errorf("choose the kind of implementation of %s: --profile %s", by.System,
				strings.Join(names, " or --profile "))
		}
		variants = append(variants, s.profile.Variants[0])
	}
	if s.substitutes[by.System] == nil {
		s.substitutes[by.System] = map[string]clusters.System{}
	}
	for _, variant := range variants {
		if _, twice := s.substitutes[by.System][variant]; twice {
			return fmt.Errorf("%s is given twice", scenarios.VariantName(by.System, variant))
		}
		definition := by.Definition
		definition.Name = by.System
		s.substitutes[by.System][variant] = definition
	}
	return nil
}

// has reports whether any state of the scenario contains a system of that name.
func has(c *scenarios.Scenario, system string) bool {
	return slices.ContainsFunc(c.Path(), func(state clusters.State) bool {
		_, ok := state.System(system)
		return ok
	})
}

// inProfile reports whether every variant of the suite's system in the scenario belongs to the profile.
func (s *selection) inProfile(c *scenarios.Scenario) bool {
	if s.profile == nil {
		return true
	}
	for _, variant := range suites.Variants(c, s.suite.System) {
		if variant != suites.DefaultVariant && !slices.Contains(s.profile.Variants, variant) {
			return false
		}
	}
	return true
}

// take keeps a scenario with its systems replaced, or skips it if they cannot be replaced.
func (s *selection) take(c *scenarios.Scenario) {
	replaced, why := c.Substitute(s.substitutes)
	if why != "" {
		s.skip(c, why)
		return
	}
	s.kept = append(s.kept, replaced)
}

// leaveOut removes a scenario that cannot be planned from those that will run. It is skipped only if the provider does
// not support it: every other reason must not look like a choice.
func (s *selection) leaveOut(out planning.LeftOut) {
	s.kept = slices.DeleteFunc(s.kept, func(c *scenarios.Scenario) bool { return c == out.Scenario })
	if planning.Unsupported(out.Err) {
		s.skip(out.Scenario, out.Err.Error())
		return
	}
	s.unplanned = append(s.unplanned, out.Scenario)
	s.why[out.Scenario.Title()] = "it cannot be planned: " + seen(out.Err.Error())
}

func (s *selection) skip(c *scenarios.Scenario, why string) {
	s.skipped = append(s.skipped, c)
	s.why[c.Title()] = why
}
