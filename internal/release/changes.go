package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/mod/module"
)

// writeChanges writes the section of a version into a file.
func writeChanges(changelog, version, file string) error {
	text, err := os.ReadFile(changelog)
	if err != nil {
		return err
	}
	section, err := changesOf(string(text), version)
	if err != nil {
		return fmt.Errorf("%s: %w", changelog, err)
	}
	return os.WriteFile(file, []byte(section), 0o644)
}

// changesOf returns a version's section of a changelog. A pseudo-version is no release, so its section is the
// unreleased changes.
func changesOf(changelog, version string) (string, error) {
	title := version
	if module.IsPseudoVersion(version) {
		title = "Unreleased"
	}
	_, rest, found := strings.Cut("\n"+changelog, "\n## "+title+"\n")
	if !found {
		return "", fmt.Errorf("there is no section %q: give the changes of this version their heading before the tag",
			"## "+title)
	}
	section, _, _ := strings.Cut(rest, "\n## ")
	section = strings.TrimSpace(section)
	if section == "" {
		return "", errors.New("the section " + title + " is empty")
	}
	return "# Rehearse " + version + "\n\n" + section + "\n", nil
}
