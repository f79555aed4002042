package page

import (
	"testing"
	"testing/fstest"
	"time"

	"github.com/rehearse-dev/rehearse/reports"
)

// Every form of line has its time, in the time zone of the machine that ran the component.
func TestLinesOfLogs(t *testing.T) {
	east := time.FixedZone("", 2*60*60)
	near := time.Date(2026, 1, 1, 1, 0, 0, 0, east)
	at := time.Date(2025, 12, 31, 23, 0, 1, 500_000_000, time.UTC)
	for _, test := range []struct {
		line, text string
		grave      bool
	}{
		{"W0101 01:00:01.500000   16011 options.go:263] external host", "W options.go:263] external host", true},
		{"I0101 01:00:01.500000   16011 options.go:263] hello", "I options.go:263] hello", false},
		{`time=2026-01-01T01:00:01.500+02:00 level=INFO msg="it runs" logger=lws`, `I msg="it runs" logger=lws`, false},
		{`time=2025-12-31T23:00:01.5Z level=ERROR msg=no`, `E msg=no`, true},
		{`{"level":"warn","ts":"2025-12-31T23:00:01.500000Z","msg":"slow","error":"late"}`, "W slow late", true},
		{`{"level":"info","ts":"2026-01-01T01:00:01.500000+0200","msg":"etcd"}`, "I etcd", false},
		{`{"level":"info","ts":"2025-12-31T23:00:01.500000000Z","msg":"nanoseconds"}`, "I nanoseconds", false},
		{`{"level":"ERROR","time":"2025-12-31T23:00:01.5Z","msg":"slog"}`, "E slog", true},
		{"2026-01-01T01:00:01.5+02:00\tERROR\tsetup\tno port", "ERROR setup\tno port", true},
		{"2025-12-31T23:00:01.5Z plain", "plain", false},
	} {
		got, ok := parseLine(test.line, near)
		if !ok || !got.at.Equal(at) || got.grave != test.grave || cutLine(got.Text) != test.text {
			t.Errorf("%s\nis %v, %s, grave %t, %q", test.line, ok, got.at.UTC(), got.grave, got.Text)
		}
	}
	for _, line := range []string{
		"", "goroutine 1 [running]:", `{"msg":"x"}`, "time=now level=INFO msg=x", "W9999 01:00:01.500000 1 a",
	} {
		if got, ok := parseLine(line, near); ok {
			t.Errorf("%q has the time %s", line, got.at)
		}
	}
}

// Around the turn of the year, a line of Kubernetes belongs to the nearer year.
func TestYearOfALine(t *testing.T) {
	for near, want := range map[string]int{"2026-01-01T00:00:01Z": 2025, "2025-12-31T23:59:58Z": 2025} {
		of, err := time.Parse(time.RFC3339, near)
		if err != nil {
			t.Fatal(err)
		}
		if at, err := klogTime("1231 23:59:59.000000", of); err != nil || at.Year() != want {
			t.Errorf("near %s: %s, %v", near, at, err)
		}
	}
}

// A step has the lines of its time, and names the logs that have none.
func TestLogsOfAStep(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := &reports.Scenario{
		Status: reports.Failed, Started: at,
		Artifacts: []string{"s/system-lws-1.log", "s/etcd-1.log", "s/odd-1.log", "s/missing.log"},
	}
	logs := readLogs(s, fstest.MapFS{
		"s/system-lws-1.log": {Data: []byte("time=2026-01-01T00:00:05.350Z level=INFO msg=mine\n" +
			"time=2026-01-01T00:00:09Z level=INFO msg=later\n")},
		"s/etcd-1.log": {Data: []byte(`{"level":"info","ts":"2026-01-01T00:00:09Z","msg":"x"}` + "\n")},
		"s/odd-1.log":  {Data: []byte("hello\n")},
	})
	within, silent := logs.of(&reports.Step{Started: at.Add(5 * time.Second), Finished: at.Add(6 * time.Second)})
	if len(within) != 1 || within[0].From != "system-lws-1" || within[0].Text != "step +350ms I msg=mine" {
		t.Errorf("the lines are %+v", within)
	}
	if want := "No line of this time in: etcd-1. No line with a time that the page can read in: odd-1."; silent != want {
		t.Errorf("it says %q", silent)
	}
	if _, silent := logs.of(&reports.Step{}); silent != "" {
		t.Errorf("of a step that did not run: %q", silent)
	}
}
