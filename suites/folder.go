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

// Open reads a suite that a project keeps in a folder of its own repository: requirements.yaml, and the scenarios of
// the folder scenarios. It is called as the folder is. The system under test is the one that its scenarios have; a
// suite whose scenarios have several is about the one that is called as the suite is.
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
	suite := Suite{Name: filepath.Base(absolute), Requirements: requirements, Scenarios: set.Scenarios}
	suite.System = underTest(suite)
	if err := suite.Check(); err != nil {
		return Suite{}, fmt.Errorf("open the suite %s: %w", folder, err)
	}
	return suite, nil
}

// IsFolder says whether the name of a suite is that of a folder: it has a separator, as in ./my-suite.
func IsFolder(name string) bool {
	return strings.ContainsRune(name, filepath.Separator) || name == "." || name == ".."
}

// underTest is the system of a suite's scenarios; "" where they have none, or several others.
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
