package reporttest

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/onsi/ginkgo/v2/reporters"

	"github.com/rehearse-dev/rehearse/reports"
)

// junitElement has what the JUnit schemas of Ant and Jenkins require of an element: its attributes (the required ones
// with a !), and its children in their order.
type junitElement struct{ attributes, children string }

var junitSchema = map[string]junitElement{
	"testsuites": {"name tests disabled errors failures time", "testsuite"},
	"testsuite":  {"name! package tests! disabled skipped errors! failures! time! timestamp!", "properties testcase"},
	"testcase":   {"name! classname! status time!", "skipped error failure system-out system-err"},
	"properties": {"", "property"},
	"property":   {"name! value!", ""},
	"skipped":    {"message", ""},
	"error":      {"message type!", ""},
	"failure":    {"message type!", ""},
	"system-out": {"", ""},
	"system-err": {"", ""},
}

// CheckJUnit returns what is wrong with a JUnit report: its structure, its counts and its numbers. A case without an
// outcome is well: its status must be passed, or one of the others.
func CheckJUnit(text []byte, well ...string) []string {
	var problems []string
	complain := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	type level struct {
		name string
		last int
	}
	stack := []level{}
	decoder := xml.NewDecoder(bytes.NewReader(text))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return append(problems, err.Error())
		}
		switch e := token.(type) {
		case xml.StartElement:
			if len(stack) > 0 {
				parent := &stack[len(stack)-1]
				order := slices.Index(strings.Fields(junitSchema[parent.name].children), e.Name.Local)
				if order < parent.last {
					complain("<%s> in <%s> is not allowed, or not after what is before it", e.Name.Local, parent.name)
				}
				parent.last = order
			} else if e.Name.Local != "testsuites" {
				complain("the root is <%s>", e.Name.Local)
			}
			problems = append(problems, checkAttributes(e)...)
			stack = append(stack, level{name: e.Name.Local})
		case xml.EndElement:
			stack = stack[:len(stack)-1]
		}
	}
	return append(problems, checkCounts(text, append(well, string(reports.Passed)))...)
}

func checkAttributes(e xml.StartElement) []string {
	var problems []string
	allowed := strings.Fields(junitSchema[e.Name.Local].attributes)
	seen := map[string]bool{}
	for _, a := range e.Attr {
		seen[a.Name.Local] = true
		if !slices.Contains(allowed, a.Name.Local) && !slices.Contains(allowed, a.Name.Local+"!") {
			problems = append(problems, fmt.Sprintf("<%s %s> is not allowed", e.Name.Local, a.Name.Local))
		}
		switch a.Name.Local {
		case "time":
			// xs:decimal: no exponent.
			if n, err := strconv.ParseFloat(a.Value, 64); err != nil || n < 0 || strings.ContainsAny(a.Value, "eE") {
				problems = append(problems, fmt.Sprintf("<%s time=%q> is no time", e.Name.Local, a.Value))
			}
		case "name", "type":
			if strings.TrimSpace(a.Value) == "" {
				problems = append(problems, fmt.Sprintf("<%s> with an empty %s", e.Name.Local, a.Name.Local))
			}
		}
	}
	for _, name := range allowed {
		if required, ok := strings.CutSuffix(name, "!"); ok && !seen[required] {
			problems = append(problems, fmt.Sprintf("<%s> without %s", e.Name.Local, required))
		}
	}
	return problems
}

func checkCounts(text []byte, well []string) []string {
	var all, sum reporters.JUnitTestSuites
	if err := xml.Unmarshal(text, &all); err != nil {
		return []string{err.Error()}
	}
	var problems []string
	for _, s := range all.TestSuites {
		var failures, errs, skipped int
		names := map[string]bool{}
		for _, c := range s.TestCases {
			outcomes := 0
			if c.Failure != nil {
				failures++
				outcomes++
			}
			if c.Error != nil {
				errs++
				outcomes++
			}
			if c.Skipped != nil {
				skipped++
				outcomes++
			}
			if (outcomes == 0) != slices.Contains(well, c.Status) || outcomes > 1 {
				problems = append(problems, fmt.Sprintf("case %q with the status %s has %d outcomes", c.Name, c.Status, outcomes))
			}
			if names[c.Name] {
				problems = append(problems, fmt.Sprintf("two cases %q in %q", c.Name, s.Name))
			}
			names[c.Name] = true
		}
		if s.Tests != len(s.TestCases) || s.Failures != failures || s.Errors != errs || s.Skipped != skipped ||
			s.Disabled != skipped {
			problems = append(problems, fmt.Sprintf("suite %q counts wrong", s.Name))
		}
		sum.Tests += s.Tests
		sum.Failures += s.Failures
		sum.Errors += s.Errors
		sum.Disabled += s.Skipped
	}
	if all.Tests != sum.Tests || all.Failures != sum.Failures || all.Errors != sum.Errors || all.Disabled != sum.Disabled {
		problems = append(problems, "the suites do not add up")
	}
	return problems
}
