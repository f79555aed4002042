// Package conformances has the report on which requirements of a specification an implementation meets, and its
// writers.
package conformances

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// APIVersion and Kind of a Report.
const (
	APIVersion = "rehearse.dev/v1alpha1"
	Kind       = "ConformanceReport"
)

// Report says which requirements of a specification an implementation meets, and on what evidence.
type Report struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string `yaml:"kind"`
	// Date of the run's start, to the second.
	Date time.Time `yaml:"date"`
	// Suite that was run.
	Suite Suite `yaml:"suite"`
	// Profile of the suite, where it has several kinds of implementations; "" for all of it.
	Profile string `yaml:"profile,omitempty"`
	// Implementation that was tested.
	Implementation Implementation `yaml:"implementation"`
	// Interrupted says that the run did not come to its end.
	Interrupted bool `yaml:"interrupted,omitempty"`
	// Runs is how often the suite was run, where that was more than once.
	Runs int `yaml:"runs,omitempty"`
	// Focus is the regular expression that names of scenarios had to match; "" where all were run.
	Focus string `yaml:"focus,omitempty"`
	// Summary is the result in one sentence.
	Summary string `yaml:"summary"`
	// Core and Extended are the results of the two levels.
	Core     Level `yaml:"core"`
	Extended Level `yaml:"extended"`
	// Variants of the system that were seen: what came of the scenarios that had them. Sorted.
	Variants []Variant `yaml:"variants,omitempty"`
	// Requirements in the order of the suite.
	Requirements []Requirement `yaml:"requirements"`
	// OutsideProfile are the requirements that no scenario of the profile covers, or none that the focus matches. They
	// count nowhere.
	OutsideProfile []string `yaml:"outsideProfile,omitempty"`
	// Scenarios are the evidence, in the order of the suite.
	Scenarios []Scenario `yaml:"scenarios"`
	// Reproduce says how to get this report again.
	Reproduce Reproduction `yaml:"reproduce"`
}

// Suite names a suite as it was.
type Suite struct {
	Name string `yaml:"name"`
	// Digest is the same for the same requirements and scenarios.
	Digest string `yaml:"digest"`
}

// Implementation is what was tested, and whose it is.
type Implementation struct {
	// Organization that makes it.
	Organization string `yaml:"organization"`
	// Project is its name.
	Project string `yaml:"project"`
	// URL of the project: https://...
	URL string `yaml:"url"`
	// Version that was tested.
	Version string `yaml:"version"`
	// Contact are people or teams to ask: @acme/maintainers, an address, an issue tracker.
	Contact []string `yaml:"contact"`
}

// Validate says everything that is missing or malformed.
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

// String is organization/project version.
func (i Implementation) String() string {
	return fmt.Sprintf("%s/%s %s", i.Organization, i.Project, i.Version)
}

// Result is what came of a level.
type Result string

// The results of a level.
const (
	// Success: every requirement passed, and there was at least one.
	Success Result = "success"
	// Partial: none failed, but some could not be judged, or failed as a known issue says.
	Partial Result = "partial"
	// Failure: a requirement failed, or was unstable.
	Failure Result = "failure"
	// NothingRequired: the level has no requirements.
	NothingRequired Result = "none"
)

// Level is what came of the requirements of a level.
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

// Variant is a variant of the system, and what came of the scenarios that had it.
type Variant struct {
	// Name of the variant; a scenario that goes through several counts for each.
	Name string `yaml:"name"`
	// Scenarios that had the variant, by what came of them.
	Passed   int `yaml:"passed"`
	Failed   int `yaml:"failed"`
	Known    int `yaml:"known"`
	Untested int `yaml:"untested"`
}

// Status of a requirement or of a scenario.
type Status string

// The statuses.
const (
	// Passed: every scenario that covers it and could be run passed, and at least one did.
	Passed Status = "passed"
	// Failed: a scenario that covers it failed.
	Failed Status = "failed"
	// Known: it is not met, just as a known issue says.
	Known Status = "known"
	// Untested: it could not be judged.
	Untested Status = "untested"
	// Unstable: it came out differently in several runs.
	Unstable Status = "unstable"
	// Skipped: the scenario is not for this implementation or this provider, and was not begun.
	Skipped Status = "skipped"
)

// Requirement is what came of one requirement.
type Requirement struct {
	ID     string `yaml:"id"`
	Level  string `yaml:"level"`
	Status Status `yaml:"status"`
	// Runs are its statuses in the runs, where they differ.
	Runs []Status `yaml:"runs,omitempty"`
	// Reason of the status, where it is not passed.
	Reason    string `yaml:"reason,omitempty"`
	Statement string `yaml:"statement"`
	Source    string `yaml:"source"`
	// Variant in which it was seen to be met, where there are several; "" where there are not, or it is not met.
	Variant string `yaml:"variant,omitempty"`
	// Scenarios that cover it, by what they say of it.
	Scenarios Evidence `yaml:"scenarios"`
}

// Evidence is titles of scenarios, by what they say of a requirement.
type Evidence struct {
	Passed   []string `yaml:"passed,omitempty"`
	Failed   []string `yaml:"failed,omitempty"`
	Known    []string `yaml:"known,omitempty"`
	Untested []string `yaml:"untested,omitempty"`
	// Ended early at a known issue with another requirement, so that they say nothing of this one.
	Ended []string `yaml:"ended,omitempty"`
	// Skipped are not for this implementation or this provider.
	Skipped []string `yaml:"skipped,omitempty"`
	// Others are of variants of the requirement that were not seen. They say nothing of it.
	Others []string `yaml:"others,omitempty"`
	// Decided is the step that decided, by the title of its scenario, where it was one step and not the whole scenario.
	Decided map[string]string `yaml:"decided,omitempty"`
}

// Decide takes note of the step of a scenario that decided.
func (e *Evidence) Decide(scenario, step string) {
	if e.Decided == nil {
		e.Decided = map[string]string{}
	}
	e.Decided[scenario] = step
}

// Scenario is what came of one scenario.
type Scenario struct {
	// Name of the scenario, with its row.
	Name   string `yaml:"name"`
	Status Status `yaml:"status"`
	// Runs are its statuses in the runs, where they differ.
	Runs []Status `yaml:"runs,omitempty"`
	// Source is its file and line.
	Source string `yaml:"source"`
	// Path is the states that its cluster went through, and Variants those of the system in them.
	Path     []string `yaml:"path,omitempty"`
	Variants []string `yaml:"variants,omitempty"`
	// Steps that passed, of how many.
	Steps string `yaml:"steps,omitempty"`
	// Cases are what was drawn, where the scenario is a rule of which cases were generated.
	Cases *Cases `yaml:"cases,omitempty"`
	// Reason why it did not pass, in a line.
	Reason string `yaml:"reason,omitempty"`
	// Evidence of what was seen instead: where, in which state, and the whole message.
	Evidence string `yaml:"evidence,omitempty"`
}

// Cases are generated cases of a rule, on each of which the implementation's verdict was compared with the
// specification's.
type Cases struct {
	// Seed that they were drawn with: the same seed draws the same cases.
	Seed uint64 `yaml:"seed"`
	// Agreed is how many there were until one disagreed.
	Agreed int `yaml:"agreed"`
	// Disagreement is the smallest case found that the implementation judges otherwise.
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
