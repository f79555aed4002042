package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

// Every command of every document exists: rehearse accepts its flags and arguments, the Makefile has the target, and
// this repository has the files that it names. Commands of other programs are not checked.
func TestCommandsOfTheDocuments(t *testing.T) {
	makefile := golden.Read(t, "../../Makefile")
	checked := 0
	err := filepath.WalkDir("../..", func(page string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(page) != ".md" || strings.Contains(page, "testdata") {
			return err
		}
		for i, line := range strings.Split(golden.Read(t, page), "\n") {
			command := documentedCommand(line)
			if len(command) == 0 {
				continue
			}
			checked++
			if err := checkCommand(command, makefile); err != nil {
				t.Errorf("%s:%d: %s: %v", page, i+1, strings.Join(command, " "), err)
			}
		}
		return nil
	})
	if err != nil || checked < 140 {
		t.Errorf("%d commands, %v", checked, err)
	}
}

// documentedCommand returns the command of an indented line, without its comment: rehearse or make with their
// arguments. It returns nil if the line has none.
func documentedCommand(line string) []string {
	text, indented := strings.CutPrefix(line, "    ")
	if !indented || strings.HasPrefix(text, " ") {
		return nil
	}
	text, _, _ = strings.Cut(strings.TrimPrefix(text, "$ "), " #")
	if _, piped, ok := strings.Cut(text, "| rehearse "); ok {
		text = "rehearse " + piped
	}
	text = strings.Replace(text, "go run ./cmd/rehearse ", "rehearse ", 1)
	command := words(text)
	for len(command) > 0 && strings.Contains(command[0], "=") { // an environment variable
		command = command[1:]
	}
	if len(command) < 2 || command[0] != "rehearse" && command[0] != "make" {
		return nil
	}
	return command
}

func checkCommand(words []string, makefile string) error {
	if words[0] == "make" {
		for _, target := range words[1:] {
			variable := strings.ContainsAny(target, "= ") // or its value
			if !variable && !strings.Contains(makefile, "\n"+target+":") {
				return fmt.Errorf("the Makefile has no target %s", target)
			}
		}
		return nil
	}
	if _, err := takes(words[1:]); err != nil {
		return err
	}
	for _, word := range words[1:] {
		for _, folder := range []string{"scenarios/", "examples/", "docs/", "harness/"} {
			if path := strings.TrimPrefix(word, "./"); strings.HasPrefix(path, folder) {
				if _, err := os.Stat(filepath.Join("../..", path)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
