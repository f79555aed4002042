package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

// The tables that the page names are in the files that it links, and the files of its commands exist.
func TestTablesOfTheDevelopmentPage(t *testing.T) {
	page := golden.Read(t, "../../docs/development.md")
	rows := regexp.MustCompile("(?m)^\\| (`.*`) \\| \\[.*\\]\\(\\.\\./(.*)\\) \\|").FindAllStringSubmatch(page, -1)
	if len(rows) != 6 {
		t.Errorf("%d tables on the page", len(rows))
	}
	for _, row := range rows {
		source := golden.Read(t, filepath.Join("../..", row[2]))
		for _, name := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(row[1], -1) {
			if !regexp.MustCompile(`(?m)^\s*((func|const) )?` + name[1] + `\b`).MatchString(source) {
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
