package session

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/features"
	"github.com/rehearse-dev/rehearse/clusters/releases"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/builtin"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/reports"
)

// describe adds to a planned run what its reports need beyond the scenarios: the command that repeats it, its
// requirements, and flips of gates.
func describe(run *reports.Run, known builtin.Suites, command *cobra.Command, args ...string) (*reports.Run, error) {
	head := cli.Head(command, args...)
	run.Command, run.Program, run.Build = head.Command, head.Program, head.Build
	covered := map[string]bool{}
	for _, track := range run.Tracks {
		for _, scenario := range track.Scenarios {
			for _, id := range scenario.Covers {
				covered[id] = true
			}
		}
	}
	for _, suite := range known {
		requirements, err := suite.Requirements()
		if err != nil {
			return nil, fmt.Errorf("read the requirements of suite %s: %w", suite.Name, err)
		}
		for _, r := range requirements {
			if covered[r.ID] {
				run.Requirements = append(run.Requirements, reports.Requirement{
					ID: r.ID, Level: string(r.Level),
					Statement: r.Statement, Source: r.Source,
				})
			}
		}
	}
	run.Flips = flipsOf(command.Context(), run)
	return run, nil
}

// flipsOf returns the feature gates whose defaults differ between each of a run's versions and the next newer one. It
// uses only lists in the cache and skips others, since no verdict depends on them.
func flipsOf(ctx context.Context, run *reports.Run) []reports.VersionFlips {
	store, err := cli.CachedReleases(func(string, ...any) {})
	if err != nil {
		return nil
	}
	var path []clusters.State
	for _, version := range reports.Versions(run) {
		path = append(path, clusters.State{Version: version})
	}
	var all []reports.VersionFlips
	for _, hop := range features.Along(ctx, releases.InCache(store), path...) {
		if hop.Err != nil {
			continue
		}
		gates := append([]string{}, hop.Changes()...) // an empty list means that there are none
		all = append(all, reports.VersionFlips{From: hop.From.Version, To: hop.To.Version, Gates: gates})
	}
	return all
}
