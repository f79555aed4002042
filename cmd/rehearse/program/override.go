package program

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// override applies --system to the scenarios. NAME=process:FILE (or manifests:FILE, simulated:FILE) replaces the
// definition of a system, and NAME/VARIANT=process:FILE defines a variant that scenarios ask for. NAME=faults:A,B and
// NAME=liberties:A,B replace the faults and the liberties of a simulated system.
func override(set []*scenarios.Scenario, texts []string) ([]*scenarios.Scenario, error) {
	variants := scenarios.Variants{}
	for _, text := range texts {
		if flag, _ := cli.ParseSystem(text); flag.OfVariant {
			variants[flag.Name] = map[string]clusters.System{}
		}
	}
	for _, text := range inOrder(texts) {
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

// inOrder returns the texts that set faults or liberties after the others: a definition would replace those of an
// earlier text, and a system that is not simulated has none.
func inOrder(texts []string) []string {
	sets := func(text string) int {
		if flag, _ := cli.ParseSystem(text); flag.Kind == "faults" || flag.Kind == "liberties" {
			return 1
		}
		return 0
	}
	return slices.SortedStableFunc(slices.Values(texts), func(a, b string) int { return sets(a) - sets(b) })
}

// overrideOne applies one text. For a system with named variants, it only records definitions in variants.
func overrideOne(set []*scenarios.Scenario, text string, variants scenarios.Variants) ([]*scenarios.Scenario, error) {
	flag, ok := cli.ParseSystem(text)
	if !ok || flag.Value == "" && flag.Kind != "faults" && flag.Kind != "liberties" {
		return nil, errors.New("want " + cli.Definitions + ", NAME/VARIANT=process:FILE, NAME=faults:A,B or " +
			"NAME=liberties:A,B")
	}
	list := strings.FieldsFunc(flag.Value, func(r rune) bool { return r == ',' })
	switch {
	case flag.Kind == "faults":
		return scenarios.SetFaults(set, flag.Name, list)
	case flag.Kind == "liberties":
		return scenarios.SetLiberties(set, flag.Name, list)
	case flag.Kind != "simulated" && !flag.Defined():
		return nil, fmt.Errorf("want process, module, manifests, faults or liberties, not %q", flag.Kind)
	}
	definition, err := flag.Definition()
	if err != nil {
		return nil, err
	}
	if variants[flag.Name] == nil {
		return scenarios.ReplaceSystem(set, flag.Name, definition)
	}
	if _, twice := variants[flag.Name][flag.Variant]; twice {
		return nil, fmt.Errorf("%s is given twice", scenarios.VariantName(flag.Name, flag.Variant))
	}
	variants[flag.Name][flag.Variant] = definition
	return set, nil
}
