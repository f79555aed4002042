package upgrades

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/onsi/ginkgo/v2/reporters"

	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/internal/folder"
	"github.com/rehearse-dev/rehearse/reports/internal/plain"
)

// Write writes upgrade.json, upgrade.md and junit.xml into a folder, which it creates if necessary.
func Write(dir string, r *Report) error {
	text, err1 := JSON(r)
	junit, err2 := JUnit(r)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	return folder.Write(dir, map[string][]byte{
		"upgrade.json": text, MarkdownFile: []byte(Markdown(r)), "junit.xml": junit,
	})
}

// MarkdownFile is the name of the report as Markdown.
const MarkdownFile = "upgrade.md"

// JSON returns the report as indented JSON. It can be decoded into a Report.
func JSON(r *Report) ([]byte, error) { return folder.JSON(r) }

// JUnit has one case for each check and kind, named without versions, and one for each finding without a check.
func JUnit(r *Report) ([]byte, error) {
	var cases []reporters.JUnitTestCase
	for _, check := range r.Checks {
		cases = append(cases, r.checkCase(check))
	}
	for _, f := range r.Findings {
		if !r.checked(f) {
			c := r.checkCase(&Check{Name: f.Check, Kind: f.Kind, Severity: f.Severity, Message: f.What + ": " + f.Words})
			if len(f.Objects) > 0 {
				c.Name = plain.Clean(f.Check + " " + f.Objects[0].Name)
			}
			cases = append(cases, c)
		}
	}
	if r.Reached() < len(r.Path) && !r.Idle {
		message := fmt.Sprintf("%d of %d states were reached", r.Reached(), len(r.Path))
		cases = append(cases, reporters.JUnitTestCase{
			Name: "the whole path", Classname: "upgrade", Status: string(Unjudged),
			Error: &reporters.JUnitError{Message: message, Type: "unjudged", Description: r.Sentence()},
		})
	}
	return folder.JUnit("upgrade", r.Sentence(), r.Started, reports.Elapsed(r.Started, r.Finished), cases)
}

func (r *Report) checked(f *Finding) bool {
	for _, check := range r.Checks {
		if f.has(check) {
			return true
		}
	}
	return false
}

// has reports whether the finding belongs to the check.
func (f *Finding) has(check *Check) bool {
	return f.Kind == check.Kind && (f.Check == check.Name || slices.Contains(f.Checks, check.Name))
}

// checkCase returns a check as a JUnit case. What was broken before is skipped: it must not fail a build.
func (r *Report) checkCase(check *Check) reporters.JUnitTestCase {
	c := reporters.JUnitTestCase{Name: plain.Clean(check.Name + " " + check.Kind), Classname: "upgrade", Status: "passed"}
	if check.Severity != "" {
		c.Status = string(check.Severity)
	}
	message := plain.Clean(check.Message)
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

// explain returns the findings of a check in full.
func (r *Report) explain(check *Check) string {
	var texts []string
	for _, f := range r.Findings {
		if f.has(check) {
			texts = append(texts, findingText(f))
		}
	}
	return plain.Clean(strings.Join(texts, "\n"))
}
