package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every command of the pages is one that there is: rehearse takes its flags and arguments, the Makefile has the target.
func TestCommandsOfTheDevelopmentPages(t *testing.T) {
	makefile := read(t, "../../Makefile")
	for page, least := range map[string]int{"../../docs/development.md": 10, "../../CONTRIBUTING.md": 5} {
		checked := 0
		for line := range strings.Lines(read(t, page)) {
			command, indented := strings.CutPrefix(line, "    ")
			if !indented {
				continue
			}
			command, _, _ = strings.Cut(command, " #")
			checkCommand(t, strings.Fields(command), makefile)
			checked++
		}
		if checked < least {
			t.Errorf("%d commands on %s", checked, page)
		}
	}
}

func checkCommand(t *testing.T, words []string, makefile string) {
	t.Helper()
	if len(words) > 3 && strings.Join(words[:3], " ") == "go run ./cmd/rehearse" {
		words = words[2:]
		words[0] = "rehearse"
	}
	switch words[0] {
	case "rehearse":
		if err := parses(words[1:]); err != nil {
			t.Errorf("%s: %v", words, err)
		}
	case "make":
		for _, target := range words[1:] {
			if !strings.Contains(makefile, "\n"+target+":") {
				t.Errorf("%s: the Makefile has no target %s", words, target)
			}
		}
	case "go", "cp", "sed":
	default:
		t.Errorf("%s: a command that this test does not know", words)
	}
}

// parses says whether rehearse takes these arguments. It runs nothing.
func parses(args []string) error {
	_, err := takes(args)
	return err
}

// The tables that the page names are where it says, and so are the files of its commands.
func TestTablesOfTheDevelopmentPage(t *testing.T) {
	page := read(t, "../../docs/development.md")
	rows := regexp.MustCompile("(?m)^\\| (`.*`) \\| \\[.*\\]\\(\\.\\./(.*)\\) \\|").FindAllStringSubmatch(page, -1)
	if len(rows) != 5 {
		t.Errorf("%d tables on the page", len(rows))
	}
	for _, row := range rows {
		source := read(t, filepath.Join("../..", row[2]))
		for _, name := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(row[1], -1) {
			if !regexp.MustCompile(`(?m)^\s*(func )?` + name[1] + `\b`).MatchString(source) {
				t.Errorf("%s has no %s", row[2], name[1])
			}
		}
	}
	for _, path := range regexp.MustCompile(`\b(scenarios|harness|clusters)/[\w./-]+`).FindAllString(page, -1) {
		if _, err := os.Stat(filepath.Join("../..", strings.TrimSuffix(path, "."))); err != nil {
			t.Errorf("the page names a file that there is not: %v", err)
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
