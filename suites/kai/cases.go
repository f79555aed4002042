package kai

import (
	"context"
	"fmt"
	"strings"

	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/suites/cases"
	"github.com/rehearse-dev/rehearse/suites/kai/api"
	"github.com/rehearse-dev/rehearse/suites/kai/simulator"
)

// Rules returns the rules for which cases can be drawn: the names of sub groups, in each place where an
// implementation may have the rule.
func Rules() []cases.Rule {
	var rules []cases.Rule
	for _, variant := range []string{simulator.Both, simulator.Webhook, simulator.CRD} {
		rules = append(rules, cases.Rule{
			Name:   fmt.Sprintf("sub group names [%s]", variant),
			Covers: []string{"KAI-K01", "KAI-K02", "KAI-K04", "KAI-K05", "KAI-K06", "KAI-K07", "KAI-K09", "KAI-K10"},
			State: clusters.State{
				Version: "1.36",
				Systems: []clusters.System{{Name: simulator.Name, Simulated: &clusters.Simulated{Variant: variant}}},
			},
			Begin: func(context.Context, cases.World) (cases.Draw, error) {
				return func(t *rapid.T) cases.Case { return nameCase(drawName(t)) }, nil
			},
		})
	}
	return rules
}

// hostile are characters that no name may have, and the dash, which a name may have only in its middle. The simplest
// are first.
var hostile = []rune("A-_. Z@[`{/:\n\t\x00é\u0661\u017f\u0130\u212a\u200b\U0001f600")

// drawName draws characters that a name may have, and then spoils at most two of them. Lengths are near 0 or near the
// longest.
func drawName(t *rapid.T) string {
	length := rapid.OneOf(rapid.IntRange(0, 12), rapid.IntRange(longestName-3, longestName+3)).Draw(t, "length")
	good := rapid.SampledFrom([]rune("a0-bz9"))
	name := make([]rune, length)
	for i := range name {
		name[i] = good.Draw(t, "character")
	}
	if length == 0 {
		return ""
	}
	for range rapid.IntRange(0, 2).Draw(t, "spoilt") {
		at := rapid.IntRange(0, length-1).Draw(t, "at")
		name[at] = rapid.SampledFrom(hostile).Draw(t, "sign")
	}
	return string(name)
}

// nameCase is a PodGroup with one sub group of that name.
func nameCase(name string) cases.Case {
	allowed, requirement := judgeName(name)
	return cases.Case{
		Input:    fmt.Sprintf("a sub group named %+q", name),
		Resource: api.GroupVersion.WithResource("podgroups"),
		Object: map[string]any{
			"apiVersion": api.GroupVersion.String(), "kind": "PodGroup", "metadata": map[string]any{"name": "case"},
			"spec": map[string]any{
				"minMember": int64(1), "queue": "default",
				"subGroups": []any{map[string]any{"name": name, "minMember": int64(1)}},
			},
		},
		Allowed: allowed, Requirement: requirement,
	}
}

// longestName is how many bytes a name may have.
const longestName = 63

// judgeName is the specification's validateSubGroupName: whether the name is allowed, and the requirement that says so.
func judgeName(name string) (allowed bool, requirement string) {
	switch {
	case name == "":
		return false, "KAI-K07"
	case len(name) > longestName:
		return false, "KAI-K10"
	case isName(name) && len(name) == longestName:
		return true, "KAI-K09"
	case isName(name):
		return true, "KAI-K01"
	case isName(strings.ToLower(name)):
		return false, "KAI-K02"
	case strings.HasPrefix(name, "-"):
		return false, "KAI-K05"
	case strings.Contains(name, "_"):
		return false, "KAI-K04"
	}
	return false, "KAI-K06"
}

// isName reports whether a text of any length has the characters of a name.
func isName(text string) bool {
	for i := range len(text) {
		c := text[i]
		switch alphanumeric := 'a' <= c && c <= 'z' || '0' <= c && c <= '9'; {
		case alphanumeric:
		case c != '-' || i == 0 || i == len(text)-1:
			return false
		}
	}
	return text != ""
}
