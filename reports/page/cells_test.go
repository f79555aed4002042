package page

import (
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/matrices"
)

// The page of a matrix has each cell with its status, and why it is not passed.
func TestPageOfAMatrix(t *testing.T) {
	r := matrices.New("lws", []string{"v0.7.0", "v0.8.0"}, []string{"1.35"}, []*matrices.Cell{
		{Scenario: "upgrade", Version: "v0.7.0", Kubernetes: "1.35", Status: reports.Failed, Reason: "wanted <3>, seen 2", Title: "upgrade lws v0.7.0"},
		{Scenario: "upgrade", Version: "v0.8.0", Kubernetes: "1.35", Status: reports.Skipped, Reason: "no newer one"},
	})
	text, err := OfMatrix(r)
	golden.Must(t, err)
	for _, want := range []string{
		"lws: 2 cells, 2 versions on 1 of Kubernetes: 0 passed, 1 failed, 1 untested", `class="top v-failed"`,
		`<td class="s-failed" title="wanted &lt;3&gt;, seen 2">`, `<a href="report.html#upgrade-lws-v0.7.0">failed</a>`, "untested", "<code>v0.7.0 on 1.35</code>", "upgrade, v0.8.0 on 1.35: no newer one",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in the page", want)
		}
	}
}

// Failures come first, whatever their scenario. Cells that are untested are folded.
func TestPageOfAMatrixShowsFailuresFirst(t *testing.T) {
	one := func(scenario, version string, status reports.Status, reason string) *matrices.Cell {
		return &matrices.Cell{Scenario: scenario, Version: version, Kubernetes: "1.35", Status: status, Reason: reason}
	}
	text, err := OfMatrix(matrices.New("lws", []string{"v1", "v2", "v3"}, []string{"1.35"}, []*matrices.Cell{
		one("first", "v1", reports.Skipped, "no older one"), one("first", "v2", reports.Error, "no etcd"),
		one("second", "v1", reports.Failed, "too few"), one("second", "v2", matrices.Unstable, "now and then"),
		one("third", "v1", reports.Failed, "too many"), one("third", "v2", reports.Passed, ""),
	}))
	golden.Must(t, err)
	at := -1
	for _, want := range []string{
		"<dd>too few<", "<dd>too many<", "<dd>now and then<", "<dd>no etcd<", "<summary>Untested: 1 reason<",
		"<li>first, v1 on 1.35: no older one</li>", "</details>", "<td>untested</td>",
	} {
		next := strings.Index(string(text[max(at, 0):]), want) + max(at, 0)
		if next <= at {
			t.Errorf("%s is not there, or comes too early", want)
		}
		at = next
	}
	if strings.Contains(string(text), "<dd>no older one<") {
		t.Error("what is untested has a card")
	}
}
