// Package cases generates inputs for a rule, including edge cases. It compares an implementation's verdicts on them
// with the verdicts of the specification.
package cases

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/clusters"
)

// Rule decides for each input whether the specification allows it.
type Rule struct {
	// Name of the rule. It is unique in its suite.
	Name string
	// Covers are the requirements that make up the rule.
	Covers []string
	// State of the cluster on which the cases are judged.
	State clusters.State
	// Begin creates the objects that the inputs need, if any. It returns the function that draws a case. Its error is a
	// *Disagreement if the implementation rejects an object that the specification allows.
	Begin func(ctx context.Context, w World) (Draw, error)
}

// World is where the cases of a rule are judged.
type World struct {
	// Client of the cluster.
	Client dynamic.Interface
	// Namespace of the rule. It is deleted with everything in it.
	Namespace string
	// Seed of the run. It determines all cases.
	Seed uint64
	// wet: the implementation rejects every dry run, so objects are created really.
	wet bool
}

// Draw draws one case. If a case fails, it is reduced to a simpler one (shrinking). Small values count as simple, above
// all those that are drawn first.
type Draw func(t *rapid.T) Case

// Case is an object whose creation the specification allows or forbids.
type Case struct {
	// Input describes the case for a person.
	Input string
	// Resource and Object are what is created in the rule's namespace, as a dry run if the implementation has dry runs.
	Resource schema.GroupVersionResource
	Object   map[string]any
	// Allowed: the specification allows the object. Requirement is the requirement that decides this.
	Allowed     bool
	Requirement string
	// Shows are further requirements that the case is about, if the implementation agrees.
	Shows []string
}

// Result of a rule.
type Result struct {
	Rule Rule
	// Seed of the cases. Judged is the number of judged cases, without those of shrinking.
	Seed   uint64
	Judged int
	// About is how many of them were about each requirement.
	About map[string]int
	// Disagreement is a case on which the implementation disagrees with the specification: the smallest one that was found
	// before judging became impossible. It is nil if there is none.
	Disagreement *Disagreement
	// Err is the reason why the rule could not be judged. If there is a disagreement, it is the reason why the case was
	// not reduced further.
	Err error
}

// Disagreement is a case with the implementation's verdict, which differs from the specification's.
type Disagreement struct {
	Case Case
	// Got is "accepted", or "rejected" with the code, reason and message.
	Got string
}

// Error is String: a Disagreement that ends the preparation is an error.
func (d Disagreement) Error() string { return d.String() }

// String describes the input, the specification's verdict and the implementation's verdict.
func (d Disagreement) String() string {
	want := "rejected"
	if d.Case.Allowed {
		want = "accepted"
	}
	return fmt.Sprintf("%s: by %s it must be %s, but it was %s", d.Case.Input, d.Case.Requirement, want, d.Got)
}
