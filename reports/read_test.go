package reports_test

import (
	"path/filepath"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
)

func TestReadReadsAnOlderFormat(t *testing.T) {
	data := []byte(golden.Read(t, filepath.Join("testdata", "run-format-1.json")))
	run, err := reports.Read(data)
	golden.Must(t, err)
	if counts := reports.Count(run); run.Format != 1 || counts.Passed == 0 || counts.Total() != 3 {
		t.Errorf("format %d with %s", run.Format, counts)
	}
}

func TestReadRejects(t *testing.T) {
	for text, want := range map[string]string{
		`{"format": 99, "program": "v9.9.9", "started": "2026-01-01T00:00:00Z", "tracks": []}`: "written by rehearse v9.9.9, use that one",
		`{"findings": [], "path": []}`: "not a result of rehearse run",
		`{`:                            "read a run.json: unexpected end",
	} {
		_, err := reports.Read([]byte(text))
		golden.Error(t, err, want)
	}
}
