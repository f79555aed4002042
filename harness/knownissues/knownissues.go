// Package knownissues finds the known issues that apply to a path of states, and the failures that match them.
package knownissues

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// Applies reports whether a cluster on the path has one of the versions with the issue, of Kubernetes and of systems.
func Applies(issue scenarios.KnownIssue, path []clusters.State) bool {
	return slices.ContainsFunc(path, func(state clusters.State) bool {
		for name, versions := range issue.Systems {
			if !hasSystem(state, name, versions) {
				return false
			}
		}
		return hasVersion(state, issue.Versions) || len(issue.Versions) == 0 && len(issue.Systems) > 0
	})
}

func hasVersion(state clusters.State, versions []string) bool {
	version, err := clusters.ParseVersion(state.Version)
	return err == nil && slices.ContainsFunc(versions, func(text string) bool {
		with, err := clusters.ParseVersion(text)
		if err != nil {
			return false
		}
		if !with.Exact() {
			return with.MinorString() == version.MinorString()
		}
		return with.Compare(version) == 0
	})
}

func hasSystem(state clusters.State, name string, versions []string) bool {
	system, there := state.System(name)
	return there && slices.ContainsFunc(versions,
		func(text string) bool { return clusters.IsSystemVersion(system.Version, text) })
}

// Applying returns the scenario's known issues that apply to the path.
func Applying(s *scenarios.Scenario, path []clusters.State) []scenarios.KnownIssue {
	var all []scenarios.KnownIssue
	for _, issue := range s.Spec.Known {
		if Applies(issue, path) {
			all = append(all, issue)
		}
	}
	return all
}

// Explain returns the outcome of a step with regard to known issues, and the issues that occurred. The outcome is known
// if each of its problems is explained by an issue; otherwise it is that of the other problems. An error of the cluster
// or the harness is never known, with two exceptions, if the issue has a message: a component that ended by itself, and
// what could not be judged beside a failure.
func Explain(issues []scenarios.KnownIssue, step *scenarios.Step, o reports.Outcome,
	died bool,
) (reports.Outcome, []scenarios.KnownIssue) {
	ended := died && o.Status == reports.Error
	if o.Status != reports.Failed && !ended {
		return o, nil
	}
	occurred := make([]bool, len(issues))
	var others []reports.Outcome
	problems := o.Each()
	for _, problem := range problems {
		n := slices.IndexFunc(issues, func(issue scenarios.KnownIssue) bool {
			return step.Named(issue.Step) && says(problem, issue.Message) &&
				(issue.Message != "" || problem.Status != reports.Error)
		})
		if n < 0 {
			others = append(others, problem)
			continue
		}
		occurred[n] = true
	}
	var known []scenarios.KnownIssue
	for n, issue := range issues {
		if occurred[n] {
			known = append(known, issue)
		}
	}
	switch {
	case len(others) == 0:
		o.Status = reports.Known
	case len(others) < len(problems):
		o.Status, o.Message = left(others, o.Message, known)
	}
	return o, known
}

func says(problem reports.Outcome, text string) bool {
	return strings.Contains(problem.Message, text) || strings.Contains(problem.Evidence, text)
}

// left returns the status and the message of a step with problems that known issues do not explain. all is the message
// of the whole step.
func left(others []reports.Outcome, all string, known []scenarios.KnownIssue) (reports.Status, string) {
	status := reports.Error
	var messages []string
	for _, problem := range others {
		if problem.Status == reports.Failed {
			status = reports.Failed
		}
		messages = append(messages, problem.Message)
	}
	return status, fmt.Sprintf("%s\nThis is not known, unlike the rest (%s) of what the step says:\n%s",
		strings.Join(messages, "\n"), Reasons(known), all)
}

// Reasons returns the reasons of known issues for a person, each once.
func Reasons(issues []scenarios.KnownIssue) string {
	var all []string
	for _, issue := range issues {
		if why := reason(issue); !slices.Contains(all, why) {
			all = append(all, why)
		}
	}
	return strings.Join(all, "; ")
}

// reason returns the reason of a known issue, with a link to more.
func reason(issue scenarios.KnownIssue) string {
	if issue.Link == "" {
		return issue.Reason
	}
	return fmt.Sprintf("%s (%s)", issue.Reason, issue.Link)
}

// UnexpectedSuccess says that known issues did not happen although they apply.
func UnexpectedSuccess(issues []scenarios.KnownIssue) string {
	var lines []string
	for _, issue := range issues {
		lines = append(lines, fmt.Sprintf("known issue did not happen at step %q: %s; remove it from `known`", issue.Step,
			reason(issue)))
	}
	return strings.Join(lines, "\n")
}

// Covers returns the requirements that known issues affect.
func Covers(issues []scenarios.KnownIssue) []string {
	var all []string
	for _, issue := range issues {
		for _, requirement := range issue.Covers {
			if !slices.Contains(all, requirement) {
				all = append(all, requirement)
			}
		}
	}
	return all
}
