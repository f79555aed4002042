package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// clause is a statement of a declarative pipeline: a name, the values after it, and a block in braces.
type clause struct {
	name   string
	values []string // texts, names of arguments, and calls
	block  []*clause
}

// token matches a piece of Groovy that pipelines need: a quoted text, a word, a sign, the end of a line, or a
// comment.
var token = regexp.MustCompile(`'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n$]|\\.)*"|\w+|[{}()\[\]:,]|\n|//[^\n]*`)

// pipelineOf parses a pipeline. Groovy ends a statement at the end of a line, or at the end of its block.
func pipelineOf(text string) ([]*clause, error) {
	rest := text
	var tokens []string
	for strings.TrimLeft(rest, " \t") != "" {
		rest = strings.TrimLeft(rest, " \t")
		at := token.FindStringIndex(rest)
		if at == nil || at[0] != 0 {
			return nil, fmt.Errorf("this is no Groovy: %.40q", rest)
		}
		if one := rest[:at[1]]; !strings.HasPrefix(one, "//") {
			tokens = append(tokens, one)
		}
		rest = rest[at[1]:]
	}
	all, left, err := clausesOf(tokens)
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("%q closes nothing", left[0])
	}
	return all, err
}

// clausesOf parses statements up to the brace that closes their block.
func clausesOf(tokens []string) (all []*clause, rest []string, err error) {
	var now *clause
	var open []string // the closing brackets and parentheses that are still missing
	for len(tokens) > 0 {
		one := tokens[0]
		switch {
		case one == "}" && len(open) == 0:
			return all, tokens, nil
		case one == "\n" && len(open) == 0:
			now = nil
		case one == "\n":
		case one == "(" || one == "[":
			open = append(open, map[string]string{"(": ")", "[": "]"}[one])
		case one == ")" || one == "]":
			if len(open) == 0 || open[len(open)-1] != one {
				return nil, nil, fmt.Errorf("%q closes nothing", one)
			}
			open = open[:len(open)-1]
		case one == "{" && now != nil && now.block == nil && len(open) == 0:
			if now.block, tokens, err = clausesOf(tokens[1:]); err != nil {
				return nil, nil, err
			}
			if len(tokens) == 0 {
				return nil, nil, fmt.Errorf("the block of %s is not closed", now.name)
			}
			now.block = slices.Clip(now.block)
			if now.block == nil {
				now.block = []*clause{}
			}
		case now != nil && now.block == nil:
			now.values = append(now.values, one)
		case now == nil && regexp.MustCompile(`^\w+$`).MatchString(one):
			now = &clause{name: one}
			all = append(all, now)
		default:
			return nil, nil, fmt.Errorf("a statement begins with %q", one)
		}
		tokens = tokens[1:]
	}
	if len(open) > 0 {
		return nil, nil, fmt.Errorf("%q is missing", open[len(open)-1])
	}
	return all, nil, nil
}

// declarative has the sections that are allowed in each section of a declarative pipeline, and steps has the steps
// that examples/ci uses, with the names of their arguments: https://www.jenkins.io/doc/book/pipeline/syntax/ and the
// references of the steps sh, junit and archiveArtifacts, and of the plugin junit-attachments.
var (
	declarative = map[string][]string{
		"":         {"pipeline"},
		"pipeline": {"agent", "environment", "options", "parameters", "triggers", "tools", "stages", "post"},
		"stages":   {"stage"},
		"stage":    {"agent", "environment", "options", "tools", "when", "input", "steps", "post"},
		"post":     {"always", "changed", "failure", "success", "unstable", "aborted", "cleanup", "unsuccessful"},
	}
	steps = map[string][]string{
		"sh": {"script"}, "junit": {"testResults", "testDataPublishers", "allowEmptyResults"},
		"archiveArtifacts": {"artifacts", "allowEmptyArchive"},
	}
)

// checked checks a pipeline's sections, and calls step for each of its steps.
func checked(section string, clauses []*clause, step func(*clause)) error {
	for _, c := range clauses {
		allowed, isSection := declarative[section]
		switch {
		case isSection && !slices.Contains(allowed, c.name):
			return fmt.Errorf("section %q has no %s", section, c.name)
		case !isSection && steps[c.name] == nil:
			return fmt.Errorf("there is no step %s in %s", c.name, section)
		case !isSection:
			for i, value := range c.values {
				if i+1 < len(c.values) && c.values[i+1] == ":" && !slices.Contains(steps[c.name], value) {
					return fmt.Errorf("step %s has no argument %s", c.name, value)
				}
			}
			step(c)
		case c.name == "agent":
			continue
		case len(c.block) == 0:
			return fmt.Errorf("section %s is empty", c.name)
		default:
			if err := checked(c.name, c.block, step); err != nil {
				return err
			}
		}
	}
	return nil
}

// jenkins reads the declarative pipeline of examples/ci: its commands, and what it keeps.
func jenkins(t *testing.T) workflow {
	t.Helper()
	job := workflow{file: "Jenkinsfile"}
	var commands []string
	text := func(c *clause, argument string) string {
		for i, value := range c.values {
			named := i > 1 && c.values[i-1] == ":"
			if strings.HasPrefix(value, "'") && (!named || c.values[i-2] == argument) {
				return strings.Trim(value, "'")
			}
		}
		t.Errorf("step %s has no %s: %q", c.name, argument, c.values)
		return ""
	}
	pipeline, err := pipelineOf(ciFile(t, "Jenkinsfile"))
	if err == nil {
		err = checked("", pipeline, func(c *clause) {
			switch c.name {
			case "sh":
				commands = append(commands, text(c, "script"))
			case "junit":
				job.junit = text(c, "testResults")
			case "archiveArtifacts":
				job.kept = strings.TrimSuffix(text(c, "artifacts"), "/**")
			}
		})
	}
	if err != nil {
		t.Errorf("Jenkins' pipeline: %v", err)
	}
	job.jobs = [][]string{commands}
	return job
}

func TestPipelinesThatJenkinsRejects(t *testing.T) {
	const whole = "pipeline {\n  agent any\n  stages { stage('a') { steps { sh 'x' } } }\n  post { always { junit 'y' " +
		"} }\n}\n"
	if all, err := pipelineOf(whole); err != nil || checked("", all, func(*clause) {}) != nil {
		t.Fatalf("a good one: %v", err)
	}
	for name, spoiled := range map[string]string{
		"a brace is missing":          strings.Replace(whole, "'x' }", "'x'", 1),
		"a brace too many":            whole + "}",
		"a quote is missing":          strings.Replace(whole, "'x'", "'x", 1),
		"a parenthesis is missing":    strings.Replace(whole, "('a')", "('a'", 1),
		"two statements in a line":    strings.Replace(whole, "} }\n  post", "} } post", 1),
		"a step that is not there":    strings.Replace(whole, "sh ", "shell ", 1),
		"an argument that is unknown": strings.Replace(whole, "junit ", "junit results: ", 1),
		"steps outside of a stage":    strings.Replace(whole, "stage('a') { steps { sh 'x' } }", "steps { sh 'x' }", 1),
		"a condition of its own":      strings.Replace(whole, "always", "finally", 1),
		"a step outside of steps":     strings.Replace(whole, "steps { sh 'x' }", "sh 'x'", 1),
	} {
		all, err := pipelineOf(spoiled)
		if err == nil {
			err = checked("", all, func(*clause) {})
		}
		if err == nil {
			t.Errorf("%s: it is taken:\n%s", name, spoiled)
		}
	}
}
