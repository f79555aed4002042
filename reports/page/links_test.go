package page

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io/fs"
	"os"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
)

// severalRuns returns two runs of the same scenarios as one. The first one passed. The second one failed a day later.
func severalRuns() (*reports.Run, fs.FS) {
	good, _ := brokenRun()
	for _, s := range good.Tracks[0].Scenarios {
		s.Status, s.Artifacts = reports.Passed, nil
		for _, step := range s.Steps {
			step.Status, step.Message = reports.Passed, ""
		}
	}
	bad, _ := brokenRun()
	shift := func(times ...*time.Time) {
		for _, at := range times {
			if !at.IsZero() {
				*at = at.Add(24 * time.Hour)
			}
		}
	}
	shift(&bad.Started)
	bad.Finished = bad.Started.Add(90 * time.Second)
	track := bad.Tracks[0]
	for i := range track.Processes {
		shift(&track.Processes[i].Started, &track.Processes[i].Ready, &track.Processes[i].Ended)
	}
	steps := track.Setup
	for _, s := range track.Scenarios {
		shift(&s.Started, &s.Finished)
		steps = append(steps, s.Steps...)
	}
	for _, step := range steps {
		shift(&step.Started, &step.Finished)
	}
	history := strings.ReplaceAll(brokenHistory, "2026-01-01", "2026-01-02")
	return reports.Merge([]reports.Part{{Run: good, Prefix: "0"}, {Run: bad, Prefix: "1"}}),
		fstest.MapFS{"1/broken/history.jsonl": {Data: []byte(history)}}
}

// dataIn returns the data of the script.
func dataIn(t *testing.T, run *reports.Run, files fs.FS) (data runData) {
	t.Helper()
	c := collector{run: run, histories: readHistories(run, files), files: files, anchors: anchorsOf(run)}
	packed, _, err := c.data()
	golden.Must(t, err)
	zipped, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(packed)))
	golden.Must(t, err)
	golden.Must(t, json.NewDecoder(zipped).Decode(&data))
	return data
}

// In a page of several runs, each link leads to one scenario, pauses between the runs do not count, and each track
// begins at the start of its own run.
func TestPageOfSeveralRuns(t *testing.T) {
	run, files := severalRuns()
	data := dataIn(t, run, files)
	var ids []string
	for _, s := range data.Scenarios {
		ids = append(ids, s.Anchor+" "+s.Status)
	}
	if want := []string{
		"good passed", "broken passed", "unknown passed", "good-2 passed", "broken-2 failed", "unknown-2 error",
	}; !reflect.DeepEqual(ids, want) {
		t.Errorf("the scenarios are %q", ids)
	}
	day := (24 * time.Hour).Milliseconds()
	if data.End != 90_000 || data.Tracks[0].Start != 0 || data.Tracks[1].Start != data.Start+day {
		t.Errorf("the timeline ends at %d, and the tracks begin at %d and %d", data.End, data.Tracks[0].Start,
			data.Tracks[1].Start)
	}
	if first, second := data.Scenarios[1].Steps[1], data.Scenarios[4].Steps[1]; first.From != 5000 || second.From != 5000 {
		t.Errorf("the same step begins at %d and %d", first.From, second.From)
	}
	if at := data.Scenarios[4].Objects[0].Changes[0][0]; at != 3000.0 {
		t.Errorf("an object of the second run changed at %v", at)
	}
	if bands := data.Tracks[0].Bands; bands[len(bands)-1].To != 9000 {
		t.Errorf("the first run ends at %d", bands[len(bands)-1].To)
	}
	text, err := Of(run, nil, nil)
	golden.Must(t, err)
	holds(t, text, `<tr id="broken-2"`, `href="#broken-2%2f2"`, `<span id="broken-2/2"></span>`,
		"<dt>Took</dt><dd>1m39s</dd>")
	if bytes.Contains(text, []byte(`href="#broken%2f`)) {
		t.Error("a link of the failed scenario leads to the passed one")
	}
}

// Runs that overlap keep their places.
func TestRunsAtTheSameTimeShareTheirTimes(t *testing.T) {
	first, _ := brokenRun()
	second, _ := brokenRun()
	second.Started = second.Started.Add(2 * time.Second)
	data := dataIn(t, reports.Merge([]reports.Part{{Run: first, Prefix: "0"}, {Run: second, Prefix: "1"}}), nil)
	if data.End != 9000 || data.Tracks[1].Start != 0 || data.Scenarios[4].Steps[1].From != 5000 {
		t.Errorf("it ends at %d, the second track begins at %d", data.End, data.Tracks[1].Start)
	}
}

// A name that looks like one with a number does not take its place.
func TestAnchorsAreThereOnce(t *testing.T) {
	run := &reports.Run{Tracks: []*reports.Track{{Scenarios: []*reports.Scenario{
		{Name: "a"}, {Name: "a-2"}, {Name: "a"}, {Name: "b [x/y]"}, {Name: "b [x y]"},
	}}}}
	all := anchorsOf(run)
	var got []string
	for _, s := range run.Tracks[0].Scenarios {
		got = append(got, all[s])
	}
	if want := []string{"a", "a-2", "a-3", "b-[x-y]", "b-[x-y]-2"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
}

func TestTheCommandThatRunsAScenarioAlone(t *testing.T) {
	for _, test := range []struct{ command, name, want string }{
		{"rehearse run a.yaml", "web", "rehearse run a.yaml --focus='^web$'"},
		{"rehearse run a.yaml --repeat=3", "it's [1.35]", `rehearse run a.yaml --repeat=3 --focus='^it'\''s \[1\.35\]$'`},
		{"rehearse run a --shard=1/2 --x=1\nrehearse run a --shard=2/2 --x=1", "b", "rehearse run a --x=1 --focus='^b$'"},
		{"rehearse conformance kai", "k", "rehearse conformance kai --focus='^k$'"},
		{`rehearse run a --focus='x '\''y' --shard=1/2 --timings=t.json`, "b", "rehearse run a --focus='^b$'"},
		{`rehearse conformance kai --focus=kai-k --clusters=2`, "b", "rehearse conformance kai --clusters=2 --focus='^b$'"},
		{"rehearse run a\nrehearse run b", "c", ""},
		{"rehearse matrix run a", "a", ""},
		{"", "a", ""},
	} {
		run := &reports.Run{Head: reports.Head{Command: test.command}}
		if got := alone(run, &reports.Scenario{Name: test.name, File: "a.yaml"}); got != test.want {
			t.Errorf("%s of %q: %q, want %q", test.name, test.command, got, test.want)
		}
		if got := alone(run, &reports.Scenario{Name: test.name}); got != "" {
			t.Errorf("%s is in no file, and the page says how to run it: %q", test.name, got)
		}
	}
}

// The page of a report folder links the files beside it. A page without links names them.
func TestFilesOfAScenario(t *testing.T) {
	s := &reports.Scenario{
		Name: "broken", Status: reports.Failed, Artifacts: []string{"broken/etcd 1.log", "../passwd"},
	}
	want := []file{{"etcd 1.log", "broken/etcd%201.log"}, {"passwd", ""}}
	if got := filesOf(s, Beside); !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
	want[0].Link = ""
	if got := filesOf(s, nil); !reflect.DeepEqual(got, want) {
		t.Errorf("without links: %q", got)
	}
	run, _ := brokenRun()
	text, err := Of(run, os.DirFS(t.TempDir()), Beside)
	golden.Must(t, err)
	holds(t, text, `<a href="broken/history.jsonl">history.jsonl</a>`,
		`<code class="alone">rehearse run a.yaml --focus=&#39;^broken$&#39;</code>`, "at 00:00:05 UTC")
}

func TestLinksInAKnownIssue(t *testing.T) {
	text := `<b> (https://example.com/a?b=1&c="x"). https://example.com/d.`
	want := `&lt;b&gt; (<a href="https://example.com/a?b=1&amp;c=">https://example.com/a?b=1&amp;c=</a>&#34;x&#34;). ` +
		`<a href="https://example.com/d">https://example.com/d</a>.`
	if got := linked(reports.Known, text); string(got) != want {
		t.Errorf("%s", got)
	}
	if got := linked(reports.Failed, text); strings.Contains(string(got), "href") || strings.Contains(string(got), "<") {
		t.Errorf("a message has links: %s", got)
	}
}
