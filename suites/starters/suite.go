package starters

import (
	"fmt"
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Suite is the folder of a suite: requirements of a system, and scenarios that cover them.
type Suite struct {
	// Command that writes the suite, and Name of its folder and of its system.
	Command, Name string
	// From and To are versions of Kubernetes; without To there is no upgrade.
	From, To string
	// Simulator: the suite has a small program that replaces the system.
	Simulator bool
}

// Write returns the files of the suite, by their paths in its folder.
func (s Suite) Write() ([]File, error) {
	if wrong := validation.IsDNS1123Label(s.Name); len(wrong) > 0 {
		return nil, fmt.Errorf("a suite called %q: %s", s.Name, wrong[0])
	}
	names := []string{"README.md", "requirements.yaml", "scenarios/things.yaml"}
	if s.Simulator {
		names = append(names, "scenarios/owners.yaml", "simulator/crd.yaml", "simulator/webhooks.yaml", "simulator/go.mod",
			"simulator/main.go")
	}
	var files []File
	for _, name := range names {
		text, err := render(path.Base(name)+".tmpl", s)
		if err != nil {
			return nil, err
		}
		files = append(files, File{Path: name, Text: text})
	}
	return files, nil
}

// Prefix of the ids of requirements.
func (s Suite) Prefix() string { return strings.ToUpper(s.Name) }

// Group of the API of the system.
func (s Suite) Group() string { return s.Name + ".example.com" }
