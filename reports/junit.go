package reports

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/onsi/ginkgo/v2/reporters"

	"github.com/rehearse-dev/rehearse/reports/internal/folder"
	"github.com/rehearse-dev/rehearse/reports/internal/plain"
)

// The names of JUnit suites that do not belong to a system.
const (
	setupSuite     = "setup"
	scenariosSuite = "scenarios"
)

// JUnit returns the run as JUnit XML, in Ginkgo's types. Suites, cases and properties are in the plan's order. Their
// names are the same in every run of the same scenarios.
//
//   - One suite for each system; scenarios without one are in the suite "scenarios". One case for each scenario.
//   - Work on clusters is not a test: it is in the properties of the suite "setup". That suite has a case only for a
//     track whose setup failed, to show why scenarios did not run.
//   - Failed is a failure, Error is an error, and NotRun is skipped with the reason. If the run ended before all of its
//     scenarios did, the suite "setup" has one more case, which is an error.
//   - Skipped is skipped, with the status skipped.
//   - Known is also skipped, with the message "known issue: ...", the status known and the property known-issue: it
//     does not break a build, and cannot be mistaken for a success.
//   - The common schema (Jenkins') does not allow properties in a case: they are in the suite, named case/property.
//     Its root counts disabled cases instead of skipped ones: disabled always equals skipped.
//   - A case's time is its own, without transitions and without waiting for others. A suite's time is from the start
//     of its first case to the end of its last, which is less than their sum if scenarios run at the same time.
func JUnit(run *Run) ([]byte, error) { return junit(run, nil) }

// JUnitAttaching returns JUnit with a line for each file that a scenario left, in the form that a CI system shows
// beside the case.
func JUnitAttaching(attach func(artifact string) string) func(*Run) ([]byte, error) {
	return func(run *Run) ([]byte, error) { return junit(run, attach) }
}

func junit(run *Run, attach func(string) string) ([]byte, error) {
	suites := junitSuites(run, attach)
	all := reporters.JUnitTestSuites{TestSuites: []reporters.JUnitTestSuite{}}
	total := span{}
	total.add(run.Started, run.Finished)
	for _, s := range suites {
		suite := s.finish(run)
		all.Tests += suite.Tests
		all.Disabled += suite.Disabled
		all.Errors += suite.Errors
		all.Failures += suite.Failures
		all.TestSuites = append(all.TestSuites, suite)
		total.add(s.span.from, s.span.to)
	}
	all.Time = folder.Seconds(total.duration())
	if len(run.Periods()) > 1 { // shards that ran at different times
		all.Time = folder.Seconds(run.Duration())
	}
	scrub(&all)
	text, err := folder.XML(all)
	if err != nil {
		return nil, err
	}
	// The encoder escapes line ends and tabs. Only texts have them, since attributes are one line each (scrub), so they
	// can be unescaped: then the explanation is readable in the file.
	text = bytes.ReplaceAll(text, []byte("&#xA;"), []byte("\n"))
	return bytes.ReplaceAll(text, []byte("&#x9;"), []byte("\t")), nil
}

// junitSuite is a suite that is being built.
type junitSuite struct {
	name  string
	span  span
	cases []reporters.JUnitTestCase
	names map[string]int
	// properties of the cases, each under its case's name.
	properties []reporters.JUnitProperty
}

func junitSuites(run *Run, attach func(string) string) []*junitSuite {
	var suites []*junitSuite
	suite := func(name string) *junitSuite {
		if i := slices.IndexFunc(suites, func(s *junitSuite) bool { return s.name == name }); i >= 0 {
			return suites[i]
		}
		suites = append(suites, &junitSuite{name: name, names: map[string]int{}})
		return suites[len(suites)-1]
	}
	for _, track := range run.Tracks {
		if len(track.Setup) > 0 {
			suite(setupSuite).setup(run, track)
		}
	}
	if c := endedEarlyCase(run); c != nil {
		suite(setupSuite).add(*c, time.Time{}, time.Time{})
	}
	for _, track := range run.Tracks {
		for _, s := range track.Scenarios {
			name := s.System
			if name == "" {
				name = scenariosSuite
			}
			c := scenarioCase(run, track, s)
			c.SystemOut += attachments(s, attach)
			suite(name).add(c, s.Started, s.Finished)
		}
	}
	return suites
}

// attachments lists the files that a scenario left, one line each.
func attachments(s *Scenario, attach func(string) string) string {
	if attach == nil {
		return ""
	}
	text := ""
	for _, artifact := range s.Artifacts {
		if line := attach(artifact); line != "" {
			text += "\n" + line
		}
	}
	return text
}

// add adds a case. Readers of JUnit identify a case by its name, so a repeated name gets a number.
func (s *junitSuite) add(c reporters.JUnitTestCase, started, finished time.Time) {
	s.names[c.Name]++
	if n := s.names[c.Name]; n > 1 {
		c.Name = fmt.Sprintf("%s (%d)", c.Name, n)
	}
	c.Classname = s.name
	s.moveProperties(&c)
	s.cases = append(s.cases, c)
	s.span.add(started, finished)
}

// setup adds the work on a track's cluster: properties, and a case if it failed.
func (s *junitSuite) setup(run *Run, track *Track) {
	s.properties = append(s.properties, properties(track.Name+"/path", strings.Join(track.Path, " -> "))...)
	for i, step := range track.Setup {
		name := fmt.Sprintf("%s/%d", track.Name, i+1)
		s.properties = append(s.properties, properties(name, setupSummary(run, track, step))...)
		s.span.add(step.Started, step.Finished)
	}
	if c := setupCase(run, track); c != nil {
		s.add(*c, time.Time{}, time.Time{})
	}
}

// moveProperties moves a case's properties to the suite's, under the case's name, and to the start of the case's
// output: the common schema allows properties only in a suite.
func (s *junitSuite) moveProperties(c *reporters.JUnitTestCase) {
	if c.Properties == nil {
		return
	}
	var head strings.Builder
	for _, p := range c.Properties.Properties {
		fmt.Fprintf(&head, "%s: %s\n", p.Name, p.Value)
		s.properties = append(s.properties, reporters.JUnitProperty{Name: c.Name + "/" + p.Name, Value: p.Value})
	}
	c.Properties = nil
	c.SystemOut = strings.TrimRight(head.String()+"\n"+c.SystemOut, "\n")
}

func (s *junitSuite) finish(run *Run) reporters.JUnitTestSuite {
	began := s.span.from
	if began.IsZero() {
		began = run.Started
	}
	suite := folder.Suite(s.name, s.cases)
	suite.Time, suite.Timestamp = folder.Seconds(s.span.duration()), folder.Timestamp(began)
	suite.Properties.Properties = properties(
		"provider", run.Provider,
		"interrupted", fmt.Sprint(run.Interrupted),
	)
	suite.Properties.Properties = append(suite.Properties.Properties, s.properties...)
	return suite
}

// span is the time from the earliest of some times to the latest.
type span struct{ from, to time.Time }

func (s *span) add(from, to time.Time) {
	if !from.IsZero() && (s.from.IsZero() || from.Before(s.from)) {
		s.from = from
	}
	if to.After(s.to) {
		s.to = to
	}
}

func (s *span) duration() time.Duration { return Elapsed(s.from, s.to) }

// scrub removes what XML 1.0 does not allow from every text, and makes attributes one line each.
func scrub(all *reporters.JUnitTestSuites) {
	for i := range all.TestSuites {
		suite := &all.TestSuites[i]
		suite.Name, suite.Package = plain.OneLine(suite.Name), plain.OneLine(suite.Package)
		scrubProperties(suite.Properties.Properties)
		for j := range suite.TestCases {
			c := &suite.TestCases[j]
			c.Name, c.Classname, c.SystemOut = plain.OneLine(c.Name), plain.OneLine(c.Classname), plain.Clean(c.SystemOut)
			if c.Failure != nil {
				c.Failure.Message, c.Failure.Description = plain.OneLine(c.Failure.Message), plain.Clean(c.Failure.Description)
			}
			if c.Error != nil {
				c.Error.Message, c.Error.Description = plain.OneLine(c.Error.Message), plain.Clean(c.Error.Description)
			}
			if c.Skipped != nil {
				c.Skipped.Message = plain.OneLine(c.Skipped.Message)
			}
		}
	}
}

func scrubProperties(list []reporters.JUnitProperty) {
	for i := range list {
		list[i].Name, list[i].Value = plain.OneLine(list[i].Name), plain.OneLine(list[i].Value)
	}
}
