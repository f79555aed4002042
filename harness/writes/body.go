package writes

import (
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/rehearse-dev/rehearse/scenarios"
)

// Body returns what a step sends, as YAML, with its expressions evaluated; "" if a step sends only a name.
func Body(step *scenarios.Step) string {
	if body := table()[step.Verb()].body; body != nil {
		return body(step)
	}
	return ""
}

func patchBody(patch *scenarios.Patch) string {
	switch {
	case patch.JSON != nil:
		text, err := yaml.Marshal(patch.JSON)
		if err != nil {
			return fmt.Sprintf("(can't be shown as YAML: %v)", err)
		}
		return strings.TrimRight(string(text), "\n")
	case patch.Merge != nil:
		return render(patch.Merge)
	default:
		return render(patch.Strategic)
	}
}
