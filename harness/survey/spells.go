package survey

import (
	"slices"

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

// with adds an outcome of a state. An equal class is the same cause. So is another class if the state before was alike
// and the check is about a lasting failure (lasting): versions use different words. What cannot be judged is one cause.
func (all spells) with(severity upgrades.Severity, class string, state, before int, lasting bool) spells {
	for _, one := range all {
		if one.severity == severity && (one.class == class || severity == upgrades.Unjudged) {
			one.states = append(one.states, state)
			return all
		}
	}
	for _, one := range all {
		if lasting && one.severity == severity && slices.Contains(one.states, before) {
			one.states = append(one.states, state)
			return all
		}
	}
	return append(all, &spell{severity, class, []int{state}})
}
