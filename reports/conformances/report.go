// Package conformances contains the report on which requirements of a specification an implementation meets, and its
// writers.
package conformances

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// APIVersion and Kind of a Report.
const (
	APIVersion = "rehearse.dev/v1alpha1"
	Kind       = "ConformanceReport"
)

// Report says which requirements of a specification an implementation meets, with the evidence.
type Report struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string `yaml:"kind"`
	// Date of the run's start, to the second.
	Date time.Time `yaml:"date"`
	// Suite that was run.
	Suite Suite `yaml:"suite"`
	// Profile of the suite, if it has several kinds of implementations; "" for all of it.
	Profile string `yaml:"profile,omitempty"`
	// Implementation that was tested.
	Implementation Implementation `yaml:"implementation"`
	// Interrupted says that the run did not finish.
	Interrupted bool `yaml:"interrupted,omitempty"`
	// Runs is how often the suite ran, if more than once.
	Runs int `yaml:"runs,omitempty"`
	// Focus is the regular expression that selected scenarios by name; "" if all ran.
	Focus string `yaml:"focus,omitempty"`
	// Summary is the result in one sentence.
	Summary string `yaml:"summary"`
	// Core and Extended are the results of the two levels.
	Core     Level `yaml:"core"`
	Extended Level `yaml:"extended"`
	// Variants of the system that were seen, with the results of their scenarios. Sorted.
	Variants []Variant `yaml:"variants,omitempty"`
	// Requirements in the order of the suite.
	Requirements []Requirement `yaml:"requirements"`
	// OutsideProfile are the requirements that no scenario of the profile covers, or only scenarios that the focus does
	// not match. They are not counted.
	OutsideProfile []string `yaml:"outsideProfile,omitempty"`
	// Scenarios are the evidence, in the order of the suite.
	Scenarios []Scenario `yaml:"scenarios"`
	// Reproduce says how to get this report again.
	Reproduce Reproduction `yaml:"reproduce"`
}

// Suite identifies the suite that ran.
type Suite struct {
	Name string `yaml:"name"`
	// Digest is equal for equal requirements and scenarios.
	Digest string `yaml:"digest"`
}

// Implementation is what was tested, and who makes it.
type Implementation struct {
	// Organization that makes it.
	Organization string `yaml:"organization"`
	// Project is its name.
	Project string `yaml:"project"`
	// URL of the project, which begins with https://.
	URL string `yaml:"url"`
	// Version that was tested.
	Version string `yaml:"version"`
	// Contact are people, teams or places for questions: @acme/maintainers, an address, an issue tracker.
	Contact []string `yaml:"contact"`
}

// Validate returns an error for everything that is missing or malformed.
func (i Implementation) Validate() error {
	var errs []error
	for _, field := range []struct{ name, value string }{
		{"organization", i.Organization}, {"project", i.Project}, {"url", i.URL}, {"version", i.Version},
	} {
		if strings.TrimSpace(field.value) == "" {
			errs = append(errs, fmt.Errorf("the implementation's %s is missing", field.name))
		} else if strings.ContainsAny(field.value, "\n\r") {
			errs = append(errs, fmt.Errorf("the implementation's %s has more than one line", field.name))
		}
	}
	if at, err := url.Parse(i.URL); i.URL != "" && (err != nil || (at.Scheme != "https" && at.Scheme != "http") ||
		at.Host == "") {
		errs = append(errs, fmt.Errorf("the implementation's url %q is not a URL that begins with https://", i.URL))
	}
	if len(i.Contact) == 0 {
		errs = append(errs, errors.New("the implementation's contact is missing"))
	}
	for _, contact := range i.Contact {
		if strings.TrimSpace(contact) == "" {
			errs = append(errs, errors.New("a contact of the implementation is empty"))
		}
	}
	return errors.Join(errs...)
}

// String returns organization/project version.
func (i Implementation) String() string {
	return fmt.Sprintf("%s/%s %s", i.Organization, i.Project, i.Version)
}

// Result is the result of a level.
type Result string

// The results of a level.
const (
	// Success: every requirement passed, and there is at least one.
	Success Result = "success"
	// Partial: none failed, but some could not be judged, or failed with a known issue.
	Partial Result = "partial"
	// Failure: a requirement failed, or was unstable.
	Failure Result = "failure"
	// NothingRequired: the level has no requirements.
	NothingRequired Result = "none"
)

// Level is the result for the requirements of one level.
type Level struct {
	Result     Result     `yaml:"result"`
	Statistics Statistics `yaml:"statistics"`
}

// Statistics counts requirements by their status.
type Statistics struct {
	Passed   int `yaml:"passed"`
	Failed   int `yaml:"failed"`
	Known    int `yaml:"known"`
	Untested int `yaml:"untested"`
	Unstable int `yaml:"unstable,omitempty"`
}

// Variant is a variant of the system, with the results of its scenarios.
type Variant struct {
	// Name of the variant. A scenario that goes through several variants counts for each.
	Name string `yaml:"name"`
	// Scenarios that had the variant, by result.
	Passed   int `yaml:"passed"`
	Failed   int `yaml:"failed"`
	Known    int `yaml:"known"`
	Untested int `yaml:"untested"`
}

// Status of a requirement or of a scenario.
type Status string

// The statuses.
const (
	// Passed: every scenario that covers it and could run passed, and at least one did.
	Passed Status = "passed"
	// Failed: a scenario that covers it failed.
	Failed Status = "failed"
	// Known: it is not met, as a known issue says.
	Known Status = "known"
	// Untested: it could not be judged.
	Untested Status = "untested"
	// Unstable: its results differ between runs.
	Unstable Status = "unstable"
	// Skipped: the scenario is not for this implementation or this provider, and did not start.
	Skipped Status = "skipped"
)

// Requirement is the result for one requirement.
type Requirement struct {
	ID     string `yaml:"id"`
	Level  string `yaml:"level"`
	Status Status `yaml:"status"`
	// Runs are its statuses in the runs, if they differ.
	Runs []Status `yaml:"runs,omitempty"`
	// Reason of the status, if it is not passed.
	Reason    string `yaml:"reason,omitempty"`
	Statement string `yaml:"statement"`
	Source    string `yaml:"source"`
	// Variant in which it is met, if there are several; otherwise "".
	Variant string `yaml:"variant,omitempty"`
	// Variants are the variants in which it is met in the runs, if they differ although all runs met it.
	Variants []string `yaml:"variants,omitempty"`
	// Scenarios that cover it, by their results for it.
	Scenarios Evidence `yaml:"scenarios"`
}

// Evidence lists titles of scenarios, by their results for a requirement.
type Evidence struct {
	Passed   []string `yaml:"passed,omitempty"`
	Failed   []string `yaml:"failed,omitempty"`
	Known    []string `yaml:"known,omitempty"`
	Untested []string `yaml:"untested,omitempty"`
	// Ended are those that ended early at a known issue with another requirement, without a result for this one.
	Ended []string `yaml:"ended,omitempty"`
	// Skipped are scenarios that are not for this implementation or this provider.
	Skipped []string `yaml:"skipped,omitempty"`
	// Others are for variants of the requirement that were not seen. They have no result for it.
	Others []string `yaml:"others,omitempty"`
	// Decided maps the title of a scenario to the step that decided, if it was one step and not the whole scenario.
	Decided map[string]string `yaml:"decided,omitempty"`
}

// Decide records the step of a scenario that decided.
func (e *Evidence) Decide(scenario, step string) {
	if e.Decided == nil {
		e.Decided = map[string]string{}
	}
	e.Decided[scenario] = step
}

// Blames reports whether a failed scenario has a result for a requirement: it shows that the requirement is violated,
// or that it is not met in one of its variants.
func (r *Report) Blames(scenario string) bool {
	return slices.ContainsFunc(r.Requirements, func(q Requirement) bool {
		return slices.Contains(q.Scenarios.Failed, scenario) || slices.Contains(q.Scenarios.Others, scenario)
	})
}

// Scenario is the result of one scenario.
type Scenario struct {
	// Name of the scenario, with its row.
	Name   string `yaml:"name"`
	Status Status `yaml:"status"`
	// Runs are its statuses in the runs, if they differ.
	Runs []Status `yaml:"runs,omitempty"`
	// Source is its file and line.
	Source string `yaml:"source"`
	// Path is the states of its cluster. Variants are those of the system in these states.
	Path     []string `yaml:"path,omitempty"`
	Variants []string `yaml:"variants,omitempty"`
	// Steps is how many steps passed, of how many.
	Steps string `yaml:"steps,omitempty"`
	// Cases are the generated cases, if the scenario is a rule with such cases.
	Cases *Cases `yaml:"cases,omitempty"`
	// Reason why it did not pass, in one line.
	Reason string `yaml:"reason,omitempty"`
	// Evidence is what was seen instead: where, in which state, and the whole message.
	Evidence string `yaml:"evidence,omitempty"`
}

// Cases are generated cases of a rule. For each, the implementation's verdict was compared with the specification's.
type Cases struct {
	// Seed of the generator. The same seed gives the same cases.
	Seed uint64 `yaml:"seed"`
	// Agreed is how many cases agreed before the first disagreement.
	Agreed int `yaml:"agreed"`
	// Disagreement is the smallest case found in which the implementation's verdict differs.
	Disagreement string `yaml:"disagreement,omitempty"`
}

// Reproduction says how to get a report again.
type Reproduction struct {
	// Command to run.
	Command string `yaml:"command"`
	// Rehearse is the version of this program.
	Rehearse string `yaml:"rehearse"`
	// Provider of the clusters.
	Provider string `yaml:"provider"`
	// Kubernetes are the versions that ran, sorted.
	Kubernetes []string `yaml:"kubernetes"`
}
