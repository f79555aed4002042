package explorations

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/onsi/ginkgo/v2/reporters"
)

// Write puts explore.json, explore.md, junit.xml, known.yaml and the scenarios of the findings into a folder, which it
// makes if need be.
func Write(dir string, r *Report) error {
	text, err1 := JSON(r)
	junit, err2 := JUnit(r)
	known, err3 := KnownOf(r)
	err4 := os.MkdirAll(filepath.Join(dir, "scenarios"), 0o755)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return fmt.Errorf("write the reports: %w", err)
	}
	files := map[string][]byte{
		"explore.json": text, "explore.md": []byte(Markdown(r)), "junit.xml": junit, "known.yaml": known,
	}
	for _, f := range r.Findings {
		if f.Scenario != "" {
			files[filepath.Join("scenarios", f.ID+".yaml")] = []byte(f.Scenario)
		}
	}
	var errs []error
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			errs = append(errs, fmt.Errorf("write the report: %w", err))
		}
	}
	return errors.Join(errs...)
}

// JSON is the report itself, indented.
func JSON(r *Report) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(r); err != nil {
		return nil, fmt.Errorf("write the report as JSON: %w", err)
	}
	return b.Bytes(), nil
}

// JUnit has one case for each finding, and one for the whole path. Findings that are known are skipped.
func JUnit(r *Report) ([]byte, error) {
	suite := reporters.JUnitTestSuite{
		Name: "explore", Package: "explore", Time: r.Finished.Sub(r.Started).Seconds(),
		Timestamp: r.Started.UTC().Format("2006-01-02T15:04:05"),
	}
	for _, f := range r.Findings {
		c := reporters.JUnitTestCase{Name: clean(f.ID + " " + f.title()), Classname: "explore", Status: string(f.Sort)}
		if f.Known != "" {
			c.Skipped = &reporters.JUnitSkipped{Message: clean("known: " + f.Known)}
			suite.Skipped++
		} else {
			c.Failure = &reporters.JUnitFailure{
				Message: clean(f.What + ": " + f.Words), Type: string(f.Sort), Description: clean(f.text()),
			}
			suite.Failures++
		}
		suite.TestCases = append(suite.TestCases, c)
	}
	whole := reporters.JUnitTestCase{Name: "the whole path", Classname: "explore", Status: "passed"}
	if r.reached() < len(r.Path) || len(r.Unjudged) > 0 {
		whole.Error = &reporters.JUnitError{Message: clean(r.Sentence()), Description: clean(strings.Join(r.Unjudged, "\n"))}
		suite.Errors++
	}
	suite.TestCases = append(suite.TestCases, whole)
	suite.Tests = len(suite.TestCases)
	suite.Properties.Properties = []reporters.JUnitProperty{{Name: "path", Value: clean(r.Sentence())}}
	all := reporters.JUnitTestSuites{
		Tests: suite.Tests, Failures: suite.Failures, Errors: suite.Errors, Disabled: suite.Skipped, Time: suite.Time,
		TestSuites: []reporters.JUnitTestSuite{suite},
	}
	text, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the report as JUnit XML: %w", err)
	}
	return append([]byte(xml.Header), append(text, '\n')...), nil
}

// clean removes what XML 1.0 cannot hold.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.IsControl(r) || r == 0xFFFE || r == 0xFFFF {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}
