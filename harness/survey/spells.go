package survey

import (
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/reports/upgrades"
)

// spell is one cause of a series, and the states at which it was seen.
type spell struct {
	severity upgrades.Severity
	class    string
	states   []int
}

// spells are the causes of a series, in the order in which they were first seen.
type spells []*spell

// with adds an outcome of a state. An equal class is the same cause. So is another class, if the state before was alike
// and the check allows it (oneCause). What cannot be judged is one cause.
func (all spells) with(severity upgrades.Severity, class string, state, before int, check Check) spells {
	for _, one := range all {
		if one.severity == severity && (one.class == class || severity == upgrades.Unjudged) {
			one.states = append(one.states, state)
			return all
		}
	}
	for _, one := range all {
		if one.severity == severity && slices.Contains(one.states, before) && oneCause(check, one.class, class) {
			one.states = append(one.states, state)
			return all
		}
	}
	return append(all, &spell{severity, class, []int{state}})
}

// oneCause reports whether different outcomes of two states in a row have one cause. A request that is rejected at both
// has: versions use different words. What describes an object has if the later outcome names nothing new: no path, no
// condition and no warning. An event has not.
func oneCause(check Check, before, now string) bool {
	split := strings.Fields
	switch {
	case check == Moved:
		return false
	case check == Warning:
		split = func(warnings string) []string { return strings.Split(warnings, betweenParts) }
	case !describes(check):
		return true
	}
	known := split(before)
	return !slices.ContainsFunc(split(now), func(word string) bool {
		return !slices.ContainsFunc(known, func(other string) bool { return within(word, other) })
	})
}

// describes reports whether the class of a check's outcome lists what an object has lost.
func describes(check Check) bool { return slices.Contains([]Check{Content, Keep, Condition}, check) }

// within reports whether a path is another one, or is inside of it.
func within(path, other string) bool {
	rest, inside := strings.CutPrefix(path, other)
	return inside && (rest == "" || rest[0] == '.' || rest[0] == '[')
}
