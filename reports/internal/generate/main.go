// Command generate writes run.schema.json and docs/run.md from the types of package reports. It is run by "go generate
// ./reports", in that folder.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/rehearse-dev/rehearse/reports/internal/reference"
)

func main() {
	if err := generate("."); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// generate writes the files; dir is the folder of package reports.
func generate(dir string) error {
	schema, page, err := reference.Make(dir)
	if err != nil {
		return err
	}
	for path, data := range map[string][]byte{
		filepath.Join(dir, "run.schema.json"):      schema,
		filepath.Join(dir, "..", "docs", "run.md"): page,
	} {
		if err := os.WriteFile(path, data, 0o644); err != nil {
			return fmt.Errorf("write what is generated from the types of reports: %w", err)
		}
	}
	return nil
}
