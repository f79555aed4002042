package planning

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// paper is a provider whose clusters are never created.
type paper struct {
	clusters.Provider

	check func(path []clusters.State) error
}

func (paper) Name() string { return "paper" }

func (paper) Resolve(_ context.Context, state clusters.State) (clusters.State, error) {
	if state.Version == "1.30" {
		return state, errors.New("1.30 is not in the cache")
	}
	return state, nil
}

func (p paper) Check(_ context.Context, path []clusters.State) error {
	if p.check == nil {
		return nil
	}
	return p.check(path)
}

func (paper) Has(context.Context, clusters.Ability, clusters.State) (bool, error) { return false, nil }

// onVersions returns one scenario for each version.
func onVersions(versions ...string) []*scenarios.Scenario {
	var all []*scenarios.Scenario
	for _, version := range versions {
		s := &scenarios.Scenario{Text: "on " + version}
		s.Metadata.Name, s.Spec.Cluster.Version = "s-"+version, version
		all = append(all, s)
	}
	return all
}

// shardOf plans a shard, and returns its result as a part that a merge takes. more are versions of more scenarios.
func shardOf(t *testing.T, number int, change func(*Options), more ...string) reports.Part {
	t.Helper()
	o := Options{Shard: Shard{number, 2}}
	if change != nil {
		change(&o)
	}
	versions := append([]string{"1.31", "1.32", "1.33", "1.34", "1.35"}, more...)
	plan, err := New(t.Context(), paper{}, onVersions(versions...),
		func(*scenarios.Step) Verb { return Verb{} }, o)
	golden.Must(t, err)
	run := plan.Result()
	run.Started, run.Finished = time.Unix(1, 0), time.Unix(2, 0)
	return reports.Part{Run: run, From: fmt.Sprint("shard ", number)}
}

// Shards are merged only if they have the same input: then every scenario is in exactly one of them.
func TestOnlyShardsOfOneRunAreMerged(t *testing.T) {
	timed := func(took map[string]int) func(*Options) {
		return func(o *Options) {
			o.Timings.Scenarios = map[string]Times{}
			for name, seconds := range took {
				o.Timings.Scenarios[name] = Times{Setup: []time.Duration{time.Duration(seconds) * time.Second}}
			}
		}
	}
	defined := func(text string) func(*Options) {
		return func(o *Options) { o.Definitions = map[string]string{"kai=process:": text} }
	}
	slow := map[string]int{"s-1.31": 1, "s-1.32": 2, "s-1.33": 3, "s-1.34": 4, "s-1.35": 60}
	for name, c := range map[string]struct {
		first, second func(*Options)
		merged        bool
	}{
		"without timings":                   {nil, nil, true},
		"empty timings":                     {nil, timed(nil), true},
		"the same timings":                  {timed(slow), timed(slow), true},
		"timings that deal in the same way": {nil, timed(map[string]int{"s-1.31": 7, "unknown": 99}), true},
		"timings for one of them":           {nil, timed(slow), false},
		"other timings":                     {timed(slow), timed(map[string]int{"s-1.31": 60}), false},
		"the same definitions":              {defined("a"), defined("a"), true},
		"other definitions":                 {defined("a"), defined("b"), false},
		"a definition for one of them":      {nil, defined("a"), false},
	} {
		t.Run(name, func(t *testing.T) {
			merged, err := reports.MergeShards([]reports.Part{shardOf(t, 1, c.first), shardOf(t, 2, c.second)})
			if !c.merged {
				if err == nil || !strings.Contains(err.Error(), "not parts of the same run") {
					t.Errorf("got %v, want that they are not parts of the same run", err)
				}
				return
			}
			golden.Must(t, err)
			var names []string
			for _, track := range merged.Tracks {
				for _, s := range track.Scenarios {
					names = append(names, s.Name)
				}
			}
			slices.Sort(names)
			if want := []string{"s-1.31", "s-1.32", "s-1.33", "s-1.34", "s-1.35"}; !slices.Equal(names, want) {
				t.Errorf("the merged run has %q, want %q", names, want)
			}
		})
	}
}

// A scenario that cannot be planned is an error of the merged run, and of the first shard only. All shards must leave
// out the same ones.
func TestLeftOutScenariosAreInTheMergedRun(t *testing.T) {
	leave := func(o *Options) { o.LeaveOut = true }
	parts := []reports.Part{shardOf(t, 1, leave, "1.30"), shardOf(t, 2, leave, "1.30")}
	for i, part := range parts {
		recorder := reports.NewRecorder(part.Run, clock.RealClock{})
		for _, track := range part.Run.Tracks {
			for _, s := range track.Scenarios {
				if s.Status != reports.Error {
					recorder.FinishScenario(s, reports.Verdict{Status: reports.Skipped})
				}
			}
		}
		golden.Must(t, recorder.Finish())
		parts[i].Run = recorder.Run()
	}
	merged, err := reports.MergeShards(parts)
	golden.Must(t, err)
	last := merged.Tracks[len(merged.Tracks)-1].Scenarios
	if code := reports.ExitCode(merged); code != reports.ExitError || len(last) != 1 || last[0].Name != "s-1.30" ||
		last[0].Status != reports.Error || last[0].Message != "it cannot be planned: :0:0: 1.30 is not in the cache" {
		t.Errorf("exit code %d, at the end %+v", code, last[0])
	}
	if n := reports.Count(merged).Total(); n != 6 {
		t.Errorf("the merged run has %d scenarios, want each of 6 once", n)
	}
	_, err = reports.MergeShards([]reports.Part{shardOf(t, 1, leave, "1.30"), shardOf(t, 2, leave)})
	if err == nil || !strings.Contains(err.Error(), "not parts of the same run") {
		t.Errorf("got %v for a shard without the scenario", err)
	}
}

// A digest depends on the files that systems name, but not on where they are.
func TestDigestOfNamedFiles(t *testing.T) {
	digest := func(files map[string]string, system clusters.System) string {
		dir := t.TempDir()
		for name, text := range files {
			golden.Write(t, filepath.Join(dir, name), text)
		}
		set := onVersions("1.36")
		set[0].Spec.Cluster.Systems = []clusters.System{system.Beside(dir)}
		plan := &Track{Name: "track-1", Path: []clusters.State{set[0].Spec.Cluster}, Entries: []*Entry{{Scenario: set[0]}}}
		return Options{Shard: Shard{1, 2}}.digestOf([]*Track{plan}, nil, nil)
	}
	process := func(p clusters.SystemProcess) clusters.System {
		p.Command = []string{"kai"}
		return clusters.System{Name: "kai", Version: "v1", Process: &p}
	}
	module := clusters.SystemModule{SystemProcess: clusters.SystemProcess{CRDs: []string{"crd.yaml", "$(MODULE)/crds"}}}
	for name, c := range map[string]struct {
		system clusters.System
		file   string
	}{
		"a CRD":            {process(clusters.SystemProcess{CRDs: []string{"crd.yaml"}}), "crd.yaml"},
		"a folder of CRDs": {process(clusters.SystemProcess{CRDs: []string{"crds"}}), "crds/a.yml"},
		"webhooks":         {process(clusters.SystemProcess{Webhooks: []string{"for-$(VERSION).yaml"}}), "for-v1.yaml"},
		"a manifest": {
			clusters.System{Name: "kai", Manifests: []string{"all.yaml", "https://example.com/x"}}, "all.yaml",
		},
		"a CRD of a module":     {clusters.System{Name: "kai", Module: &module}, "crd.yaml"},
		"a CRD by a whole path": {process(clusters.SystemProcess{CRDs: []string{"$(SCENARIO_DIR)/crd.yaml"}}), "crd.yaml"},
	} {
		first, same, other := digest(map[string]string{c.file: "a: 1"}, c.system), digest(map[string]string{c.file: "a: 1"},
			c.system), digest(map[string]string{c.file: "a: 2"}, c.system)
		if first != same || first == other {
			t.Errorf("%s: equal for equal files: %t, and for others: %t", name, first == same, first == other)
		}
	}
}

// A digest does not depend on the folder of a scenario or of a system's files.
func TestDigestIsTheSameInOtherFolders(t *testing.T) {
	digest := func(dir string) string {
		set := onVersions("1.36")
		set[0].Position.File = filepath.Join(dir, "a.yaml")
		set[0].Spec.Cluster.Systems = []clusters.System{clusters.System{
			Name: "kai", Process: &clusters.SystemProcess{Command: []string{"bin/kai"}},
		}.Beside(dir)}
		plan := &Track{Name: "track-1", Path: []clusters.State{set[0].Spec.Cluster}, Entries: []*Entry{{Scenario: set[0]}}}
		return Options{Shard: Shard{1, 2}}.digestOf([]*Track{plan}, nil, nil)
	}
	if a, b := digest("/home/a"), digest("/srv/b"); a != b {
		t.Errorf("the digests are %s and %s", a, b)
	}
}
