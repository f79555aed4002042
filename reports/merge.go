package reports

import (
	"fmt"
	"path"
	"slices"
)

// Part is one of several runs that are shown as one.
type Part struct {
	// Run, and the folder of its artifacts in the merged report.
	Run    *Run
	Prefix string
	// From is the path that the run was read from, for errors.
	From string
}

// scenario returns the scenario with the paths of its artifacts in the part's Prefix.
func (p Part) scenario(s *Scenario) *Scenario {
	own := shallow(s)
	own.Artifacts = nil
	for _, artifact := range s.Artifacts {
		own.Artifacts = append(own.Artifacts, path.Join(p.Prefix, artifact))
	}
	return own
}

// Merge makes one run of several: shards of one run, or runs of the same change on several machines. A repeated track
// name gets a number.
func Merge(parts []Part) *Run {
	if len(parts) == 1 && parts[0].Prefix == "" {
		return parts[0].Run
	}
	all := &Run{Head: Head{Format: Format}, Sources: map[string]string{}}
	names, known := map[string]int{}, map[string]bool{}
	for _, part := range parts {
		run := part.Run
		if all.Started.IsZero() || !run.Started.IsZero() && run.Started.Before(all.Started) {
			all.Started = run.Started
		}
		if run.Finished.After(all.Finished) {
			all.Finished = run.Finished
		}
		all.Format = min(all.Format, max(run.Format, 1))
		all.Interrupted = all.Interrupted || run.Interrupted || run.Finished.IsZero()
		all.Provider = withAnother(all.Provider, run.Provider, ", ")
		all.Command = withAnother(all.Command, run.Command, "\n")
		all.Program = withAnother(all.Program, run.Program, ", ")
		all.Build = withAnother(all.Build, run.Build, ", ")
		for name, text := range run.Sources {
			all.Sources[name] = text
		}
		for _, r := range run.Requirements {
			if !known[r.ID] {
				known[r.ID] = true
				all.Requirements = append(all.Requirements, r)
			}
		}
		for _, f := range run.Flips {
			if !slices.ContainsFunc(all.Flips, func(g VersionFlips) bool { return f.From == g.From && f.To == g.To }) {
				all.Flips = append(all.Flips, f)
			}
		}
		for _, track := range run.Tracks {
			fresh := shallow(track)
			if names[track.Name]++; names[track.Name] > 1 {
				fresh.Name = fmt.Sprintf("%s (%d)", track.Name, names[track.Name])
			}
			if fresh.RunStarted.IsZero() {
				fresh.RunStarted, fresh.RunFinished = run.Started, End(run)
			}
			fresh.Setup = cutOff(run, track)
			fresh.Scenarios = nil
			for _, s := range track.Scenarios {
				fresh.Scenarios = append(fresh.Scenarios, part.scenario(s))
			}
			all.Tracks = append(all.Tracks, fresh)
		}
	}
	return all
}

// cutOff returns the setup steps of a track. If the process of its run was killed, those that it had begun are errors:
// the merged run, which counts as interrupted, would not show them.
func cutOff(run *Run, track *Track) []*Step {
	if run.Interrupted || !run.Finished.IsZero() {
		return track.Setup
	}
	var all []*Step
	for _, step := range track.Setup {
		if SetupBroken(run, step) && step.Status.OrNotRun() == NotRun {
			own := *step
			own.Status, own.Message = Error, "the process ended before this step did"
			step = &own
		}
		all = append(all, step)
	}
	return all
}

// withAnother appends a text, unless it is empty or equal to what is there.
func withAnother(have, more, by string) string {
	switch {
	case have == "" || have == more:
		return more
	case more == "":
		return have
	}
	return have + by + more
}
