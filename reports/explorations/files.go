package explorations

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/onsi/ginkgo/v2/reporters"

	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/internal/folder"
	"github.com/rehearse-dev/rehearse/reports/internal/plain"
	"github.com/rehearse-dev/rehearse/reports/upgrades"
)

// MarkdownFile is the name of the report as Markdown.
const MarkdownFile = "explore.md"

// Write writes explore.json, explore.md, junit.xml, known.yaml and the scenarios of the findings into a folder, which
// it creates if necessary. It removes the scenarios of earlier findings.
func Write(dir string, r *Report) error {
	text, err1 := JSON(r)
	junit, err2 := JUnit(r)
	known, err3 := knownOf(r)
	err4 := os.MkdirAll(filepath.Join(dir, "scenarios"), 0o755) // even if there are none
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return fmt.Errorf("write the reports: %w", err)
	}
	files := map[string][]byte{
		"explore.json": text, MarkdownFile: []byte(Markdown(r)), "junit.xml": junit, "known.yaml": known,
	}
	for _, f := range r.Findings {
		if f.Scenario != "" {
			files[filepath.Join("scenarios", f.ID+".yaml")] = []byte(f.Scenario)
		}
	}
	return errors.Join(removeEarlier(dir, files), folder.Write(dir, files))
}

// removeEarlier removes the scenarios of the findings of the folder's earlier report that are not among the files:
// rehearse run would run them, too. It leaves files that no report names.
func removeEarlier(dir string, files map[string][]byte) error {
	data, err := os.ReadFile(filepath.Join(dir, "explore.json"))
	if err != nil {
		return nil //nolint:nilerr // there is no earlier report
	}
	earlier, err := Read(data)
	if err != nil {
		return nil //nolint:nilerr // it is no report of this version, whose files are known
	}
	var errs []error
	for _, f := range earlier.Findings {
		name := filepath.Join("scenarios", f.ID+".yaml")
		if _, kept := files[name]; kept || f.Scenario == "" || !filepath.IsLocal(name) {
			continue
		}
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, fmt.Errorf("remove the scenario of an earlier finding: %w", err))
		}
	}
	return errors.Join(errs...)
}

// JSON returns the report as indented JSON.
func JSON(r *Report) ([]byte, error) { return folder.JSON(r) }

// JUnit returns one case for each finding, and one for the whole path. Known findings are skipped.
func JUnit(r *Report) ([]byte, error) {
	var cases []reporters.JUnitTestCase
	for _, f := range r.Findings {
		c := reporters.JUnitTestCase{
			Name: plain.Clean(f.ID + " " + f.Title()), Classname: "explore", Status: string(f.Sort),
		}
		if f.Known != "" {
			c.Skipped = &reporters.JUnitSkipped{Message: plain.Clean("known: " + f.Known)}
		} else {
			c.Failure = &reporters.JUnitFailure{
				Message: plain.Clean(f.What + ": " + f.Words), Type: string(f.Sort), Description: plain.Clean(f.text()),
			}
		}
		cases = append(cases, c)
	}
	whole := reporters.JUnitTestCase{Name: "the whole path", Classname: "explore", Status: "passed"}
	if r.Interrupted || r.unjudged() {
		whole.Status = string(upgrades.Unjudged)
		whole.Error = &reporters.JUnitError{
			Message: plain.Clean(r.Sentence()), Type: "unjudged",
			Description: plain.Clean(strings.Join(r.Unjudged, "\n")),
		}
	}
	return folder.JUnit("explore", r.Sentence(), r.Started, reports.Elapsed(r.Started, r.Finished), append(cases, whole))
}
