package reports

import (
	"strings"
	"testing"
	"time"
)

// If a process was killed, what it had begun is an error in the merged run, too.
func TestMergeOfAKilledRun(t *testing.T) {
	now := time.Unix(1000, 0)
	killed := &Run{Head: Head{Started: now}, Tracks: []*Track{{
		Name: "track-1", Setup: []*Step{{Verb: "create", Started: now}, {Verb: "transition"}},
		Scenarios: []*Scenario{{Name: "a", Status: NotRun}},
	}}}
	finished := &Run{Head: Head{Started: now, Finished: now.Add(time.Second)}}
	merged := Merge([]Part{{Run: killed, Prefix: "0"}, {Run: finished, Prefix: "1"}})
	if got := Count(merged); got.Setup != 1 {
		t.Errorf("got %s", got)
	}
	text, err := JUnit(merged)
	if err != nil || !strings.Contains(string(text), "the process ended before this step did") {
		t.Errorf("%v\n%s", err, text)
	}
	killed.Interrupted = true
	if got := Count(Merge([]Part{{Run: killed, Prefix: "0"}, {Run: finished, Prefix: "1"}})); got.Setup != 0 {
		t.Errorf("it was interrupted: got %s", got)
	}
}
