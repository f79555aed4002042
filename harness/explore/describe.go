package explore

import (
	"fmt"
	"strings"
)

// Describe returns the plan of an exploration as text.
func Describe(o Options) string {
	var b strings.Builder
	kinds := "all kinds"
	if len(o.Kinds) > 0 {
		kinds = strings.Join(o.Kinds, ", ")
	}
	if o.Shard.Of > 0 {
		kinds += fmt.Sprintf(" (shard %s has a part of them)", o.Shard)
	}
	been := map[string]bool{}
	for _, state := range o.Path {
		if name := nameOf(state); !been[name] {
			been[name] = true
			fmt.Fprintf(&b, "find the objects of %s that %s accepts\n", kinds, name)
		}
	}
	fmt.Fprintf(&b, "create them in a new cluster of %s\n  survey, watched for %s\n", nameOf(o.Path[0]), o.Settle)
	for i, state := range o.Path[1:] {
		fmt.Fprintf(&b, "go to %s\n  survey, watched for %s\n", state.After(o.Path[i]), o.Settle)
	}
	fmt.Fprintf(&b, "reduce each finding to a small object and a short path\n")
	if o.Prove {
		fmt.Fprintf(&b, "run the scenario of each finding in a new cluster\n")
	}
	fmt.Fprintf(&b, "%d states.\n", len(o.Path))
	return b.String()
}
