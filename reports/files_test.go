package reports

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/onsi/ginkgo/v2/reporters"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports/internal/folder"
)

// standard are two formats that every run has.
var standard = []FileFormat{{"junit.xml", JUnit}, {"run.json", JSON}}

func filesPlan(scenarios int) *Run {
	run := &Run{Tracks: []*Track{{Name: "track-1", Setup: []*Step{{Verb: "create"}}}}}
	for i := range scenarios {
		run.Tracks[0].Scenarios = append(run.Tracks[0].Scenarios, &Scenario{
			Name: fmt.Sprintf("s-%d", i), Steps: []*Step{{Verb: "create"}},
		})
	}
	return run
}

// playFiles runs every scenario; between is called after each of them.
func playFiles(r *Recorder, plan *Run, between func()) {
	for _, s := range plan.Tracks[0].Scenarios {
		r.StartScenario(s, "")
		r.StartStep(s, s.Steps[0], "")
		r.FinishStep(s, s.Steps[0], Outcome{Status: Passed})
		r.FinishScenario(s, Verdict{})
		between()
	}
}

// Whenever the process is killed, both files are complete and have every scenario.
func TestFilesAreAlwaysWhole(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "report")
	golden.Must(t, os.MkdirAll(dir, 0o755))
	leftover := filepath.Join(dir, ".junit.xml.tmp-123")
	golden.Write(t, leftover, "half a rep")
	check := func(status map[Status]int) {
		t.Helper()
		var run Run
		text, err := os.ReadFile(filepath.Join(dir, "run.json"))
		golden.Must(t, errors.Join(err, json.Unmarshal(text, &run)))
		var suites reporters.JUnitTestSuites
		text, err = os.ReadFile(filepath.Join(dir, "junit.xml"))
		golden.Must(t, errors.Join(err, xml.Unmarshal(text, &suites)))
		got := map[Status]int{}
		for _, s := range run.Tracks[0].Scenarios {
			got[s.Status]++
		}
		if fmt.Sprint(got) != fmt.Sprint(status) || suites.Tests != 4 { // one says that the run has not ended
			t.Errorf("run.json has %v, want %v; junit.xml has %d cases, want 4", got, status, suites.Tests)
		}
	}
	plan := filesPlan(3)
	clk := clocktesting.NewFakeClock(time.Unix(1e9, 0))
	files := NewFiles(dir, clk, standard...)
	r := NewRecorder(plan, clk, files)
	golden.Must(t, r.Start())
	check(map[Status]int{NotRun: 3})
	first := plan.Tracks[0].Scenarios[0]
	r.StartScenario(first, "")
	r.StartStep(first, first.Steps[0], "")
	r.FinishStep(first, first.Steps[0], Outcome{Status: Passed})
	r.FinishScenario(first, Verdict{})
	files.flush() // as the timer does
	check(map[Status]int{NotRun: 2, Passed: 1})
	second := plan.Tracks[0].Scenarios[1]
	r.StartScenario(second, "")
	r.FinishScenario(second, Verdict{Status: Failed, Message: "no"})
	r.Interrupt()
	check(map[Status]int{NotRun: 1, Passed: 1, Failed: 1})
	golden.Must(t, r.Finish())
	check(map[Status]int{NotRun: 1, Passed: 1, Failed: 1})
	entries, _ := os.ReadDir(dir)
	if len(entries) != 2 {
		t.Errorf("the report folder has %v", entries)
	}
}

// The files are written once per interval, not once per scenario, and the last state is always written.
func TestFilesAreThrottled(t *testing.T) {
	plan := filesPlan(300)
	clk := clocktesting.NewFakeClock(time.Unix(1e9, 0))
	files := NewFiles(t.TempDir(), clk, standard...)
	writings := make(chan struct{}, 1000)
	last := map[string][]byte{}
	files.write = func(path string, data []byte) error {
		last[filepath.Base(path)] = data
		if filepath.Base(path) == "run.json" {
			writings <- struct{}{}
		}
		return nil
	}
	r := NewRecorder(plan, clk, files)
	golden.Must(t, r.Start())
	<-writings
	n := 0
	playFiles(r, plan, func() {
		// 25 scenarios fit into an interval.
		if n++; n%25 == 0 {
			awaitTimer(clk)
			clk.Step(writeInterval - time.Millisecond)
			if !clk.HasWaiters() {
				t.Fatal("the files are written before the interval is over")
			}
			clk.Step(time.Millisecond)
			<-writings
		}
	})
	if extra := len(writings); extra > 0 {
		t.Errorf("%d writings more than one per interval", extra)
	}
	golden.Must(t, r.Finish())
	files.flush() // as a timer that fired just before the end does
	if len(writings) != 1 {
		t.Errorf("%d writings at the end, want 1", len(writings))
	}
	if got := strings.Count(string(last["run.json"]), `"status": "passed"`); got != 600 {
		t.Errorf("the last writing has %d passed scenarios and steps, want 600", got)
	}
}

// awaitTimer waits until the last flush has set the timer.
func awaitTimer(clk *clocktesting.FakeClock) {
	for !clk.HasWaiters() {
		runtime.Gosched()
	}
}

// A scenario that ends while the files are being written is in the next writing, even if no other scenario ends.
func TestFilesCatchUp(t *testing.T) {
	plan := filesPlan(2)
	clk := clocktesting.NewFakeClock(time.Unix(1e9, 0))
	files := NewFiles(t.TempDir(), clk, standard...)
	var r *Recorder
	finish := func(i int) {
		r.StartScenario(plan.Tracks[0].Scenarios[i], "")
		r.FinishScenario(plan.Tracks[0].Scenarios[i], Verdict{Status: Failed, Message: "no"})
	}
	writings := make(chan string, 10)
	files.write = func(path string, data []byte) error {
		if filepath.Base(path) == "run.json" {
			writings <- string(data)
		} else if failed := strings.Count(string(data), `status="failed"`); failed == 1 {
			finish(1)
		}
		return nil
	}
	r = NewRecorder(plan, clk, files)
	golden.Must(t, r.Start())
	<-writings
	finish(0)
	for _, want := range []int{1, 2} {
		awaitTimer(clk)
		clk.Step(writeInterval)
		if got := strings.Count(<-writings, `"status": "failed"`); got != want {
			t.Errorf("%d failed scenarios are written, want %d", got, want)
		}
	}
}

// A run that finds the folder in use by another one writes nothing there, and removes nothing.
func TestFilesOfAnotherRunStay(t *testing.T) {
	dir, clk := t.TempDir(), clocktesting.NewFakeClock(time.Unix(1e9, 0))
	unlock, err := folder.Lock(dir)
	golden.Must(t, err)
	defer unlock()
	theirs := filepath.Join(dir, "run.json")
	golden.Write(t, theirs, "theirs")
	r := NewRecorder(filesPlan(1), clk, NewFiles(dir, clk, standard...))
	golden.Error(t, r.Start(), "another rehearse writes its reports")
	golden.Error(t, r.Finish(), "another rehearse writes its reports")
	golden.Error(t, Remove([]string{dir}, func(string) []string { return []string{"run.json"} }), "another rehearse writes its reports")
	if got := golden.Read(t, theirs); got != "theirs" {
		t.Errorf("it was replaced by %s", got)
	}
}

func TestFilesThatCannotBeWritten(t *testing.T) {
	clk := clocktesting.NewFakeClock(time.Unix(1e9, 0))
	blocked := filepath.Join(t.TempDir(), "file")
	golden.Write(t, blocked, "")
	r := NewRecorder(filesPlan(1), clk, NewFiles(filepath.Join(blocked, "report"), clk, standard...))
	golden.Error(t, r.Start(), "making the report folder")

	full := errors.New("no space left on device")
	files := NewFiles(t.TempDir(), clk, standard...)
	r = NewRecorder(filesPlan(1), clk, files)
	golden.Must(t, r.Start())
	files.write = func(string, []byte) error { return full }
	if err := r.Finish(); !errors.Is(err, full) {
		t.Errorf("a report that could not be written in the end: %v", err)
	}

	golden.Error(t, ReplaceFile(filepath.Join(blocked, "junit.xml"), nil), "writing the report")
}
