// Package cases generates inputs for a rule, including edge cases, and compares an implementation's verdicts with those
// of the specification.
package cases

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/clusters"
)

// Rule decides for any input whether it is allowed.
type Rule struct {
	// Name of the rule, unique in its suite.
	Name string
	// Covers are the requirements that the rule consists of.
	Covers []string
	// State of the cluster that judges the cases.
	State clusters.State
	// Begin creates what the inputs need, if anything, and returns how a case is drawn.
	Begin func(ctx context.Context, w World) (Draw, error)
}

// World is where the cases of a rule are judged.
type World struct {
	// Client of the cluster.
	Client dynamic.Interface
	// Namespace of the rule. It is deleted with everything in it.
	Namespace string
	// Seed of the run; it determines everything that is drawn.
	Seed uint64
}

// Draw makes one case. Shrinking makes the values that are drawn first, and small values, simplest.
type Draw func(t *rapid.T) Case

// Case is an object whose creation the specification allows or forbids.
type Case struct {
	// Input describes what was drawn, for a person.
	Input string
	// Resource and Object to create as a dry run, in the rule's namespace.
	Resource schema.GroupVersionResource
	Object   map[string]any
	// Allowed: the specification allows it. Requirement is the one that decides that.
	Allowed     bool
	Requirement string
}

// Result of a rule.
type Result struct {
	Rule Rule
	// Seed of the cases, and Judged, the number of cases without those of shrinking.
	Seed   uint64
	Judged int
	// Disagreement is a case that the implementation judges differently from the specification: the smallest one that
	// was found before judging became impossible. Nil if there is none.
	Disagreement *Disagreement
	// Err is why the rule could not be judged or, if there is a disagreement, why it was not reduced further.
	Err error
}

// Disagreement is a case with the implementation's verdict.
type Disagreement struct {
	Case Case
	// Got is "accepted", or "rejected" with code, reason and message.
	Got string
}

// String describes the input, the specification's verdict and the implementation's verdict.
func (d Disagreement) String() string {
	want := "rejected"
	if d.Case.Allowed {
		want = "accepted"
	}
	return fmt.Sprintf("%s: by %s it must be %s, but it was %s", d.Case.Input, d.Case.Requirement, want, d.Got)
}
