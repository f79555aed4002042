package page

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/explorations"
	"github.com/rehearse-dev/rehearse/reports/upgrades"
)

// holds reports which of the texts a page lacks.
func holds(t *testing.T, text []byte, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(string(text), want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

func brokenExploration() *explorations.Report {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	finding := func(sort explorations.Sort, known string) *explorations.Finding {
		return &explorations.Finding{
			ID: "update-1", Sort: sort, Kinds: []string{"Ingress"}, Before: "1.34.4", To: "1.35.4", What: "it is stuck",
			Words: "422 <no>", Objects: 2, Scenario: "kind: Scenario\n", Known: known,
		}
	}
	return &explorations.Report{
		Head: reports.Head{Format: 1, Started: at, Finished: at.Add(time.Minute), Command: "rehearse explore --path 1.34,1.35,1.34"}, Crossed: 3,
		Path: []*explorations.State{
			{Name: "1.34.4", Reached: true, Way: upgrades.Start},
			{Name: "1.35.4", Reached: true, Way: upgrades.Up, Flips: []string{"SomeGate turns on"}},
			{Name: "1.34.4", Way: upgrades.Back},
		},
		Kinds: []*explorations.Kind{{Name: "Ingress", Fields: 10, Covered: 9}},
		Matrix: []*upgrades.Row{
			{Kind: "Ingress", Objects: 3, Cells: []upgrades.Cell{{Good: 3}, {Good: 1, Breaks: 2}, {}}},
			{Kind: "Gadget", Objects: 1, Cells: []upgrades.Cell{{}, {Good: 1}, {}}},
		},
		Findings: []*explorations.Finding{finding(explorations.Defect, "news"), finding(explorations.Hazard, "")},
		Unjudged: []string{"Node: it was away"},
		Dropped:  []*explorations.Finding{finding(explorations.Defect, "")},
	}
}

func TestPageOfAnExploration(t *testing.T) {
	text, err := OfExploration(brokenExploration())
	golden.Must(t, err)
	holds(t, text, `class="top v-failed"`, "1.34.4 → 1.35.4 → 1.34.4: 1 defect (1 known), 1 hazard", "422 &lt;no&gt;",
		"kind: Scenario", "2 break, 1 ok", "<td>absent</td>", `class="s-notRun" title="the cluster did not reach this state"`,
		"SomeGate turns on", "1.34.4 → 1.35.4: 1 gate<", "known defect", `<span class="badge s-hazard">hazard</span>`,
		"1 finding was not shown again by its own scenario; explore.json has it", "<h2>Notes</h2>")
	at := -1
	for _, want := range []string{">hazard<", `<span class="badge s-error">not judged</span> Node `, "<dd>it was away<", "known defect"} {
		next := strings.Index(string(text), want)
		if next <= at {
			t.Errorf("%s is not there, or comes too early", want)
		}
		at = next
	}
}

// A merged upgrade shows the cluster of each shard, each from its own beginning. A shard that died has no end.
func TestTimelinesOfShards(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	timeline := func(shard int, after, survey time.Duration) *upgrades.Timeline {
		return &upgrades.Timeline{
			Shard: shard, Started: at.Add(after), Finished: at.Add(after + survey + 5*time.Second),
			Path:      []*upgrades.State{{Name: "1.34.4", Reached: true, Began: at.Add(after), Transition: 5}},
			Processes: []reports.Process{{Component: "etcd", Started: at.Add(after + time.Second)}},
		}
	}
	died := timeline(3, time.Second, 0)
	died.Finished = time.Time{}
	got := upgradeData(&upgrades.Report{
		Head:      reports.Head{Started: at, Finished: at.Add(time.Hour)},
		Timelines: []*upgrades.Timeline{timeline(1, 0, 10*time.Second), timeline(2, time.Minute, 20*time.Second), died},
	})
	var tracks []string
	for _, track := range got.Tracks {
		last := track.Bands[len(track.Bands)-1]
		tracks = append(tracks, fmt.Sprintf("%s from %d: %d bands to %d, etcd at %d", track.Name, zeroOf(track, got)-got.Start,
			len(track.Bands), last.To, track.Processes[0].Started))
	}
	want := []string{
		"shard 1 from 0: 2 bands to 15000, etcd at 1000", "shard 2 from 60000: 2 bands to 25000, etcd at 1000",
		"shard 3 from 1000: 2 bands to 5000, etcd at 1000",
	}
	if !slices.Equal(tracks, want) || got.End != 25_000 {
		t.Errorf("%q to %d, want %q to 25000", tracks, got.End, want)
	}
}

// zeroOf is the time from which the times of a track count.
func zeroOf(track trackData, in runData) int64 { return cmp.Or(track.Start, in.Start) }

// If there is no verdict, the first card says why.
func TestPagesSayWhyThereIsNoVerdict(t *testing.T) {
	failure := errors.New("start etcd: no room")
	explored, upgraded := brokenExploration(), brokenUpgrade()
	explored.Findings, upgraded.Findings = explored.Findings[:1], nil
	explored.Fail(failure)
	upgraded.Fail(failure)
	one, err1 := OfExploration(explored)
	other, err2 := OfUpgrade(upgraded)
	golden.Must(t, errors.Join(err1, err2))
	for _, page := range [][]byte{one, other} {
		_, first, _ := strings.Cut(string(page), `<article class="failure finding">`)
		first, _, _ = strings.Cut(first, "</article>")
		holds(t, page, `class="top v-error"`)
		holds(t, []byte(first), `<span class="badge s-error">not judged</span>`, "failed before its end", "start etcd: no room")
		if strings.Contains(first, "0 objects") {
			t.Errorf("the card counts objects that it is not about: %s", first)
		}
	}
}

func TestPageOfAnUpgrade(t *testing.T) {
	text, err := OfUpgrade(brokenUpgrade())
	golden.Must(t, err)
	holds(t, text, `class="top v-failed"`, "1.34.4 → 1.35.4 → 1.34.4: 2 objects; 1 breaks", "A turns on", "not reached",
		"1 break, 1 ok", "a.yaml:1")
}

// The page says how its run ended, and it is not green if something was not judged.
func TestSentences(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		change  func(*reports.Run)
		want    string
		verdict reports.Status
	}{
		"passed": {func(*reports.Run) {}, "2 scenarios on Kubernetes 1.34.4 → 1.35.4: 2 passed, 0 failed.", reports.Passed},
		"interrupted": {func(r *reports.Run) { r.Interrupted = true }, "The run was interrupted: scenarios that did " +
			"not run are not judged.", reports.NotRun},
		"goes on": {func(r *reports.Run) { r.Finished = time.Time{} }, "had not finished when this page was written", reports.NotRun},
		"one failed": {
			func(r *reports.Run) { r.Tracks[0].Scenarios[1].Status = reports.Failed }, "1 passed, 1 failed", reports.Failed,
		},
		"the cluster broke": {func(r *reports.Run) {
			r.Tracks[0].Setup[0].Status = reports.Error
			r.Tracks[0].Scenarios[1].Status = reports.Error
		}, "1 error, 1 setup step failed", reports.Error},
		"not run": {
			func(r *reports.Run) { r.Tracks[0].Scenarios[1].Status = reports.NotRun }, "1 not run", reports.NotRun,
		},
		"skipped": {func(r *reports.Run) {
			r.Tracks[0].Scenarios[0].Status, r.Tracks[0].Scenarios[1].Status = reports.Skipped, reports.Skipped
		}, "2 skipped", reports.NotRun},
		"alone": {func(r *reports.Run) {
			r.Tracks[0].Scenarios = r.Tracks[0].Scenarios[:1]
		}, "a passed on Kubernetes 1.34.4 → 1.35.4.", reports.Passed},
	} {
		run := &reports.Run{Head: reports.Head{Format: 2, Started: at, Finished: at.Add(time.Minute)}, Tracks: []*reports.Track{{
			Name: "track-1", Path: []string{"1.34.4 A=false", "1.34.4 A=true", "1.35.4"},
			Setup: []*reports.Step{{Name: "1.34.4", Verb: "create", Status: reports.Passed, Started: at, Finished: at}},
			Scenarios: []*reports.Scenario{
				{Name: "a", Status: reports.Passed, Started: at, Finished: at}, {Name: "b", Status: reports.Passed, Started: at, Finished: at},
			},
		}}}
		test.change(run)
		text, err := Of(run, nil, nil)
		golden.Must(t, err)
		if got := sentence(run); !strings.Contains(got, test.want) || verdict(run) != test.verdict {
			t.Errorf("%s: %q, %s; want %q, %s", name, got, verdict(run), test.want, test.verdict)
		}
		holds(t, text, `class="top v-`+string(test.verdict)+`"`)
	}
}
