package harness

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/onsi/ginkgo/v2/types"

	"github.com/rehearse-dev/rehearse/scenarios"
)

// ErrNothingSelected says that no scenario is left to run; a run that ran nothing is not a success.
var ErrNothingSelected = errors.New("no scenario is selected")

// Filter keeps the scenarios whose title the focus (a regular expression) matches, and whose labels the expression holds of, in
// the syntax of Ginkgo's label filters. Empty ones keep all. Its error wraps ErrNothingSelected when none is left.
func Filter(set []*scenarios.Scenario, focus, labels string) ([]*scenarios.Scenario, error) {
	pattern, err := regexp.Compile(focus)
	if err != nil {
		return nil, fmt.Errorf("focus %q is no regular expression: %w", focus, err)
	}
	holds := func([]string) bool { return true }
	if labels != "" {
		filter, err := types.ParseLabelFilter(labels)
		if err != nil {
			return nil, fmt.Errorf("label filter %q: %w", labels, err)
		}
		holds = filter
	}
	var kept []*scenarios.Scenario
	for _, s := range set {
		if pattern.MatchString(s.Title()) && holds(Labels(s)) {
			kept = append(kept, s)
		}
	}
	if len(kept) == 0 {
		return nil, fmt.Errorf("%w: of %s, none has a title that matches %q and labels that satisfy %q",
			ErrNothingSelected, count(len(set), "scenario"), focus, labels)
	}
	return kept, nil
}

// Labels are the scenario's labels as Ginkgo has them: "key:value" and "value" for each, and the requirements that it covers.
func Labels(s *scenarios.Scenario) []string {
	var all []string
	for _, key := range slices.Sorted(maps.Keys(s.Metadata.Labels)) {
		value := s.Metadata.Labels[key]
		all = append(all, key+":"+value)
		if value != "" {
			all = append(all, value)
		}
	}
	return unique(append(all, s.Spec.Covers...))
}
