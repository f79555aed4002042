package folder

import (
	"encoding/xml"
	"fmt"
	"math"
	"time"

	"github.com/onsi/ginkgo/v2/reporters"

	"github.com/rehearse-dev/rehearse/reports/internal/plain"
)

// Suite returns a suite of cases with their counts. The root of JUnit XML counts disabled cases instead of skipped
// ones, so the suite counts both.
func Suite(name string, cases []reporters.JUnitTestCase) reporters.JUnitTestSuite {
	suite := reporters.JUnitTestSuite{Name: name, Package: name, Tests: len(cases), TestCases: cases}
	for _, c := range cases {
		switch {
		case c.Failure != nil:
			suite.Failures++
		case c.Error != nil:
			suite.Errors++
		case c.Skipped != nil:
			suite.Skipped++
			suite.Disabled++
		}
	}
	return suite
}

// Timestamp formats a time for JUnit.
func Timestamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05") }

// Seconds returns the number of seconds, rounded to milliseconds. Without rounding, a small number could be written
// with an exponent, which readers of JUnit files do not accept.
func Seconds(d time.Duration) float64 { return math.Round(d.Seconds()*1000) / 1000 }

// JUnit returns one suite of cases as JUnit XML, with the path of the run.
func JUnit(name, path string, started time.Time, took time.Duration, cases []reporters.JUnitTestCase) ([]byte, error) {
	suite := Suite(name, cases)
	suite.Time, suite.Timestamp = Seconds(took), Timestamp(started)
	suite.Properties.Properties = []reporters.JUnitProperty{{Name: "path", Value: plain.Clean(path)}}
	return XML(reporters.JUnitTestSuites{
		Tests: suite.Tests, Failures: suite.Failures, Errors: suite.Errors, Disabled: suite.Skipped, Time: suite.Time,
		TestSuites: []reporters.JUnitTestSuite{suite},
	})
}

// XML returns suites as the content of a file.
func XML(all reporters.JUnitTestSuites) ([]byte, error) {
	text, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the report as JUnit XML: %w", err)
	}
	return append([]byte(xml.Header), append(text, '\n')...), nil
}
