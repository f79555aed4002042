package writes

import (
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/rehearse-dev/rehearse/scenarios"
)

// Body returns what a step sends, as YAML, with its expressions evaluated; "" if a step sends only a name.
func Body(step *scenarios.Step) string {
	switch {
	case step.Create != nil:
		return render(step.Create)
	case step.Apply != nil:
		return render(step.Apply)
	case step.Update != nil:
		return render(step.Update)
	case step.Patch != nil && step.Patch.JSON != nil:
		text, err := yaml.Marshal(step.Patch.JSON)
		if err != nil {
			return fmt.Sprintf("(can't be shown as YAML: %v)", err)
		}
		return strings.TrimRight(string(text), "\n")
	case step.Patch != nil && step.Patch.Merge != nil:
		return render(step.Patch.Merge)
	case step.Patch != nil:
		return render(step.Patch.Strategic)
	}
	return ""
}
