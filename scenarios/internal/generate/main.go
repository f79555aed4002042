// Command generate writes schema.json and docs/scenarios.md from the types of package scenarios. It is run by
// "go generate ./scenarios", in that folder.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/rehearse-dev/rehearse/scenarios/internal/reference"
)

func main() {
	if err := generate("."); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// generate writes the files; dir is the folder of package scenarios.
func generate(dir string) error {
	comments, err := reference.ReadComments(dir)
	if err != nil {
		return err
	}
	schema, err := reference.Schema(comments)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "schema.json"), schema, 0o644); err != nil {
		return fmt.Errorf("writing the schema: %w", err)
	}
	page, err := reference.Page(comments, os.DirFS(filepath.Join(dir, "testdata", "examples")))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "..", "docs", "scenarios.md"), page, 0o644); err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	return nil
}
