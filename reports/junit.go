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

// The names of JUnit suites that are no system's.
const (
	setupSuite     = "setup"
	scenariosSuite = "scenarios"
)

// JUnit is the run as JUnit XML, in Ginkgo's types. Suites, cases and properties have the plan's order, and names that
// are the same in every run of the same scenarios.
//
//   - One suite for each system; scenarios without one are in the suite "scenarios". One case for each scenario.
//   - Work on clusters is no test: it is in the properties of the suite "setup", which has a case only for a track
//     whose setup failed, so that what kept scenarios from running is seen.
//   - Failed is a failure, Error is an error, and NotRun is skipped with the reason.
//   - Skipped is skipped, with the status skipped.
//   - Known is skipped too, with "known issue: ..." as its message, with the status known, and with the property
//     known-issue: it breaks no build, and nobody takes it for a success.
//   - The common schema (Jenkins') knows no properties of a case: they are the suite's, named case/property. Its root
//     has no number of skipped cases but of disabled ones: everywhere disabled is the same as skipped.
//   - A case's time is its own, without transitions and without waiting for others; the time of a suite is from the
//     start of its first case to the end of its last, which is less than their sum where scenarios run side by side.
func JUnit(run *Run) ([]byte, error) { return junit(run, nil) }

// JUnitAttaching is JUnit with a line for each file that a scenario left, in the form in which a CI system shows it
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
	all.Time = seconds(total.duration())
	scrub(&all)
	text, err := folder.XML(all)
	if err != nil {
		return nil, err
	}
	// The encoder writes line ends as references. Only texts have any, attributes are one line each (scrub), so they can
	// be what they are, and the explanation can be read in the file.
	text = bytes.ReplaceAll(text, []byte("&#xA;"), []byte("\n"))
	return bytes.ReplaceAll(text, []byte("&#x9;"), []byte("\t")), nil
}

// junitSuite is a suite in the making.
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

// attachments are the files that a scenario left, a line each.
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

// add takes in a case. Readers of JUnit know a case by its name, so a name that comes again gets a number.
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

// setup takes in what was done for a track's cluster: properties, and a case where it failed.
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

// moveProperties takes a case's properties out of it: the common schema allows them in a suite only. They go into the
// suite's properties, under the case's name, and at the head of the case's output.
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
	suite.Time, suite.Timestamp = seconds(s.span.duration()), folder.Timestamp(began)
	suite.Disabled = suite.Skipped
	suite.Properties.Properties = properties(
		"provider", run.Provider,
		"interrupted", fmt.Sprint(run.Interrupted),
	)
	suite.Properties.Properties = append(suite.Properties.Properties, s.properties...)
	return suite
}

// span is from the first of some times to the last.
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

// scrub removes from every text what XML 1.0 cannot hold.
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
