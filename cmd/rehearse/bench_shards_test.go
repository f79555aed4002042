package main

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/pastruns"
	"github.com/rehearse-dev/rehearse/harness/planning"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
)

// BenchmarkShards runs a suite as a whole, and then in five shards one after the other, dealt by the times of the first
// run. The merged verdicts must be those of the whole run. The suite porch has few clusters, so some are split.
//
//   - longest/mean is the time of the longest shard by the mean of all: 1 is a perfect deal.
//   - scenario/mean is the time of the longest scenario, with the cluster that it needs, by the mean of all shards.
//     A shard cannot be shorter than its longest scenario.
//   - shards/whole is the time of all shards by that of the whole run: what the shards cost in addition.
func BenchmarkShards(b *testing.B) {
	for _, suite := range []string{"kubernetes", "porch"} {
		b.Run(suite, func(b *testing.B) {
			for b.Loop() {
				inShards(b, 5, filepath.Join("..", "..", "scenarios", suite))
			}
		})
	}
}

func inShards(b *testing.B, shards int, suite string) {
	b.Helper()
	dir := b.TempDir()
	of := func(name string) string { return filepath.Join(dir, name) }
	whole := timed(b, "run", suite, "--report-dir", of("whole"))
	var all, longest time.Duration
	merge := []string{"merge", "-o", of("merged")}
	for n := range shards {
		name := fmt.Sprintf("shard-%d", n+1)
		took := timed(b, "run", suite, "--shard", fmt.Sprintf("%d/%d", n+1, shards), "--report-dir", of(name),
			"--timings", filepath.Join(of("whole"), pastruns.RunFile))
		all, longest, merge = all+took, max(longest, took), append(merge, of(name))
	}
	timed(b, merge...)
	want, got := statuses(b, of("whole")), statuses(b, of("merged"))
	if len(want) == 0 || !maps.EqualFunc(want, got, slices.Equal) {
		b.Fatalf("the whole run says\n%v\nand the shards say\n%v", want, got)
	}
	mean := all.Seconds() / float64(shards)
	b.ReportMetric(longest.Seconds()/mean, "longest/mean")
	b.ReportMetric(longestScenario(b, of("whole")).Seconds()/mean, "scenario/mean")
	b.ReportMetric(all.Seconds()/whole.Seconds(), "shards/whole")
	b.ReportMetric(whole.Seconds(), "whole-s")
}

// longestScenario returns how long the longest scenario of a run takes on a cluster of its own.
func longestScenario(b *testing.B, folder string) time.Duration {
	b.Helper()
	result, _, err := pastruns.Read(folder)
	golden.Must(b, err)
	return planning.TimingsOf(result).LongestScenario()
}

// timed runs a command that must succeed.
func timed(b *testing.B, args ...string) time.Duration {
	b.Helper()
	var out, errs bytes.Buffer
	began := time.Now()
	if code := run(b.Context(), args, nil, &out, &errs); code != cli.ExitOK {
		b.Fatalf("rehearse %q: exit code %d:\n%s%s", args, code, out.String(), errs.String())
	}
	return time.Since(began)
}

// statuses of the scenarios in a report folder, by their names.
func statuses(b *testing.B, folder string) map[string][]reports.Status {
	b.Helper()
	result, _, err := pastruns.Read(folder)
	golden.Must(b, err)
	all := map[string][]reports.Status{}
	for _, track := range result.Tracks {
		for _, s := range track.Scenarios {
			all[s.Name] = append(all[s.Name], s.Status)
		}
	}
	return all
}
