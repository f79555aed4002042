package suites

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/suites/cases"
	"github.com/rehearse-dev/rehearse/suites/simulators"
)

// Suite has the requirements of one system, the scenarios that test it, and the bugs that its simulator can have.
type Suite struct {
	// Name with which the user selects the suite.
	Name string
	// System is what the scenarios call the system under test; "" if that is Kubernetes itself.
	System string
	// Requirements in the order of the file.
	Requirements []Requirement
	// Scenarios that test them.
	Scenarios []*scenarios.Scenario
	// Faults of the simulator; none if the suite has no simulator.
	Faults []simulators.Fault
	// Liberties of the simulator.
	Liberties []simulators.Liberty
	// Profiles of implementations; none if there is only one kind.
	Profiles []Profile
	// Rules for which cases can be drawn; none in most suites.
	Rules []cases.Rule
}

// Profile is a kind of implementation: the variants of the system that its current and its older versions have.
type Profile struct {
	// Name with which the user selects the profile.
	Name string
	// Variants of the system in the profile's scenarios. The first is the variant of the implementation under test; the
	// others are the variants of its older versions.
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

// ReadingLabel is the label of a scenario that shows another reading of a requirement than the statement. Its value
// is the name of the variant.
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
		return !slices.Contains(f.Breaks, id)
	})
}

// Concerning are the liberties because of which the suite could wrongly call a requirement broken.
func (s Suite) Concerning(id string) []simulators.Liberty {
	return slices.DeleteFunc(slices.Clone(s.Liberties), func(l simulators.Liberty) bool { return !l.Concerns(id) })
}

// SlowLabel is the label of scenarios that wait for minutes. `make slow` runs them, and `make test-all` does not.
const SlowLabel = "slow"

// Touches reports whether a liberty is tried with a scenario: it is not slow, and covers what the liberty is about.
func Touches(l simulators.Liberty, c *scenarios.Scenario) bool {
	_, slow := c.Metadata.Labels[SlowLabel]
	return !slow && slices.ContainsFunc(c.Spec.Covers, l.Concerns)
}

// Check reports what is wrong with the suite itself: a requirement that no scenario covers, a variant that none
// shows, an id that no requirement has, a scenario that does not say what it is or fits no profile, a fault that breaks
// nothing, a liberty that cannot be tried, and, if there is a simulator, a core requirement that no fault breaks and
// that does not say why.
func (s Suite) Check() error {
	var errs []error
	uncovered, unknown := Coverage(s.Requirements, s.Scenarios)
	for _, r := range uncovered {
		errs = append(errs, fmt.Errorf("no scenario covers %s: %s", r.ID, r.Statement))
	}
	for _, r := range s.Requirements {
		for _, variant := range r.others() {
			if len(s.Readings(r.ID, variant)) == 0 {
				errs = append(errs, fmt.Errorf("nothing can meet %s as its variant %s: no scenario that covers it has the label "+
					"%s: %s", r.ID, variant, ReadingLabel, variant))
			}
		}
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
	for _, l := range s.Liberties {
		if !slices.ContainsFunc(s.Scenarios, func(c *scenarios.Scenario) bool { return Touches(l, c) }) {
			errs = append(errs, fmt.Errorf("no scenario that is not slow covers a requirement that liberty %s is about: %s",
				l.Name, strings.Join(l.About, ", ")))
		}
	}
	return errors.Join(append(errs, s.checkFaults()...)...)
}

// checkScenario checks that a scenario says which suite it belongs to, what it is about and what it covers, and that
// its known issues, variants and reading fit.
func (s Suite) checkScenario(c *scenarios.Scenario) []error {
	var errs []error
	wrong := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("%s: %s: %s", c.Position, c.Title(), fmt.Sprintf(format, args...)))
	}
	if c.Metadata.Labels["system"] != s.Name {
		wrong("give it the label system: %s, the name of its suite", s.Name)
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

// shows reports whether the scenario covers exactly one requirement, and the reading is a variant of it other than
// the first.
func (s Suite) shows(c *scenarios.Scenario, reading string) bool {
	return slices.ContainsFunc(s.Requirements, func(r Requirement) bool {
		return len(c.Spec.Covers) == 1 && c.Spec.Covers[0] == r.ID && slices.Contains(r.others(), reading)
	})
}

// fits reports whether a scenario with these variants belongs to the profile: they include its first variant, and
// none that it does not have.
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

// Digest identifies the requirements and scenarios. It does not depend on where they were read from.
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
