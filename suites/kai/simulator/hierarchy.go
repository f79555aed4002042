package simulator

import (
	"errors"
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/suites/kai/api"
	"github.com/rehearse-dev/rehearse/suites/simulators/fault"
)

// hierarchy contains the rules for the sub groups of a PodGroup: valid names, no duplicates, existing parents, no
// cycles. Only the first violation is reported.
type hierarchy struct {
	// judgeNames: names are checked.
	judgeNames bool
	faults     fault.Set
}

// check applies the rules in order.
func (h hierarchy) check(groups []api.SubGroup) error {
	for _, rule := range h.order() {
		if err := rule(groups); err != nil {
			return err
		}
	}
	return nil
}

func (h hierarchy) order() []func([]api.SubGroup) error {
	type rules = []func([]api.SubGroup) error
	switch {
	case h.faults.Has(namesAfterHierarchy):
		return rules{h.parents, h.cycles, h.elements}
	case h.faults.Has(duplicatesBeforeNames):
		return rules{h.duplicates, h.elements, h.parents, h.cycles}
	case h.faults.Has(cyclesBeforeParents):
		return rules{h.elements, h.cycles, h.parents}
	case h.faults.Has(cyclesBeforeDuplicates):
		return rules{h.cycles, h.elements, h.parents}
	}
	return rules{h.elements, h.parents, h.cycles}
}

// elements checks the list in order: the name of each sub group, and then whether an earlier one has the same name.
func (h hierarchy) elements(groups []api.SubGroup) error {
	if len(groups) == 0 && h.faults.Has(subGroupsRequired) {
		return errors.New("a pod group needs a subgroup")
	}
	var all []error
	seen := map[string]bool{}
	for i, group := range groups {
		if err := h.name(i, group.Name); err != nil {
			if !h.faults.Has(allNamesReported) {
				return err
			}
			all = append(all, err)
		}
		if seen[group.Name] && !h.faults.Has(duplicatesUnchecked) {
			return errors.Join(append(all, duplicate(group.Name))...)
		}
		seen[group.Name] = true
	}
	return errors.Join(all...)
}

func (h hierarchy) name(i int, name string) error {
	if !h.judgeNames || h.faults.Has(namesUnchecked) || (i > 0 && h.faults.Has(onlyFirstName)) {
		return nil
	}
	return names{h.faults}.check(name)
}

// allNames checks nothing but the names, in the order of the list.
func (h hierarchy) allNames(groups []api.SubGroup) error {
	for i, group := range groups {
		if err := h.name(i, group.Name); err != nil {
			return err
		}
	}
	return nil
}

func (h hierarchy) duplicates(groups []api.SubGroup) error {
	seen := map[string]bool{}
	for _, group := range groups {
		if seen[group.Name] {
			return duplicate(group.Name)
		}
		seen[group.Name] = true
	}
	return nil
}

func duplicate(name string) error { return fmt.Errorf("duplicate subgroup name %s", name) }

// parents looks for each parent among the names. It reports the first parent in the list that is missing.
func (h hierarchy) parents(groups []api.SubGroup) error {
	if h.faults.Has(parentsUnchecked) {
		return nil
	}
	exists := map[string]bool{}
	for _, group := range groups {
		exists[group.Name] = true
	}
	for _, group := range groups {
		if parent, ok := h.parentOf(group); ok && !exists[parent] {
			return fmt.Errorf("parent %s of %s was not found", *group.Parent, group.Name)
		}
	}
	return nil
}

// parentOf returns the name with which the parent of a sub group is looked up.
func (h hierarchy) parentOf(group api.SubGroup) (parent string, ok bool) {
	switch {
	case group.Parent == nil:
		return "", false
	case *group.Parent == "" && h.faults.Has(emptyParentIsRoot):
		return "", false
	case h.faults.Has(parentCaseIgnored):
		return strings.ToLower(*group.Parent), true
	}
	return *group.Parent, true
}

// cycles follows the parents of each sub group, and checks whether they lead back to it.
func (h hierarchy) cycles(groups []api.SubGroup) error {
	parents := map[string]string{}
	for _, group := range groups {
		if parent, ok := h.parentOf(group); ok {
			parents[group.Name] = parent
		}
	}
	for i, group := range groups {
		if i > 0 && h.faults.Has(cyclesFromFirst) {
			break
		}
		if length := cycleThrough(group.Name, parents); length > 0 && !h.overlooks(length) {
			return errors.New("cycle detected in subgroups")
		}
	}
	return nil
}

// cycleThrough returns the length of the cycle that contains the name; 0 if there is none.
func cycleThrough(name string, parents map[string]string) int {
	at := name
	for length := 1; length <= len(parents); length++ {
		parent, ok := parents[at]
		if !ok {
			return 0
		}
		if parent == name {
			return length
		}
		at = parent
	}
	return 0
}

// overlooks reports whether a fault hides cycles of this length.
func (h hierarchy) overlooks(length int) bool {
	return (length == 1 && h.faults.Has(selfParentAllowed)) || (length > 2 && h.faults.Has(longCyclesOverlooked))
}
