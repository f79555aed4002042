package main

import (
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// override puts what --system says into the scenarios: NAME=process:FILE (or manifests:FILE, simulated:FILE) another definition of a system,
// NAME=faults:A,B other faults of a simulated one, NAME=liberties:A,B other liberties.
func override(set []*scenarios.Scenario, texts []string) ([]*scenarios.Scenario, error) {
	for _, text := range texts {
		name, what, ok1 := strings.Cut(text, "=")
		kind, value, ok2 := strings.Cut(what, ":")
		if !ok1 || !ok2 || name == "" || value == "" && kind != "faults" && kind != "liberties" {
			return nil, fmt.Errorf("--system %q: want NAME=process:FILE, NAME=manifests:FILE, NAME=faults:A,B or NAME=liberties:A,B", text)
		}
		var err error
		switch kind {
		case "faults":
			set, err = scenarios.SetFaults(set, name, strings.FieldsFunc(value, func(r rune) bool { return r == ',' }))
		case "liberties":
			set, err = scenarios.SetLiberties(set, name, strings.FieldsFunc(value, func(r rune) bool { return r == ',' }))
		case "process", "manifests", "simulated":
			var definition clusters.System
			if definition, err = scenarios.LoadSystem(value); err != nil {
				break
			}
			if definition.Kind() != kind {
				err = fmt.Errorf("%s defines a system that is %s", value, definition.Kind())
				break
			}
			set, err = scenarios.ReplaceSystem(set, name, definition)
		default:
			err = fmt.Errorf("want process, manifests, simulated, faults or liberties, not %q", kind)
		}
		if err != nil {
			return nil, fmt.Errorf("--system %s: %w", text, err)
		}
	}
	return set, nil
}
