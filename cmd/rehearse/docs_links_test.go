package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

// Every link of a document to a file or a heading of the repository has a target that exists.
func TestLinksOfTheDocuments(t *testing.T) {
	root := filepath.Join("..", "..")
	link := regexp.MustCompile(`\]\(([^()\s]+)\)`)
	checked := 0
	err := filepath.WalkDir(root, func(page string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(page) != ".md" || strings.Contains(page, "testdata") {
			return err
		}
		for _, m := range link.FindAllStringSubmatch(golden.Read(t, page), -1) {
			file, heading, _ := strings.Cut(m[1], "#")
			if strings.Contains(m[1], "://") || strings.Contains(m[1], "${") {
				continue
			}
			checked++
			target := page
			if file != "" {
				target = filepath.Join(filepath.Dir(page), filepath.FromSlash(file))
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: %s leads nowhere", page, m[1])
			} else if heading != "" && !headings(t, target)[heading] {
				t.Errorf("%s: %s has no such heading", page, m[1])
			}
		}
		return nil
	})
	if err != nil || checked < 50 {
		t.Errorf("%d links, %v", checked, err)
	}
}

// headings returns the headings of a page in the form that GitHub uses in links.
func headings(t *testing.T, page string) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(golden.Read(t, page), -1) {
		kept := regexp.MustCompile(`[^a-z0-9 _-]`).ReplaceAllString(strings.ToLower(m[1]), "")
		all[strings.ReplaceAll(kept, " ", "-")] = true
	}
	return all
}
