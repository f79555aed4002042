package suites

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/suites/cases"
	"github.com/rehearse-dev/rehearse/suites/simulators"
)

// Suite is what is required of one system, the scenarios that test it, and the bugs that its simulator can have.
type Suite struct {
	// Name by which the suite is asked for.
	Name string
	// System is what the scenarios call the system under test; "" when that is Kubernetes itself.
	System string
	// Requirements in the order in which they are written.
	Requirements []Requirement
	// Scenarios that test them.
	Scenarios []*scenarios.Scenario
	// Faults of the simulator; none where the suite has no simulator.
	Faults []simulators.Fault
	// Liberties of the simulator.
	Liberties []simulators.Liberty
	// Profiles of implementations; none where there is only one kind.
	Profiles []Profile
	// Rules of which cases can be drawn; none in most suites.
	Rules []cases.Rule
}

// Profile is a kind of implementation: those of the system's variants that one is, and was before.
type Profile struct {
	// Name by which the profile is asked for.
	Name string
	// Variants of the system that the profile's scenarios have. The first is what the implementation under test is; the
	// others are what it was in older versions.
	Variants []string
}

// Profile finds a profile by its name.
func (s Suite) Profile(name string) (Profile, error) {
	i := slices.IndexFunc(s.Profiles, func(p Profile) bool { return p.Name == name })
	if i >= 0 {
		return s.Profiles[i], nil
	}
	if len(s.Profiles) == 0 {
		return Profile{}, fmt.Errorf("suite %s has no profiles", s.Name)
	}
	var names []string
	for _, p := range s.Profiles {
		names = append(names, p.Name)
	}
	return Profile{}, fmt.Errorf("suite %s has no profile %q; it has %q", s.Name, name, names)
}

// ReadingLabel is the label of a scenario that shows another reading of a requirement than the one that is taken for
// right: the name of the variant.
const ReadingLabel = "reading"

// Covering are the scenarios that cover a requirement as it is stated.
func (s Suite) Covering(id string) []*scenarios.Scenario { return s.Readings(id, "") }

// Readings are the scenarios that show a variant of a requirement.
func (s Suite) Readings(id, variant string) []*scenarios.Scenario {
	return slices.DeleteFunc(slices.Clone(s.Scenarios), func(c *scenarios.Scenario) bool {
		return !slices.Contains(c.Spec.Covers, id) || c.Metadata.Labels[ReadingLabel] != variant
	})
}

// Breaking are the faults that break a requirement.
func (s Suite) Breaking(id string) []simulators.Fault {
	return slices.DeleteFunc(slices.Clone(s.Faults), func(f simulators.Fault) bool {
		return !slices.Contains(f.Breaks,
			id)
	})
}

// Concerning are the liberties because of which the suite could wrongly call a requirement broken.
func (s Suite) Concerning(id string) []simulators.Liberty {
	return slices.DeleteFunc(slices.Clone(s.Liberties), func(l simulators.Liberty) bool { return !l.Concerns(id) })
}

// Check says what is wrong with the suite itself: a requirement that no scenario covers, an id that is no requirement,
// a scenario that does not say what it is or is of no profile, a fault that breaks none, and, where there is a
// simulator, a core requirement without a fault that breaks it or a reason why there is none.
func (s Suite) Check() error {
	var errs []error
	uncovered, unknown := Coverage(s.Requirements, s.Scenarios)
	for _, r := range uncovered {
		errs = append(errs, fmt.Errorf("no scenario covers %s: %s", r.ID, r.Statement))
	}
	for _, u := range unknown {
		errs = append(errs, errors.New(u.String()))
	}
	for _, c := range s.Scenarios {
		errs = append(errs, s.checkScenario(c)...)
	}
	for _, rule := range s.Rules {
		for _, id := range rule.Covers {
			if len(s.Covering(id)) == 0 {
				errs = append(errs, fmt.Errorf("rule %s covers %s, which no scenario does", rule.Name, id))
			}
		}
	}
	return errors.Join(append(errs, s.checkFaults()...)...)
}

// checkScenario wants to know of every scenario which suite it is of, what it is about and what it covers, its known
// issues and the reading that it shows included.
func (s Suite) checkScenario(c *scenarios.Scenario) []error {
	var errs []error
	wrong := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("%s: %s: %s", c.Position, c.Title(), fmt.Sprintf(format, args...)))
	}
	if c.Metadata.Labels["system"] != s.Name {
		wrong("its labels %v do not say system: %s", c.Metadata.Labels, s.Name)
	}
	if c.Spec.Description == "" || len(c.Spec.Covers) == 0 {
		wrong("it needs a description and what it covers")
	}
	for _, issue := range c.Spec.Known {
		for _, id := range issue.Covers {
			if !slices.Contains(c.Spec.Covers, id) {
				wrong("it knows of an issue with %s, which it does not cover", id)
			}
		}
	}
	if variants := Variants(c, s.System); len(s.Profiles) > 0 && !slices.ContainsFunc(s.Profiles,
		func(p Profile) bool { return p.fits(variants) }) {
		wrong("it goes through the variants %q, which are of no profile", variants)
	}
	if reading := c.Metadata.Labels[ReadingLabel]; reading != "" && !s.shows(c, reading) {
		wrong("it shows the reading %s, which is no other variant of the one requirement that it covers", reading)
	}
	return errs
}

// shows says whether the scenario covers one requirement, of which the reading is a variant, and not the first.
func (s Suite) shows(c *scenarios.Scenario, reading string) bool {
	return slices.ContainsFunc(s.Requirements, func(r Requirement) bool {
		return len(c.Spec.Covers) == 1 && c.Spec.Covers[0] == r.ID && slices.Contains(r.others(), reading)
	})
}

// fits says whether the profile's implementation is one of these variants, and was the others.
func (p Profile) fits(variants []string) bool {
	strange := func(variant string) bool { return !slices.Contains(p.Variants, variant) }
	return slices.Contains(variants, p.Variants[0]) && !slices.ContainsFunc(variants, strange)
}

func (s Suite) checkFaults() []error {
	var errs []error
	names := map[string]bool{}
	for _, f := range s.Faults {
		if names[f.Name] {
			errs = append(errs, fmt.Errorf("two faults are called %s", f.Name))
		}
		names[f.Name] = true
		if f.Sentence == "" {
			errs = append(errs, fmt.Errorf("fault %s does not say what goes wrong", f.Name))
		}
		if len(f.Breaks) == 0 {
			errs = append(errs, fmt.Errorf("fault %s breaks nothing", f.Name))
		}
		for _, id := range f.Breaks {
			if !slices.ContainsFunc(s.Requirements, func(r Requirement) bool { return r.ID == id }) {
				errs = append(errs, fmt.Errorf("fault %s breaks %s, which is no requirement", f.Name, id))
			}
		}
	}
	for _, r := range s.Requirements {
		switch broken := s.Breaking(r.ID); {
		case r.NoFault != "" && len(broken) > 0:
			errs = append(errs, fmt.Errorf("requirement %s says why no fault breaks it, but %s does", r.ID, broken[0].Name))
		case len(s.Faults) > 0 && r.Level == Core && r.NoFault == "" && len(broken) == 0:
			errs = append(errs, fmt.Errorf("no fault breaks the core requirement %s; add one, or say why there is none "+
				"(noFault): %s", r.ID, r.Statement))
		}
	}
	return errs
}

// Digest is the same for the same requirements and scenarios, wherever they were read from.
func (s Suite) Digest() (string, error) {
	sum := sha256.New()
	encoder := json.NewEncoder(sum)
	for _, r := range s.Requirements {
		if err := encoder.Encode(r); err != nil {
			return "", fmt.Errorf("digest of suite %s: requirement %s: %w", s.Name, r.ID, err)
		}
	}
	for _, c := range s.Scenarios {
		if err := encoder.Encode([]any{c, c.CaseName}); err != nil {
			return "", fmt.Errorf("digest of suite %s: scenario %s: %w", s.Name, c.Title(), err)
		}
	}
	return hex.EncodeToString(sum.Sum(nil))[:16], nil
}
