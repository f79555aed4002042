package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
)

// A page links the files of failed scenarios wherever it is, also those of several runs. It only names a file that no
// longer exists. A page on standard output has no links, since its place is unknown.
func TestPageElsewhereLinksFiles(t *testing.T) {
	failed := func(r *reports.Run) { r.Tracks[0].Scenarios[0].Status = reports.Failed }
	first, second := written(t, 1, failed), written(t, 2, failed)
	pages := filepath.Join(t.TempDir(), "pages")
	golden.Must(t, os.Mkdir(pages, 0o700))
	page := func(output string, runs ...string) string {
		t.Helper()
		code, out, errs := command(t, append([]string{"report", "html", "-o", output}, runs...)...)
		if code != cli.ExitOK {
			t.Fatalf("exit code %d: %s", code, errs)
		}
		if output == "-" {
			return out
		}
		return golden.Read(t, output)
	}
	to := func(dir string) string {
		t.Helper()
		link, err := filepath.Rel(pages, filepath.Join(dir, "s", "history.jsonl"))
		golden.Must(t, err)
		return `<a href="` + filepath.ToSlash(link) + `">history.jsonl</a>, gone.txt</p>`
	}
	elsewhere := page(filepath.Join(pages, "both.html"), first, second)
	for _, want := range []string{to(first), to(second)} {
		if !strings.Contains(elsewhere, want) {
			t.Errorf("no %s in the page of two runs", want)
		}
	}
	if text := page(filepath.Join(pages, "one.html"), first); !strings.Contains(text, to(first)) {
		t.Errorf("no %s in the page of one run", to(first))
	}
	const beside = `<a href="s/history.jsonl">history.jsonl</a>`
	if text := page(filepath.Join(first, "report.html"), first); !strings.Contains(text, beside) {
		t.Errorf("no %s in the page of the report folder", beside)
	}
	if text := page("-", first); !strings.Contains(text, "history.jsonl, gone.txt") {
		t.Error("standard output has links, or no names")
	}
}
