package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/clusters/features"
	"github.com/rehearse-dev/rehearse/cmd/rehearse/internal/cli"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/ci"
	"github.com/rehearse-dev/rehearse/reports/page"
)

// describe puts into a planned run what its reports say of it beyond its scenarios: how to make it again, and what its
// requirements are.
func describe(run *reports.Run, command *cobra.Command, args ...string) (*reports.Run, error) {
	run.Command, run.Program = cli.CommandLine(command, args...), cli.ProgramVersion()
	covered := map[string]bool{}
	for _, track := range run.Tracks {
		for _, scenario := range track.Scenarios {
			for _, id := range scenario.Covers {
				covered[id] = true
			}
		}
	}
	for _, suite := range allSuites() {
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
	run.Flips = flipsOf(run)
	return run, nil
}

// flipsOf are the feature gates whose defaults differ between each of a run's versions and the next newer one, by the
// lists that are in the cache; none where a list is not there, since no verdict depends on it.
func flipsOf(run *reports.Run) []reports.VersionFlips {
	store, err := cli.CachedReleases(func(string, ...any) {})
	if err != nil {
		return nil
	}
	var all []reports.VersionFlips
	versions := reports.Versions(run)
	for i := 1; i < len(versions); i++ {
		before, err1 := store.CachedFeatureList(versions[i-1])
		after, err2 := store.CachedFeatureList(versions[i])
		if err1 != nil || err2 != nil {
			continue
		}
		flips := reports.VersionFlips{From: versions[i-1], To: versions[i], Gates: []string{}}
		for _, flip := range features.Flips(before, after) {
			if flip.ChangesDefault() {
				flips.Gates = append(flips.Gates, fmt.Sprintf("%s %s", flip.Gate, flip.Kind))
			}
		}
		all = append(all, flips)
	}
	return all
}

// fileFormats are the reports of a run beside run.json.
func fileFormats(dir string) []reports.FileFormat {
	formats := []reports.FileFormat{page.Format(dir)}
	if attach := ci.Attachments(dir, os.Getenv); attach != nil {
		formats = append(formats, reports.FileFormat{File: "junit.xml", Encode: reports.JUnitAttaching(attach)})
	}
	return formats
}

// publish hands the reports to the CI system that the run is in, if it is in one.
func publish(run *reports.Run, dir string, out io.Writer) error {
	return ci.Publish(run, dir, os.Getenv, out)
}
