package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/pastruns"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
)

// written writes a shard's report folder, with a scenario that passed and names two files, one of them missing.
func written(t *testing.T, number int, change func(*reports.Run)) string {
	t.Helper()
	dir := t.TempDir()
	track := &reports.Track{Name: "track-" + string(rune('0'+number)), Scenarios: []*reports.Scenario{{
		Name: "s" + string(rune('0'+number)), Status: reports.Passed, Artifacts: []string{"s/history.jsonl", "s/gone.txt"},
		Folder: "/gone/s",
	}}}
	run := &reports.Run{
		Head: reports.Head{
			Format: reports.Format, Program: "1", Started: time.Unix(1000, 0),
			Finished: time.Unix(1001, 0),
		},
		Provider: "local", Tracks: []*reports.Track{track},
		Shard: &reports.Shard{Number: number, Of: 2, Plan: "p"},
	}
	if change != nil {
		change(run)
	}
	data, err := reports.JSON(run)
	golden.Must(t, err)
	golden.Must(t, os.Mkdir(filepath.Join(dir, "s"), 0o700))
	for file, text := range map[string][]byte{"run.json": data, "s/history.jsonl": []byte("{}\n")} {
		golden.Write(t, filepath.Join(dir, file), text)
	}
	return dir
}

func TestMerge(t *testing.T) {
	failed := func(r *reports.Run) { r.Tracks[0].Scenarios[0].Status = reports.Failed }
	ended := func(r *reports.Run) { r.Finished, r.Tracks[0].Scenarios[0].Status = time.Time{}, reports.NotRun }
	for name, test := range map[string]struct {
		second func(*reports.Run)
		code   int
		says   string
	}{
		"all passed": {nil, cli.ExitOK, "2 passed"},
		"one failed": {failed, cli.ExitFailed, "1 failed"},
		"one was not planned": {func(r *reports.Run) {
			r.Tracks = append(r.Tracks, &reports.Track{Name: "unplanned", Scenarios: []*reports.Scenario{{
				Name: "s3", Status: reports.Error, Message: "it cannot be planned: 1.99 does not exist",
			}}})
		}, cli.ExitBroken, "it cannot be planned: 1.99 does not exist"},
		"one died":      {ended, cli.ExitBroken, "shard 2/2 ended early"},
		"another plan":  {func(r *reports.Run) { r.Shard.Plan = "q" }, cli.ExitInput, "not parts of the same run"},
		"own programs":  {func(r *reports.Run) { r.Command = "rehearse run --kubernetes-bin=a" }, cli.ExitInput, "only one of"},
		"no shard":      {func(r *reports.Run) { r.Shard = nil }, cli.ExitInput, "not a shard"},
		"twice":         {func(r *reports.Run) { r.Shard.Number = 1 }, cli.ExitInput, "shard 1 is there twice"},
		"files missing": {nil, cli.ExitOK, "1 of 2 files of its scenarios are missing in its report folder"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "merged")
			code, out, errs := command(t, "merge", written(t, 2, test.second), written(t, 1, nil), "-o", dir)
			if said := out + errs; code != test.code || !strings.Contains(said, test.says) {
				t.Fatalf("exit code %d, want %d; it says %q, want %q", code, test.code, said, test.says)
			}
			if code == cli.ExitInput {
				if _, err := os.Stat(dir); err == nil {
					t.Errorf("%s was made", dir)
				}
				return
			}
			for _, file := range []string{"run.json", "junit.xml", "report.html", "shard-2/s/history.jsonl"} {
				if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
					t.Error(err)
				}
			}
			merged, _, err := pastruns.Read(dir)
			golden.Must(t, err)
			if got := merged.Tracks[1].Scenarios[0].Folder; got != filepath.Join(dir, "shard-2", "s") {
				t.Errorf("its files are said to be in %s", got)
			}
			if got := merged.Tracks[1].Scenarios[0]; got.Name != "s2" || !slices.Equal(got.Artifacts, []string{"shard-2/s/history.jsonl"}) {
				t.Errorf("the second track has %s with %s", got.Name, got.Artifacts)
			}
		})
	}
}

// Shards of different programs are rejected or, if the version does not tell programs apart, merged with a warning.
// Equal programs are merged without one.
func TestMergeOfSeveralPrograms(t *testing.T) {
	const dirty = "v0.1.0+dirty"
	for name, c := range map[string]struct {
		programs, builds [2]string
		code             int
		warns            bool
	}{
		"a release":                          {[2]string{"v1.2.0", "v1.2.0"}, [2]string{}, cli.ExitOK, false},
		"two releases":                       {[2]string{"v1.2.0", "v1.3.0"}, [2]string{}, cli.ExitInput, false},
		"one build without a commit":         {[2]string{"(devel)", "(devel)"}, [2]string{"a", "a"}, cli.ExitOK, false},
		"two builds without a commit":        {[2]string{"(devel)", "(devel)"}, [2]string{"a", "b"}, cli.ExitOK, true},
		"unknown builds":                     {[2]string{"(devel)", "(devel)"}, [2]string{}, cli.ExitOK, true},
		"two builds with changes":            {[2]string{dirty, dirty}, [2]string{"a", "b"}, cli.ExitOK, true},
		"with changes, and without a commit": {[2]string{dirty, "(devel)"}, [2]string{"a", "b"}, cli.ExitInput, false},
	} {
		t.Run(name, func(t *testing.T) {
			var shards []string
			for i := range c.programs {
				shards = append(shards, written(t, i+1, func(r *reports.Run) { r.Program, r.Build = c.programs[i], c.builds[i] }))
			}
			code, _, said := command(t, append([]string{"merge", "-o", t.TempDir()}, shards...)...)
			if warned := strings.Contains(said, "may be the results of different programs"); code != c.code ||
				warned != c.warns {
				t.Errorf("exit code %d, want %d; it warns: %t, want %t: %s", code, c.code, warned, c.warns, said)
			}
		})
	}
}

// The merged reports cannot replace those of a shard: this would remove what its scenarios left.
func TestMergeSparesTheShards(t *testing.T) {
	root := t.TempDir()
	at := func(names ...string) string { return filepath.Join(append([]string{root}, names...)...) }
	link := at("link")
	if err := errors.Join(os.Rename(written(t, 1, nil), at("report")),
		os.Rename(written(t, 2, nil), at("report", "shard-2")), os.Symlink(at("report"), link)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ first, out string }{
		{at("report"), at("report")},
		{at("report", "run.json"), at("report") + "/"},
		{at("report"), link},
		{written(t, 1, nil), at("report")}, // the other shard is where its own artifacts would be
	} {
		rejected(t, "", []string{"merge", c.first, at("report", "shard-2"), "-o", c.out}, "would overwrite the shard in",
			"choose another folder with --output")
		for _, file := range []string{at("report", "s", "history.jsonl"), at("report", "shard-2", "s", "history.jsonl")} {
			if _, err := os.Stat(file); err != nil {
				t.Error(err)
			}
		}
		if _, err := os.Stat(at("report", "report.html")); err == nil {
			t.Error("it wrote a report")
		}
	}
}

// The shards together plan every scenario exactly once.
func TestShardsOfAPlan(t *testing.T) {
	planned := func(args ...string) []string {
		out := exits(t, cli.ExitOK, append([]string{"plan", "../../scenarios/kubernetes"}, args...)...)
		var names []string
		for line := range strings.Lines(out) {
			if strings.HasPrefix(line, "  scenario ") {
				names = append(names, line)
			}
		}
		return names
	}
	whole, seen := planned(), map[string]int{}
	for _, shard := range []string{"1/3", "2/3", "3/3"} {
		for _, name := range planned("--shard", shard) {
			seen[name]++
		}
	}
	if len(whole) == 0 || len(seen) != len(whole) {
		t.Errorf("%d scenarios in the shards, %d in the plan", len(seen), len(whole))
	}
	for _, name := range whole {
		if seen[name] != 1 {
			t.Errorf("in %d shards: %s", seen[name], name)
		}
	}
}
