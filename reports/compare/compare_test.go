package compare

import (
	"strings"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/reports"
)

func run(all map[string]reports.Status, took time.Duration) *reports.Run {
	track := &reports.Track{}
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		if status, ok := all[name]; ok {
			track.Scenarios = append(track.Scenarios, &reports.Scenario{Name: name, Status: status, Took: reports.Seconds(took)})
		}
	}
	return &reports.Run{Tracks: []*reports.Track{track}}
}

func TestRuns(t *testing.T) {
	before := run(map[string]reports.Status{
		"a": reports.Passed, "b": reports.Failed, "c": reports.Passed,
		"d": reports.Passed,
	}, time.Second)
	after := run(map[string]reports.Status{
		"a": reports.Error, "b": reports.Passed, "c": reports.Passed,
		"e": reports.Passed,
	}, 3*time.Second)
	for _, test := range []struct {
		name          string
		before, after *reports.Run
		want          string
		worsened      bool
	}{
		{"forward", before, after, "1 worse, 1 gone, 1 new, 1 better, 0 different, 1 slower, 0 the same", true},
		{"the same", before, before, "0 worse, 0 gone, 0 new, 0 better, 0 different, 0 slower, 4 the same", false},
		{"back", after, before, "1 worse, 1 gone, 1 new, 1 better, 0 different, 0 slower, 1 the same", true},
		{
			"a new failure", run(nil, 0), run(map[string]reports.Status{"a": reports.Failed}, 0),
			"0 worse, 0 gone, 1 new, 0 better, 0 different, 0 slower, 0 the same", true,
		},
		{
			"a new success", run(nil, 0), run(map[string]reports.Status{"a": reports.Passed}, 0),
			"0 worse, 0 gone, 1 new, 0 better, 0 different, 0 slower, 0 the same", false,
		},
		{
			"a new one that did not run", run(nil, 0), run(map[string]reports.Status{"a": reports.NotRun}, 0),
			"0 worse, 0 gone, 1 new, 0 better, 0 different, 0 slower, 0 the same", true,
		},
		{
			"a failure that had no verdict before", run(map[string]reports.Status{"a": reports.NotRun}, 0),
			run(map[string]reports.Status{"a": reports.Failed}, 0),
			"0 worse, 0 gone, 0 new, 0 better, 1 different, 0 slower, 0 the same", true,
		},
		{
			"no verdict, and then none", run(map[string]reports.Status{"a": reports.NotRun}, 0),
			run(map[string]reports.Status{"a": reports.Skipped}, 0),
			"0 worse, 0 gone, 0 new, 0 better, 1 different, 0 slower, 0 the same", false,
		},
		{
			"not run any more", run(map[string]reports.Status{"a": reports.Passed}, 0),
			run(map[string]reports.Status{"a": reports.NotRun}, 0),
			"1 worse, 0 gone, 0 new, 0 better, 0 different, 0 slower, 0 the same", true,
		},
	} {
		result := Runs(test.before, test.after)
		if text := result.String(); !strings.HasSuffix(text, test.want+"\n") || result.Worsened() != test.worsened {
			t.Errorf("%s: worsened %t: %s", test.name, result.Worsened(), text)
		}
	}
}
