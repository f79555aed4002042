package planning

import (
	"context"
	"errors"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// borrowed is paper with a cluster that belongs to the user.
type borrowed struct{ paper }

func (borrowed) Borrowed() string { return "cluster paper" }

func (borrowed) Reach(context.Context) error { return nil }

// A provider says which ability a state needs. The plan adds what a scenario can do about it.
func TestMissingAbilityOfAState(t *testing.T) {
	lacks := paper{check: func([]clusters.State) error {
		return &clusters.LacksError{Ability: clusters.AbilityEmulation, Err: errors.New("it cannot emulate")}
	}}
	verb := func(*scenarios.Step) Verb { return Verb{} }
	_, err := New(t.Context(), lacks, onVersions("1.36"), verb, Options{})
	golden.Error(t, err, "it cannot emulate (with needs: [emulation] the scenario is skipped there)")
	if !Unsupported(err) {
		t.Error("it is called a mistake")
	}
}

// What the provider does not support can be told from mistakes.
func TestUnsupported(t *testing.T) {
	picky := paper{check: func(path []clusters.State) error {
		if path[0].Version == "1.35" {
			return errors.New("the gate Bad is unknown")
		}
		return nil
	}}
	executes := func(s *scenarios.Scenario) { s.Spec.Steps = []scenarios.Step{{Name: "a"}} }
	verb := func(*scenarios.Step) Verb {
		return Verb{Needs: func(*scenarios.Step) clusters.Ability { return clusters.AbilityExec }}
	}
	for name, c := range map[string]struct {
		provider clusters.Provider
		version  string
		change   func(*scenarios.Scenario)
		want     bool
	}{
		"a missing ability":                      {picky, "1.36", executes, true},
		"a mistake":                              {picky, "1.35", nil, false},
		"what a borrowed cluster does not have":  {borrowed{picky}, "1.35", nil, true},
		"an unavailable version":                 {picky, "1.30", nil, false},
		"a borrowed cluster that is not reached": {borrowed{picky}, "1.30", nil, false},
		"a missing ability, and a mistake": {picky, "1.36", func(s *scenarios.Scenario) {
			executes(s)
			s.Spec.Steps = append(s.Spec.Steps, scenarios.Step{Transition: &scenarios.Transition{}})
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			set := onVersions(c.version)
			if c.change != nil {
				c.change(set[0])
			}
			_, err := New(t.Context(), c.provider, set, verb, Options{})
			if err == nil || Unsupported(err) != c.want {
				t.Errorf("%v: unsupported is %t, want %t", err, Unsupported(err), c.want)
			}
		})
	}
	if Unsupported(nil) {
		t.Error("nothing is called unsupported")
	}
}
