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

// Level says how much an implementation owes a requirement.
type Level string

// The levels.
const (
	// Core is what every implementation must meet.
	Core Level = "core"
	// Extended is what an implementation may leave out.
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
	// NoFault says why no fault of the simulator breaks a core requirement; "" where one does.
	NoFault string `yaml:"noFault"`
	// Variants are the ways in which it can be met, where that is not one: first what the statement says, then what else
	// the specification can be read to say or implementations are known to do.
	Variants []Variant `yaml:"variants"`
}

// others are the names of the variants but for the first, which is the one that the statement is of.
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
	// Name of the variant, as the simulator has it.
	Name string `yaml:"name"`
	// Source is where it is written or done so.
	Source string `yaml:"source"`
}

var idPattern = regexp.MustCompile(`^[A-Za-z0-9]+(-[A-Za-z0-9]+)*$`)

// LoadRequirements reads a list of requirements from a YAML file. The error holds everything that is wrong with the
// file, each with its line.
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

// listItems returns the items of a document that is one list, which is not empty.
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

// decodeTexts fills fields from a mapping; has says which there are.
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

// Unknown is an id that a scenario names and that is no requirement.
type Unknown struct {
	// ID that is no requirement.
	ID string
	// Scenario that names it, and where that is.
	Scenario string
	Position scenarios.Position
}

// String is "file:line:column: scenario covers id, which is no requirement".
func (u Unknown) String() string {
	return fmt.Sprintf("%s: scenario %s covers %s, which is no requirement", u.Position, u.Scenario, u.ID)
}

// Coverage compares requirements with what scenarios cover: it returns the requirements that none of them covers, and
// the ids that they name, in covers or in a known issue, which are no requirements. What only a known issue names is
// not covered by that.
func Coverage(requirements []Requirement, list []*scenarios.Scenario) ([]Requirement, []Unknown) {
	exists, covered := map[string]bool{}, map[string]bool{}
	for _, r := range requirements {
		exists[r.ID] = true
	}
	var unknown []Unknown
	reported := map[Unknown]bool{} // the rows of a table name the same
	for _, s := range list {
		for _, id := range named(s) {
			u := Unknown{ID: id, Scenario: s.Metadata.Name, Position: s.Position}
			if !exists[id] && !reported[u] {
				reported[u] = true
				unknown = append(unknown, u)
			}
		}
		if s.Metadata.Labels[ReadingLabel] != "" {
			continue // it shows how else the requirement may be met
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
