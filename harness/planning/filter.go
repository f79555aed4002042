package planning

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/onsi/ginkgo/v2/types"

	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// ErrNothingSelected says that no scenario is left to run. An empty run is not a success.
var ErrNothingSelected = errors.New("no scenario is selected")

// Filter keeps the scenarios whose title matches the focus (a regular expression), and whose labels satisfy the
// expression, which has the syntax of Ginkgo's label filters. An empty argument matches all. If none is left, the
// error wraps ErrNothingSelected, and lists what can be selected.
func Filter(set []*scenarios.Scenario, focus, labels string) ([]*scenarios.Scenario, error) {
	pattern, err := regexp.Compile(focus)
	if err != nil {
		return nil, fmt.Errorf("focus %q is not a regular expression: %w", focus, err)
	}
	holds := func([]string) bool { return true }
	if labels != "" {
		filter, err := types.ParseLabelFilter(labels)
		if err != nil {
			return nil, fmt.Errorf("--label %q is not a label expression: want, for example, 'kep:5311 && !slow:minutes'",
				labels)
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
		return nil, nothingSelected(set, focus, labels)
	}
	return kept, nil
}

// nothingSelected names the conditions, and what can be selected.
func nothingSelected(set []*scenarios.Scenario, focus, labels string) error {
	var conditions, there []string
	if focus != "" {
		var titles []string
		for _, s := range set {
			titles = append(titles, s.Title())
		}
		conditions = append(conditions, fmt.Sprintf("a name that matches --focus %q", focus))
		there = append(there, "names: "+some(titles))
	}
	if labels != "" {
		var all []string
		for _, s := range set {
			all = append(all, Labels(s)...)
		}
		slices.Sort(all)
		conditions = append(conditions, fmt.Sprintf("labels that satisfy --label %q", labels))
		there = append(there, "labels: "+some(reports.Union(all)))
	}
	if len(conditions) == 0 {
		return ErrNothingSelected
	}
	return fmt.Errorf("%w: none of %s has %s\n  %s", ErrNothingSelected, count(len(set), "scenario"),
		strings.Join(conditions, " and "), strings.Join(there, "\n  "))
}

// some returns the first of many words, and how many more there are.
func some(words []string) string {
	const most = 40
	switch {
	case len(words) == 0:
		return "none"
	case len(words) <= most:
		return strings.Join(words, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(words[:most], ", "), len(words)-most)
}

// Labels returns the scenario's labels in the form of Ginkgo, "key:value" and "value" for each, and the requirements
// that it covers.
func Labels(s *scenarios.Scenario) []string {
	var all []string
	for _, key := range slices.Sorted(maps.Keys(s.Metadata.Labels)) {
		value := s.Metadata.Labels[key]
		all = append(all, key+":"+value)
		if value != "" {
			all = append(all, value)
		}
	}
	return reports.Union(append(all, s.Spec.Covers...))
}
