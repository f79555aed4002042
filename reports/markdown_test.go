package reports_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/internal/reporttest"
)

func TestMarkdown(t *testing.T) {
	for _, st := range reporttest.Stories() {
		t.Run(st.Name, func(t *testing.T) {
			golden.Check(t, "testdata/markdown-"+st.Name+".md", reports.Markdown(reporttest.Told(t, st)))
		})
	}
}

// The summary of a large run fits into a CI system's page.
func TestMarkdownIsShort(t *testing.T) {
	run := &reports.Run{Tracks: []*reports.Track{{}}}
	for i := range 600 {
		s := &reports.Scenario{
			Name: fmt.Sprintf("<s>|%d", i), Status: reports.Passed,
			Steps: []*reports.Step{{Verb: "create", Status: reports.Passed}},
		}
		if i%2 == 0 {
			s.Status, s.Steps[0].Status = reports.Failed, reports.Failed
			s.Steps[0].Message = "```\n" + strings.Repeat("x", 100_000)
		}
		run.Tracks[0].Scenarios = append(run.Tracks[0].Scenarios, s)
	}
	text := reports.Markdown(run)
	if len(text) > 512<<10 {
		t.Errorf("%d bytes", len(text))
	}
	for _, want := range []string{
		"<details><summary>300 passed</summary>", "And 260 more; see junit.xml.",
		`&lt;s>\|599`, "````text\n", "(the rest is in junit.xml)",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing", want)
		}
	}
}

// The summary of one shard does not look like that of the whole run.
func TestMarkdownOfAShard(t *testing.T) {
	run := &reports.Run{Shard: &reports.Shard{Number: 1, Of: 5}}
	if text := reports.Markdown(run); !strings.Contains(text, "This is shard 1/5: the scenarios of the other shards") {
		t.Errorf("it does not name its shard:\n%s", text)
	}
	run.Shard = nil
	if text := reports.Markdown(run); strings.Contains(text, "shard") {
		t.Errorf("a whole run names a shard:\n%s", text)
	}
}
