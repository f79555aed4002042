// Package suites reads the requirements of a specification, and finds which of them a set of scenarios covers.
package suites

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"slices"

	yaml "go.yaml.in/yaml/v3"

	"github.com/rehearse-dev/rehearse/scenarios"
)

// Level says whether every implementation must meet a requirement.
type Level string

// The levels.
const (
	// Core requirements must be met by every implementation.
	Core Level = "core"
	// Extended requirements are optional.
	Extended Level = "extended"
)

// Requirement is one rule of a specification.
type Requirement struct {
	// ID names the requirement in a scenario's covers and in reports: KEP5311-S1.
	ID string `yaml:"id"`
	// Level is core or extended.
	Level Level `yaml:"level"`
	// Statement is the rule in one sentence.
	Statement string `yaml:"statement"`
	// Source is where the specification says so.
	Source string `yaml:"source"`
	// NoFault says why no fault of the simulator breaks a core requirement; "" if one does.
	NoFault string `yaml:"noFault"`
	// Variants are the ways to meet the requirement, if there are several. The first is what the statement says. The
	// others are other readings of the specification, or known behaviour of implementations.
	Variants []Variant `yaml:"variants"`
}

// others returns the names of all variants except the first, which is the one in the statement.
func (r Requirement) others() []string {
	var names []string
	for i, v := range r.Variants {
		if i > 0 {
			names = append(names, v.Name)
		}
	}
	return names
}

// Variant is one of the ways in which a requirement is met.
type Variant struct {
	// Name of the variant in the simulator.
	Name string `yaml:"name"`
	// Source is where the variant is written or implemented.
	Source string `yaml:"source"`
}

var idPattern = regexp.MustCompile(`^[A-Za-z0-9]+(-[A-Za-z0-9]+)*$`)

// LoadRequirements reads a list of requirements from a YAML file. The error has all mistakes in the file, each with
// its line.
func LoadRequirements(fsys fs.FS, path string) ([]Requirement, error) {
	data, err := fs.ReadFile(fsys, path)
	if err != nil {
		return nil, fmt.Errorf("reading requirements: %w", err)
	}
	items, err := listItems(data)
	if err != nil {
		return nil, fmt.Errorf("reading requirements from %s: %w", path, err)
	}
	var requirements []Requirement
	var problems []error
	lines := map[string]int{}
	for _, item := range items {
		requirement, err := decodeRequirement(item)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s:%d: %w", path, item.Line, err))
			continue
		}
		if line, ok := lines[requirement.ID]; ok {
			problems = append(problems, fmt.Errorf("%s:%d: requirement %s is here a second time; the first is in line %d", path,
				item.Line, requirement.ID, line))
			continue
		}
		lines[requirement.ID] = item.Line
		requirements = append(requirements, requirement)
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return requirements, nil
}

// listItems returns the items of a file with one document, which is a list that is not empty.
func listItems(data []byte) ([]*yaml.Node, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var document yaml.Node
	if err := decoder.Decode(&document); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(document.Content) == 0 || document.Content[0].Kind != yaml.SequenceNode ||
		len(document.Content[0].Content) == 0 {
		return nil, errors.New("want a list of requirements: - {id, level, statement, source}")
	}
	var second yaml.Node
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		return nil, errors.Join(errors.New("want one YAML document"), err)
	}
	return document.Content[0].Content, nil
}

// decodeRequirement rejects fields that are unknown, written twice, missing or of the wrong form.
func decodeRequirement(item *yaml.Node) (Requirement, error) {
	var requirement Requirement
	if item.Kind != yaml.MappingNode {
		return requirement, errors.New("want a requirement: {id, level, statement, source}")
	}
	texts := *item
	texts.Content = nil
	for i := 0; i+1 < len(item.Content); i += 2 {
		key, value := item.Content[i], item.Content[i+1]
		if key.Value != "variants" {
			texts.Content = append(texts.Content, key, value)
			continue
		}
		if requirement.Variants != nil {
			return requirement, errors.New("the field variants is here a second time")
		}
		var err error
		if requirement.Variants, err = decodeVariants(value); err != nil {
			return requirement, err
		}
	}
	err := decodeTexts(&texts, "a requirement has id, level, statement, source and, where no fault breaks it, noFault",
		map[string]*string{
			"id": &requirement.ID, "level": (*string)(&requirement.Level),
			"statement": &requirement.Statement, "source": &requirement.Source, "noFault": &requirement.NoFault,
		})
	if err != nil {
		return requirement, err
	}
	return requirement, requirement.check()
}

func decodeVariants(list *yaml.Node) ([]Variant, error) {
	if list.Kind != yaml.SequenceNode || len(list.Content) < 2 {
		return nil, errors.New("the field variants must be a list of two or more: - {name, source}")
	}
	variants := make([]Variant, len(list.Content))
	for i, item := range list.Content {
		if item.Kind != yaml.MappingNode {
			return nil, errors.New("want a variant: {name, source}")
		}
		v := &variants[i]
		if err := decodeTexts(item, "a variant has name and source", map[string]*string{
			"name":   &v.Name,
			"source": &v.Source,
		}); err != nil {
			return nil, err
		}
		if v.Name == "" || v.Source == "" {
			return nil, errors.New("a variant needs a name and a source")
		}
	}
	return variants, nil
}

// decodeTexts fills fields from a mapping. has describes the known fields in error messages.
func decodeTexts(item *yaml.Node, has string, fields map[string]*string) error {
	for i := 0; i+1 < len(item.Content); i += 2 {
		key, value := item.Content[i], item.Content[i+1]
		field, ok := fields[key.Value]
		switch {
		case !ok:
			return fmt.Errorf("unknown field %q: %s", key.Value, has)
		case *field != "":
			return fmt.Errorf("the field %s is here a second time", key.Value)
		case value.Kind != yaml.ScalarNode || value.ShortTag() != "!!str" || value.Value == "":
			return fmt.Errorf("the field %s must be a text that is not empty", key.Value)
		}
		*field = value.Value
	}
	return nil
}

func (r Requirement) check() error {
	switch {
	case r.ID == "":
		return errors.New("the requirement has no id")
	case !idPattern.MatchString(r.ID):
		return fmt.Errorf("id %q: want letters and digits in parts joined by a dash, like KEP5311-S1", r.ID)
	case r.Level != Core && r.Level != Extended:
		return fmt.Errorf("requirement %s: level %q is neither %s nor %s", r.ID, r.Level, Core, Extended)
	case r.Statement == "":
		return fmt.Errorf("requirement %s has no statement", r.ID)
	case r.Source == "":
		return fmt.Errorf("requirement %s has no source", r.ID)
	}
	return nil
}

// Unknown is an id that a scenario names and that no requirement has.
type Unknown struct {
	// ID that no requirement has.
	ID string
	// Scenario that names it, and its position.
	Scenario string
	Position scenarios.Position
}

// String is "file:line:column: scenario covers id, which is no requirement".
func (u Unknown) String() string {
	return fmt.Sprintf("%s: scenario %s covers %s, which is no requirement", u.Position, u.Scenario, u.ID)
}

// Coverage compares requirements with what scenarios cover. It returns the requirements that no scenario covers, and
// the ids that scenarios name, in covers or in a known issue, but that no requirement has. A known issue alone does
// not cover a requirement.
func Coverage(requirements []Requirement, list []*scenarios.Scenario) ([]Requirement, []Unknown) {
	exists, covered := map[string]bool{}, map[string]bool{}
	for _, r := range requirements {
		exists[r.ID] = true
	}
	var unknown []Unknown
	reported := map[Unknown]bool{} // all rows of a table name the same ids
	for _, s := range list {
		for _, id := range named(s) {
			u := Unknown{ID: id, Scenario: s.Metadata.Name, Position: s.Position}
			if !exists[id] && !reported[u] {
				reported[u] = true
				unknown = append(unknown, u)
			}
		}
		if s.Metadata.Labels[ReadingLabel] != "" {
			continue // it shows another variant of the requirement
		}
		for _, id := range s.Spec.Covers {
			covered[id] = true
		}
	}
	uncovered := slices.DeleteFunc(slices.Clone(requirements), func(r Requirement) bool { return covered[r.ID] })
	return uncovered, unknown
}

// named lists every requirement that a scenario names.
func named(s *scenarios.Scenario) []string {
	ids := slices.Clone(s.Spec.Covers)
	for _, issue := range s.Spec.Known {
		ids = append(ids, issue.Covers...)
	}
	return ids
}
