package suites

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/scenarios"
)

// Open reads a suite from a folder of a project's own repository: requirements.yaml, and the scenarios in the folder
// scenarios. The suite has the folder's name. The system under test is the system of its scenarios or, if there are
// several, the one with the suite's name.
func Open(folder string) (Suite, error) {
	absolute, err := filepath.Abs(folder)
	if err != nil {
		return Suite{}, fmt.Errorf("open the suite %s: %w", folder, err)
	}
	requirements, err := LoadRequirements(os.DirFS(absolute), "requirements.yaml")
	if err != nil {
		return Suite{}, fmt.Errorf("open the suite %s: %w", folder, err)
	}
	set, err := scenarios.Load([]string{filepath.Join(folder, "scenarios")})
	if err != nil {
		return Suite{}, err
	}
	suite := Suite{Name: NameOf(absolute), Requirements: requirements, Scenarios: set.Scenarios}
	suite.System = underTest(suite)
	if err := suite.Check(); err != nil {
		return Suite{}, fmt.Errorf("open the suite %s: %w", folder, err)
	}
	return suite, nil
}

// IsFolder reports whether the name of a suite is a folder: it has a separator, as in ./my-suite, or is "." or "..".
func IsFolder(name string) bool {
	return strings.ContainsRune(name, filepath.Separator) || name == "." || name == ".."
}

// NameOf returns the name of a built-in suite, or of one in a folder: it has the folder's name.
func NameOf(suite string) string {
	if absolute, err := filepath.Abs(suite); err == nil && IsFolder(suite) {
		return filepath.Base(absolute)
	}
	return suite
}

// underTest is the system under test in a suite's scenarios; "" if they have none, or several with other names than
// the suite's.
func underTest(suite Suite) string {
	names := map[string]bool{}
	for _, c := range suite.Scenarios {
		for _, state := range c.Path() {
			for _, system := range state.Systems {
				names[system.Name] = true
			}
		}
	}
	switch {
	case names[suite.Name]:
		return suite.Name
	case len(names) == 1:
		return slices.Collect(maps.Keys(names))[0]
	default:
		return ""
	}
}
