package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// SystemFlag is a value of --system: NAME=KIND:VALUE, or NAME/VARIANT=KIND:VALUE.
type SystemFlag struct {
	Name, Variant, Kind, Value string
	// OfVariant says that the flag has a slash. "NAME/" means the system without a variant.
	OfVariant bool
}

// Definitions are the forms of --system that name a file with the definition.
const Definitions = "NAME=process:FILE, NAME=module:FILE or NAME=manifests:FILE"

// LocalDefinitions are those of commands that use local clusters only.
const LocalDefinitions = "NAME=process:FILE or NAME=module:FILE"

// ParseSystem parses a value of --system. It returns false if the value has another form.
func ParseSystem(text string) (SystemFlag, bool) {
	name, what, named := strings.Cut(text, "=")
	kind, value, found := strings.Cut(what, ":")
	name, variant, ofVariant := strings.Cut(name, "/")
	return SystemFlag{name, variant, kind, value, ofVariant}, named && found && name != ""
}

// Defined reports whether the flag names a file that defines the system.
func (f SystemFlag) Defined() bool {
	return slices.Contains([]string{"process", "module", "manifests"}, f.Kind) && f.Value != ""
}

// File reports whether the flag's value is a file. Beside those of Definitions, run accepts that of a simulated system.
func (f SystemFlag) File() bool { return f.Defined() || f.Kind == "simulated" && f.Value != "" }

// Definition reads the file that defines the system, and gives the system the flag's name.
func (f SystemFlag) Definition() (clusters.System, error) {
	definition, err := scenarios.LoadSystem(f.Value)
	if err == nil && definition.Kind() != f.Kind {
		err = fmt.Errorf("%s defines a system of kind %s: use %[2]s:%[1]s", f.Value, definition.Kind())
	}
	definition.Name = f.Name
	return definition, err
}

// NamedSystem reads a value of --system whose versions are given apart: NAME, or NAME=FILE.yaml with its definition.
// NAME=module:FILE.yaml is the same, since other commands take it.
func NamedSystem(text string) (string, *clusters.System, error) {
	name, file, hasFile := strings.Cut(text, "=")
	if name == "" || hasFile && file == "" {
		return "", nil, errors.New("--system: want the name of a system, or NAME=FILE.yaml")
	}
	if !hasFile {
		return name, nil, nil
	}
	definition, err := scenarios.LoadSystem(strings.TrimPrefix(file, "module:"))
	if err != nil {
		return "", nil, fmt.Errorf("--system %s: %w", text, err)
	}
	definition.Name = name
	return name, &definition, nil
}

// DefinitionFiles reads the files that values of --system name. It returns their contents by the rest of each value,
// which does not contain the path: shards may run in different folders. A value without a file has no content.
func DefinitionFiles(values []string) (map[string]string, error) {
	contents := map[string]string{}
	for _, text := range values {
		flag, _ := ParseSystem(text)
		if !flag.File() {
			contents[text] = ""
			continue
		}
		data, err := os.ReadFile(flag.Value)
		if err != nil {
			return nil, fmt.Errorf("--system %s: read the definition: %w", text, err)
		}
		contents[strings.TrimSuffix(text, flag.Value)] = string(data)
	}
	return contents, nil
}

// DefinedSystems reads the systems for local clusters that the values of a flag define, in their order.
func DefinedSystems(flag string, values []string) ([]clusters.System, error) {
	var all []clusters.System
	for _, text := range values {
		value, ok := ParseSystem(text)
		definition, err := clusters.System{}, errors.New("want "+LocalDefinitions)
		switch {
		case ok && value.Kind == "manifests":
			err = errors.New("this command runs local clusters, whose nodes run no containers; want " + LocalDefinitions)
		case ok && value.Defined() && !value.OfVariant:
			definition, err = value.Definition()
			definition.Versions = nil // its version does not change
		}
		if err == nil && slices.ContainsFunc(all, func(s clusters.System) bool { return s.Name == value.Name }) {
			err = errors.New("it is given twice")
		}
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", flag, text, err)
		}
		all = append(all, definition)
	}
	return all, nil
}
