package writes

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/rehearse-dev/rehearse/scenarios"
)

// Unlike returns how a text differs from the wanted one; "" if it does not.
func Unlike(want scenarios.Text, got string) string {
	if want.Contains != "" && !strings.Contains(got, want.Contains) {
		return fmt.Sprintf("does not contain %q", want.Contains)
	}
	if want.Lacks != "" && strings.Contains(got, want.Lacks) {
		return fmt.Sprintf("contains %q", want.Lacks)
	}
	if want.Equals != "" && got != want.Equals {
		return fmt.Sprintf("does not equal %q", want.Equals)
	}
	if want.Matches != "" {
		pattern, err := regexp.Compile(want.Matches)
		if err != nil {
			return fmt.Sprintf("can't be compared with the regular expression %q: %v", want.Matches, err)
		}
		if !pattern.MatchString(got) {
			return fmt.Sprintf("does not match the regular expression %q", want.Matches)
		}
	}
	return ""
}

// Describe returns the condition in words.
func Describe(want scenarios.Text) string {
	var parts []string
	if want.Contains != "" {
		parts = append(parts, fmt.Sprintf("contains %q", want.Contains))
	}
	if want.Lacks != "" {
		parts = append(parts, fmt.Sprintf("lacks %q", want.Lacks))
	}
	if want.Equals != "" {
		parts = append(parts, fmt.Sprintf("equals %q", want.Equals))
	}
	if want.Matches != "" {
		parts = append(parts, fmt.Sprintf("matches %q", want.Matches))
	}
	if len(parts) == 0 {
		return "is anything"
	}
	return strings.Join(parts, " and ")
}
