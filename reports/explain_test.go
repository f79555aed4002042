package reports

import (
	"slices"
	"testing"
	"time"
)

func TestAttemptsThatDifferInNumbersAreOneLine(t *testing.T) {
	began := time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC)
	step := &Step{Started: began}
	for i, outcome := range []string{
		"unknown: port 26818 at 09:18:04", "unknown: port 26819 at 09:18:05", "unknown: port 26820 at 09:18:06",
		"conflict", "unknown: port 26821 at 09:18:07",
	} {
		step.Attempts = append(step.Attempts, Attempt{At: began.Add(time.Duration(i+1) * time.Second), Outcome: outcome})
	}
	want := []string{
		"after 1.0s    unknown: port 26818 at 09:18:04", "after 3.0s    the last of 2 more that differ only in numbers: unknown: port 26820 at 09:18:06",
		"after 4.0s    conflict", "after 5.0s    unknown: port 26821 at 09:18:07",
	}
	if got := AttemptLines(step); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
