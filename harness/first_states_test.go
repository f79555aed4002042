package harness_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
)

// copying is a provider that makes clusters from copies and records what it does.
type copying struct {
	*provider
	did     []string
	failing error
	// discarded counts the discarded copies.
	discarded int
}

type copyOf struct {
	by   *copying
	name string
}

func (c copyOf) Discard() error {
	c.by.discarded++
	return nil
}

func (p *copying) Create(ctx context.Context, name string, state clusters.State) (clusters.Cluster, error) {
	p.did = append(p.did, "create "+short(name))
	return p.provider.Create(ctx, name, state)
}

func (p *copying) Copy(_ context.Context, c clusters.Cluster, name string) (clusters.Copied, error) {
	p.did = append(p.did, "copy "+short(c.Name())+" to "+short(name))
	return copyOf{p, short(name)}, p.failing
}

func (p *copying) CreateFrom(ctx context.Context, name string, state clusters.State,
	from clusters.Copied,
) (clusters.Cluster, error) {
	p.did = append(p.did, fmt.Sprintf("create %s from %s", short(name), from.(copyOf).name))
	return p.provider.Create(ctx, name, state)
}

func short(name string) string { return strings.TrimPrefix(name, "run-") }

const sameFirstStates = "four tracks, of which three begin in the same state"

func firstStates() string {
	return scenario("plain", makeMap("a")) + scenario("up", makeMap("a")+transition("1.35"), "exclusive: true") +
		strings.Replace(scenario("other", makeMap("a")), `"1.34"`, `"1.33"`, 1) + scenario("alone", makeMap("a"),
		"exclusive: true")
}

func TestTracksBeginWithASnapshot(t *testing.T) {
	for name, c := range map[string]struct {
		failing error
		want    []string
	}{
		sameFirstStates: {nil, []string{
			"create track-1", "copy track-1 to track-1-snapshot", "create track-2 from track-1-snapshot", "create track-3",
			"create track-4 from track-1-snapshot",
		}},
		"where there is none, with nothing": {errors.New("the disk is full"), []string{
			"create track-1", "copy track-1 to track-1-snapshot", "create track-2", "create track-3", "create track-4",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p := &copying{provider: &provider{t: t}, failing: c.failing}
			plan := planned(t, p, firstStates(), harness.PlanOptions{Snapshots: true})
			if c.failing == nil {
				golden.Check(t, "testdata/snapshots.txt", plan.String())
			}
			run := executed(t, plan, harness.Options{Prefix: "run"})
			if !slices.Equal(p.did, c.want) {
				t.Errorf("got  %q\nwant %q", p.did, c.want)
			}
			for _, track := range run.Tracks {
				if s := track.Scenarios[0]; s.Status != reports.Passed {
					t.Errorf("%s: %s", s.Name, reports.Explain(s))
				}
			}
			if code := reports.ExitCode(run); (code == reports.ExitPassed) != (c.failing == nil) {
				t.Errorf("the exit code is %d, and the copy came to %v", code, c.failing)
			}
			if kept := 1; c.failing == nil && p.discarded != kept {
				t.Errorf("%d copies were discarded, want %d", p.discarded, kept)
			}
		})
	}
}

// Without the option, or if it is unknown whether a first state would be the same again, every cluster begins empty.
func TestTracksThatBeginWithNothing(t *testing.T) {
	process := "{name: mine, process: {command: [\"true\"]}}"
	for name, c := range map[string]struct {
		text    string
		options harness.PlanOptions
	}{
		"not wanted": {firstStates(), harness.PlanOptions{}},
		"a foreign program": {
			withSystem("a", process, makeMap("a")) + withSystem("b", process, makeMap("a")),
			harness.PlanOptions{Snapshots: true, NoSharing: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			plan := planned(t, &copying{provider: &provider{}}, c.text, c.options)
			if text := plan.String(); strings.Contains(text, "snapshot") {
				t.Errorf("the plan has a snapshot:\n%s", text)
			}
		})
	}
}
