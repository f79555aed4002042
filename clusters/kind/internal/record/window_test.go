package record

import (
	"slices"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// A transition that stops leaves API servers of two versions, and the next transition knows that parts of the cluster
// have the other version.
func TestHold(t *testing.T) {
	old := clusters.State{Version: "1.34.4", ControlPlanes: 3}
	r, err := New(t.TempDir(), "held", old)
	golden.Must(t, err)
	next := clusters.State{Version: "1.35.4", ControlPlanes: 3}
	seen := func() (versions []string, behind []int) {
		for plane := range 3 {
			version, isBehind := r.Server(plane)
			if versions = append(versions, version); isBehind {
				behind = append(behind, plane)
			}
		}
		return versions, behind
	}
	steps := []struct {
		name     string
		do       func() error
		versions []string
		behind   []int
		mixed    string
	}{
		{"one is new", func() error { return r.Hold(next, []int{1, 2}) }, []string{"1.35.4", "1.34.4", "1.34.4"}, []int{1, 2}, "1.34.4"},
		{"two are new", func() error { return r.Hold(next, []int{2}) }, []string{"1.35.4", "1.35.4", "1.34.4"}, []int{2}, "1.34.4"},
		{"one goes back", func() error { return r.Hold(old, []int{0}) }, []string{"1.35.4", "1.34.4", "1.34.4"}, []int{0}, "1.35.4"},
		{"all API servers are new", func() error { return r.Hold(next, nil) }, []string{"1.35.4", "1.35.4", "1.35.4"}, nil, "1.34.4"},
		{"all are new", func() error { return r.Arrive(next) }, []string{"1.35.4", "1.35.4", "1.35.4"}, nil, ""},
		{"a gate on one", func() error { return r.Hold(next, []int{1, 2}) }, []string{"1.35.4", "1.35.4", "1.35.4"}, []int{1, 2}, ""},
	}
	for _, step := range steps {
		golden.Must(t, step.do())
		versions, behind := seen()
		if !slices.Equal(versions, step.versions) || !slices.Equal(behind, step.behind) {
			t.Errorf("%s: versions %v, behind %v; want %v, %v", step.name, versions, behind, step.versions, step.behind)
		}
		again, err := Read(r.Dir)
		golden.Must(t, err)
		if mixed, err := again.SetOut(again.State().Version); err != nil || mixed != step.mixed {
			t.Errorf("%s: a transition to %s finds %q, %v; want %q", step.name, again.State().Version, mixed, err, step.mixed)
		}
	}
}

// An API server that was killed is down until it is restarted, or a transition has changed all control planes. A later
// process knows it.
func TestKilled(t *testing.T) {
	state := clusters.State{Version: "1.35.4", ControlPlanes: 3}
	r, err := New(t.TempDir(), "killed", state)
	golden.Must(t, err)
	for _, step := range []struct {
		name string
		do   func() error
		want []bool
	}{
		{"none", func() error { return nil }, []bool{false, false, false}},
		{"two", func() error { return r.Killed([]int{0, 2}) }, []bool{true, false, true}},
		{"a transition stops", func() error { return r.Hold(state, []int{2}) }, []bool{true, false, true}},
		{"one is restarted", func() error { return r.Killed([]int{2}) }, []bool{false, false, true}},
		{"a transition is complete", func() error { return r.Arrive(state) }, []bool{false, false, false}},
	} {
		golden.Must(t, step.do())
		again, err := Read(r.Dir)
		golden.Must(t, err)
		for _, record := range []*Record{r, again} {
			got := []bool{record.IsDown(0), record.IsDown(1), record.IsDown(2)}
			if !slices.Equal(got, step.want) {
				t.Errorf("%s: down %v, want %v", step.name, got, step.want)
			}
		}
	}
}
