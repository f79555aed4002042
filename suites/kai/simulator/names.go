package simulator

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/suites/simulators/fault"
)

// maxNameBytes is the maximal length of a name.
const maxNameBytes = 63

// patterns of a name: the rule's, and those that the faults use instead.
var (
	namePattern         = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
	trailingDashPattern = regexp.MustCompile(`^[a-z0-9][-a-z0-9]*$`)
	lineByLinePattern   = regexp.MustCompile(`(?m)^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
	twoOrMorePattern    = regexp.MustCompile(`^[a-z0-9][-a-z0-9]*[a-z0-9]$`)
	letterFirstPattern  = regexp.MustCompile(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)
)

// names is the rule for the name of a sub group.
type names struct {
	faults fault.Set
}

// check checks for emptiness, then length, then characters.
func (n names) check(name string) error {
	if name == "" && !n.faults.Has(emptyNameUnchecked) {
		return errors.New("subgroup name cannot be empty")
	}
	checks := []func(string) error{n.length, n.characters}
	if n.faults.Has(charactersBeforeLength) {
		checks = []func(string) error{n.characters, n.length}
	}
	for _, check := range checks {
		if err := check(name); err != nil {
			return err
		}
	}
	return nil
}

// length counts bytes, as Go's len does.
func (n names) length(name string) error {
	length, limit := len(name), maxNameBytes
	switch {
	case n.faults.Has(lengthUnchecked):
		return nil
	case n.faults.Has(lengthInCharacters):
		length = utf8.RuneCountInString(name)
	case n.faults.Has(lengthOffByOne):
		limit--
	}
	if length > limit {
		return fmt.Errorf("subgroup name %q exceeds maximum length of 63 characters", name)
	}
	return nil
}

// characters suggests the lowercase form if that form is a valid name.
func (n names) characters(name string) error {
	lowercase := strings.ToLower(name)
	if n.allowed(name) {
		return nil
	}
	hint := n.pattern().MatchString(lowercase)
	switch {
	case n.faults.Has(hintAlways):
		hint = lowercase != name
	case n.faults.Has(hintNever):
		hint = false
	}
	if hint {
		return fmt.Errorf("subgroup name %q must be lowercase; use %q instead", name, lowercase)
	}
	return fmt.Errorf("subgroup name %q is invalid: must consist of lowercase alphanumeric characters or '-', "+
		"start with an alphanumeric character, and end with an alphanumeric character", name)
}

func (n names) allowed(name string) bool {
	if n.faults.Has(caseAlone) {
		return name == strings.ToLower(name)
	}
	return n.pattern().MatchString(name)
}

func (n names) pattern() *regexp.Regexp {
	switch {
	case n.faults.Has(trailingDashAllowed):
		return trailingDashPattern
	case n.faults.Has(lineByLine):
		return lineByLinePattern
	case n.faults.Has(oneCharacterRejected):
		return twoOrMorePattern
	case n.faults.Has(leadingDigitRejected):
		return letterFirstPattern
	}
	return namePattern
}
