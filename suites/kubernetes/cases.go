package kubernetes

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/suites/cases"
)

// Rules returns the rules for which cases can be drawn: the names of Services, with the gate of KEP-5311 on and off.
func Rules() []cases.Rule {
	return []cases.Rule{
		serviceNames("Service names, gate on", true, clusters.State{Version: "1.36"}, "KEP5311-S3", "KEP5311-S4",
			"KEP5311-S5", "KEP5311-S6"),
		serviceNames("Service names, gate off", false, clusters.State{Version: "1.34"}, "KEP5311-S1", "KEP5311-S2",
			"KEP5311-S5", "KEP5311-S6"),
	}
}

func serviceNames(name string, relaxed bool, state clusters.State, covers ...string) cases.Rule {
	return cases.Rule{
		Name: name, Covers: covers, State: state,
		Begin: func(context.Context, cases.World) (cases.Draw, error) {
			return func(t *rapid.T) cases.Case { return serviceCase(drawServiceName(t), relaxed) }, nil
		},
	}
}

// longestServiceName is how many characters the name of a Service may have.
const longestServiceName = 63

// drawServiceName draws characters of a DNS label, and then spoils at most two of them. Lengths are near 1 or near
// the longest.
func drawServiceName(t *rapid.T) string {
	length := rapid.OneOf(rapid.IntRange(1, 12), rapid.IntRange(longestServiceName-3, longestServiceName+3)).Draw(t,
		"length")
	good := rapid.SampledFrom([]rune("a0-bz9"))
	name := make([]rune, length)
	for i := range name {
		name[i] = good.Draw(t, "character")
	}
	for range rapid.IntRange(0, 2).Draw(t, "spoilt") {
		at := rapid.IntRange(0, length-1).Draw(t, "at")
		name[at] = rapid.SampledFrom([]rune("A-_. Z@[`{/:%\n\x00é\u212a\u200b")).Draw(t, "sign")
	}
	return string(name)
}

func serviceCase(name string, relaxed bool) cases.Case {
	requirement, allowed := judgeServiceName(name, relaxed)
	return cases.Case{
		Input:    fmt.Sprintf("a Service named %+q", name),
		Resource: schema.GroupVersionResource{Version: "v1", Resource: "services"},
		Object: map[string]any{
			"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"name": name},
			"spec": map[string]any{"ports": []any{map[string]any{"port": int64(80)}}},
		},
		Allowed: allowed, Requirement: requirement,
	}
}

// judgeServiceName is KEP-5311's rule: a DNS label, which must start with a letter unless the rule is relaxed.
func judgeServiceName(name string, relaxed bool) (requirement string, allowed bool) {
	label, dot := name != "", false
	for i := range len(name) {
		c := name[i]
		alphanumeric := 'a' <= c && c <= 'z' || '0' <= c && c <= '9'
		label = label && (alphanumeric || c == '-' && i > 0 && i < len(name)-1)
		dot = dot || c == '.'
	}
	digitFirst := label && name[0] <= '9'
	switch {
	case dot:
		return "KEP5311-S5", false
	case len(name) > longestServiceName:
		return "KEP5311-S6", false
	case !label && relaxed:
		return "KEP5311-S4", false
	case relaxed:
		return "KEP5311-S3", true
	case digitFirst:
		return "KEP5311-S1", false
	}
	return "KEP5311-S2", label
}
