package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// override puts what --system says into the scenarios: NAME=process:FILE (or manifests:FILE, simulated:FILE) another
// definition of a system, NAME/VARIANT=process:FILE one for a variant that scenarios ask for, NAME=faults:A,B other
// faults of a simulated one, NAME=liberties:A,B other liberties.
func override(set []*scenarios.Scenario, texts []string) ([]*scenarios.Scenario, error) {
	variants := scenarios.Variants{}
	for _, text := range texts {
		if name, _, found := strings.Cut(strings.SplitN(text, "=", 2)[0], "/"); found {
			variants[name] = map[string]clusters.System{}
		}
	}
	for _, text := range texts {
		var err error
		if set, err = overrideOne(set, text, variants); err != nil {
			return nil, fmt.Errorf("--system %s: %w", text, err)
		}
	}
	set, err := scenarios.SubstituteAll(set, variants)
	if err != nil {
		return nil, fmt.Errorf("--system: %w", err)
	}
	return set, nil
}

// overrideOne does what one text says; a definition of a system of which a variant is named is only noted.
func overrideOne(set []*scenarios.Scenario, text string, variants scenarios.Variants) ([]*scenarios.Scenario, error) {
	name, what, ok1 := strings.Cut(text, "=")
	kind, value, ok2 := strings.Cut(what, ":")
	if !ok1 || !ok2 || name == "" || value == "" && kind != "faults" && kind != "liberties" {
		return nil, errors.New("want NAME=process:FILE, NAME/VARIANT=process:FILE, NAME=module:FILE, NAME=manifests:FILE, " +
			"NAME=faults:A,B or NAME=liberties:A,B")
	}
	list := strings.FieldsFunc(value, func(r rune) bool { return r == ',' })
	switch kind {
	case "faults":
		return scenarios.SetFaults(set, name, list)
	case "liberties":
		return scenarios.SetLiberties(set, name, list)
	case "process", "module", "manifests", "simulated":
	default:
		return nil, fmt.Errorf("want process, module, manifests, simulated, faults or liberties, not %q", kind)
	}
	definition, err := cli.SystemFrom(kind, value)
	if err != nil {
		return nil, err
	}
	name, variant, _ := strings.Cut(name, "/")
	if variants[name] == nil {
		return scenarios.ReplaceSystem(set, name, definition)
	}
	if _, twice := variants[name][variant]; twice {
		return nil, fmt.Errorf("%s is given twice", scenarios.VariantName(name, variant))
	}
	definition.Name = name
	variants[name][variant] = definition
	return set, nil
}
