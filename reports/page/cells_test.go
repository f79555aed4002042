package page

import (
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/matrices"
)

// The page of a matrix has each cell with its status, and why it is not passed.
func TestPageOfAMatrix(t *testing.T) {
	r := matrices.New("lws", []string{"v0.7.0", "v0.8.0"}, []string{"1.35"}, []*matrices.Cell{
		{Scenario: "upgrade", Version: "v0.7.0", Kubernetes: "1.35", Status: reports.Failed, Reason: "wanted <3>, seen 2"},
		{Scenario: "upgrade", Version: "v0.8.0", Kubernetes: "1.35", Status: reports.Skipped, Reason: "no newer one"},
	})
	text, err := OfMatrix(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"lws: 2 cells, 2 versions on 1 of Kubernetes: 0 passed, 1 failed, 1 untested", `class="top v-failed"`,
		`<td class="s-failed" title="wanted &lt;3&gt;, seen 2">`, "untested", "<code>v0.7.0 on 1.35</code>", "no newer one",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in the page", want)
		}
	}
}
