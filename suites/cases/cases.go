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

// Rule says of any input whether it is allowed.
type Rule struct {
	// Name by which the rule is spoken of, unique in its suite.
	Name string
	// Covers are the requirements that the rule is made of.
	Covers []string
	// State of the cluster that judges.
	State clusters.State
	// Begin makes what the inputs are judged against, if anything, and returns how a case is drawn.
	Begin func(ctx context.Context, w World) (Draw, error)
}

// World is where the cases of a rule are judged.
type World struct {
	// Client of the cluster.
	Client dynamic.Interface
	// Namespace of the rule's own. It is removed with all that is in it.
	Namespace string
	// Seed of the run, from which all that is drawn follows.
	Seed uint64
}

// Draw makes one case. What it draws first, and small, is what a case shrinks to.
type Draw func(t *rapid.T) Case

// Case is an object whose creation the specification allows or forbids.
type Case struct {
	// Input is what was drawn, for a person.
	Input string
	// Resource and Object whose creation is tried as a dry run, in the rule's namespace.
	Resource schema.GroupVersionResource
	Object   map[string]any
	// Allowed says whether the specification allows it, and Requirement which of its requirements says so.
	Allowed     bool
	Requirement string
}

// Result is what came of a rule.
type Result struct {
	Rule Rule
	// Seed that the cases were drawn with, and Judged how many were, those of the shrinking left out.
	Seed   uint64
	Judged int
	// Disagreement is a case, the smallest that was found until nobody could judge any more, that the implementation
	// judges differently from the specification; nil when there is none.
	Disagreement *Disagreement
	// Err is why the rule could not be judged or, where a case disagrees, why that was not made smaller.
	Err error
}

// Disagreement is a case with what the implementation said of it.
type Disagreement struct {
	Case Case
	// Got is "accepted", or "rejected" with code, reason and message.
	Got string
}

// String says what was drawn, what the specification says of it, and what the implementation did.
func (d Disagreement) String() string {
	want := "rejected"
	if d.Case.Allowed {
		want = "accepted"
	}
	return fmt.Sprintf("%s: by %s it must be %s, but it was %s", d.Case.Input, d.Case.Requirement, want, d.Got)
}
