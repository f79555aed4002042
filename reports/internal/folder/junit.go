package folder

import (
	"encoding/xml"
	"fmt"
	"time"

	"github.com/onsi/ginkgo/v2/reporters"

	"github.com/rehearse-dev/rehearse/reports/internal/plain"
)

// JUnit is one suite of cases as JUnit XML, with the path that it is about.
func JUnit(name, path string, started, finished time.Time, cases []reporters.JUnitTestCase) ([]byte, error) {
	suite := reporters.JUnitTestSuite{
		Name: name, Package: name, Tests: len(cases), TestCases: cases, Time: finished.Sub(started).Seconds(),
		Timestamp: started.UTC().Format("2006-01-02T15:04:05"),
	}
	for _, c := range cases {
		switch {
		case c.Failure != nil:
			suite.Failures++
		case c.Error != nil:
			suite.Errors++
		case c.Skipped != nil:
			suite.Skipped++
		}
	}
	suite.Properties.Properties = []reporters.JUnitProperty{{Name: "path", Value: plain.Clean(path)}}
	return XML(reporters.JUnitTestSuites{
		Tests: suite.Tests, Failures: suite.Failures, Errors: suite.Errors, Disabled: suite.Skipped, Time: suite.Time,
		TestSuites: []reporters.JUnitTestSuite{suite},
	})
}

// XML is suites as a file has them.
func XML(all reporters.JUnitTestSuites) ([]byte, error) {
	text, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the report as JUnit XML: %w", err)
	}
	return append([]byte(xml.Header), append(text, '\n')...), nil
}
