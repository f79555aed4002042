package upgrades

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/onsi/ginkgo/v2/reporters"
)

// Write puts upgrade.json, upgrade.md and junit.xml into a folder, which it makes if need be.
func Write(dir string, r *Report) error {
	text, err1 := JSON(r)
	junit, err2 := JUnit(r)
	if err := errors.Join(err1, err2, os.MkdirAll(dir, 0o755)); err != nil {
		return fmt.Errorf("write the reports: %w", err)
	}
	var errs []error
	for name, data := range map[string][]byte{
		"upgrade.json": text, "upgrade.md": []byte(Markdown(r)),
		"junit.xml": junit,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			errs = append(errs, fmt.Errorf("write the report: %w", err))
		}
	}
	return errors.Join(errs...)
}

// JSON is the report itself, indented. It can be read back into a Report.
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

// JUnit has one case for each check and kind, whose names hold no versions, and one for each finding that no check has.
func JUnit(r *Report) ([]byte, error) {
	suite := reporters.JUnitTestSuite{
		Name: "upgrade", Package: "upgrade", Time: r.Finished.Sub(r.Started).Seconds(),
		Timestamp: r.Started.UTC().Format("2006-01-02T15:04:05"),
	}
	for _, check := range r.Checks {
		suite.TestCases = append(suite.TestCases, r.checkCase(check))
	}
	for _, f := range r.Findings {
		if !r.checked(f) {
			c := r.checkCase(&Check{Name: f.Check, Kind: f.Kind, Severity: f.Severity, Message: f.What + ": " + f.Words})
			if len(f.Objects) > 0 {
				c.Name = clean(f.Check + " " + f.Objects[0].Name)
			}
			suite.TestCases = append(suite.TestCases, c)
		}
	}
	if r.reached() < len(r.Path) {
		message := fmt.Sprintf("%d of %d states were reached", r.reached(), len(r.Path))
		suite.TestCases = append(suite.TestCases, reporters.JUnitTestCase{
			Name: "the whole path", Classname: "upgrade",
			Error: &reporters.JUnitError{Message: message, Description: r.Sentence()},
		})
	}
	for _, c := range suite.TestCases {
		switch {
		case c.Failure != nil:
			suite.Failures++
		case c.Error != nil:
			suite.Errors++
		case c.Skipped != nil:
			suite.Skipped++
		}
	}
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

func (r *Report) checked(f *Finding) bool {
	for _, check := range r.Checks {
		if f.has(check) {
			return true
		}
	}
	return false
}

// has says whether the finding is one of the check's.
func (f *Finding) has(check *Check) bool {
	return f.Kind == check.Kind && (f.Check == check.Name || slices.Contains(f.Checks, check.Name))
}

// checkCase is a check as a JUnit case. What was broken before is skipped: it was not judged, and breaks no build.
func (r *Report) checkCase(check *Check) reporters.JUnitTestCase {
	c := reporters.JUnitTestCase{Name: clean(check.Name + " " + check.Kind), Classname: "upgrade", Status: "passed"}
	if check.Severity != "" {
		c.Status = string(check.Severity)
	}
	message := clean(check.Message)
	switch check.Severity {
	case Breaks:
		c.Failure = &reporters.JUnitFailure{Message: message, Type: "breaks", Description: r.explain(check)}
	case Unjudged:
		c.Error = &reporters.JUnitError{Message: message, Type: "unjudged", Description: r.explain(check)}
	case Before:
		c.Skipped = &reporters.JUnitSkipped{Message: "broken before the upgrade: " + message}
	case Changes:
		c.SystemOut = r.explain(check)
	}
	return c
}

// explain has the findings of a check in full.
func (r *Report) explain(check *Check) string {
	var texts []string
	for _, f := range r.Findings {
		if f.has(check) {
			texts = append(texts, findingText(f))
		}
	}
	return clean(strings.Join(texts, "\n"))
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
