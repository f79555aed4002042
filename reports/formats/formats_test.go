package formats_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/formats"
	"github.com/rehearse-dev/rehearse/reports/internal/reporttest"
)

// A run writes each format that has a file, before and after its end.
func TestARunWritesTheFormats(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "report")
	run := *reporttest.Plan()
	run.Started = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	files := reports.NewFiles(dir, clock.RealClock{}, formats.InFolder(dir, nil)...)
	finished := run
	finished.Finished = run.Started.Add(time.Minute)
	for _, event := range []reports.Event{
		{Kind: reports.RunStarted, Run: &run}, {Kind: reports.RunFinished, Run: &finished},
	} {
		golden.Must(t, files.Observe(event))
		var names []string
		entries, err := os.ReadDir(dir)
		for _, entry := range entries {
			names = append(names, entry.Name())
		}
		if want := []string{"junit.xml", "report.html", "run.json"}; err != nil || !slices.Equal(names, want) {
			t.Errorf("%s: %v, %v, want %v", event.Kind, names, err, want)
		}
	}
}

// No two formats have the same command or file.
func TestFormatsDiffer(t *testing.T) {
	names := map[string]bool{"": true}
	for _, format := range formats.All() {
		if format.Name != "" && names[format.Name] || format.File != "" && names[format.File] {
			t.Errorf("%s, %s is there twice", format.Name, format.File)
		}
		names[format.Name], names[format.File] = true, true
	}
}
