package scenarios

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/scenarios/internal/tags"
	"github.com/rehearse-dev/rehearse/scenarios/internal/yamltree"
)

func parallelVerb() verb {
	return verb{
		name: "parallel", ownExpect: true, ofSteps: true,
		about:   func(s *Step) string { return s.Parallel.subject() },
		shape:   parallelShape,
		check:   func(v *validator, c stepCheck) { checkParallel(v, c.step, c.node) },
		results: []string{"objects"},
	}
}

// Parallel sends writes at the same time: each is prepared, and then all are let go at once. Either each step has an
// expect of its own, or all have the one of parallel.
type Parallel struct {
	// Steps are the writes: each has one of the verbs create, apply, update, patch, delete, evict and scale, and may
	// have name, expect, dryRun, fieldValidation and as. Each apply has its own field manager.
	Steps []Step `json:"steps" copied:"true"`
	// Count is the number of copies of each step. Default: 1. In a copy, ${index} is its number, from 0.
	Count *int `json:"count,omitempty" fixed:"true"`
	// Expect is the expected result of all writes together.
	Expect *ParallelExpect `json:"expect,omitempty"`
}

// ParallelExpect is the expected result of writes that are sent at the same time.
type ParallelExpect struct {
	// Accepted is how many of the writes are accepted: a number, {min, max}, or "all".
	Accepted *Count `json:"accepted"`
	// Rejected describes how all others are rejected. Default: any rejection. A write with an unknown outcome is
	// neither accepted nor rejected.
	Rejected *Rejection `json:"rejected,omitempty"`
}

// maxWrites is the maximum number of writes of one parallel step.
const maxWrites = 1000

// Copies returns the writes: as many copies of all steps as count says, one after the other. They do not include the
// expect of parallel, which is about all writes together.
func (p *Parallel) Copies() []Step {
	var all []Step
	for i := range p.copies() {
		for _, step := range p.Steps {
			index := int64(i)
			step.Index = &index
			all = append(all, step)
		}
	}
	return all
}

func (p *Parallel) copies() int {
	if p.Count == nil {
		return 1
	}
	return *p.Count
}

// acceptsAll reports whether the API server must accept all writes together.
func (p *Parallel) acceptsAll() bool {
	if p.Expect == nil || p.Expect.Accepted == nil {
		return false
	}
	a := p.Expect.Accepted
	return a.All || a.Min != nil && *a.Min == p.copies()*len(p.Steps)
}

func (p *Parallel) subject() string {
	if len(p.Steps) == 0 {
		return ""
	}
	first := p.Steps[0].Title()
	if n := p.copies() * len(p.Steps); n > 1 {
		return fmt.Sprintf("%s and %d more", first, n-1)
	}
	return first
}

// checkParallel checks the writes and their number.
func checkParallel(v *validator, step *Step, n *yamltree.Node) {
	p := step.Parallel
	if p.Count != nil && (*p.Count < 1 || *p.Count > maxWrites) {
		v.At(n.At("count"), "", "want 1 to %d copies, not %d", maxWrites, *p.Count)
		return
	}
	switch total := p.copies() * len(p.Steps); {
	case len(p.Steps) == 0:
		v.At(n.At("steps"), "", "there is nothing to send")
	case total == 1:
		v.At(n, "give more steps, or count", "a single write cannot run at the same time as another")
	case total > maxWrites:
		v.At(n, "", "%d writes at the same time are more than %d", total, maxWrites)
	}
	if p.Expect != nil {
		checkParallelExpect(v, p, n.At("expect"))
	}
	for i := range p.Steps {
		inner, at := &p.Steps[i], n.At("steps", i)
		if inner.Expect != nil && p.Expect != nil {
			v.At(at.Key("expect"), "set it in one of the two places", "parallel already has an "+
				"expect for all its writes")
		}
		v.expect(inner, at.At("expect"))
		v.fieldValidation(inner, at)
		v.user(inner.As, at.At("as"))
		inner.verb().check(v, stepCheck{step: inner, node: at.Get(inner.Verb()), accepted: p.Expect == nil &&
			!rejected(inner)})
		checkCopies(v, p, inner, at)
		if inner.Delete != nil && inner.Delete.Selector != nil {
			v.At(at.At("delete").Key("selector"), "name one object", "a deletion by labels is more than one write")
		}
	}
}

// checkCopies checks that all copies of a create can be accepted, if they must be.
func checkCopies(v *validator, p *Parallel, inner *Step, n *yamltree.Node) {
	must := p.Expect == nil && !rejected(inner) || p.acceptsAll()
	deletes := slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Delete != nil || s.Evict != nil })
	if !must || inner.Create == nil || p.copies() == 1 || inner.DryRun || deletes || manyNames(v, inner.Create) {
		return
	}
	v.At(n.At("create", "metadata"), fmt.Sprintf("give it a generateName, or a name such as %q; or say how many are "+
		"accepted: expect: {accepted: 1}", "web-${index}"), "only one of %d copies could create this object", p.copies())
}

func checkParallelExpect(v *validator, p *Parallel, n *yamltree.Node) {
	checkCount(v, p.Expect.Accepted, n.At("accepted"))
	total := p.copies() * len(p.Steps)
	if a := p.Expect.Accepted; a != nil && !a.All && a.Min != nil && *a.Min > total {
		v.At(n.At("accepted"), "", "there are only %d writes", total)
	}
	if p.Expect.Rejected != nil && p.acceptsAll() {
		v.At(n.Key("rejected"), "", "all must be accepted, so none can be rejected")
	}
	if p.Expect.Rejected != nil {
		v.rejection(p.Expect.Rejected, n.Get("rejected"))
	}
}

// parallelShape checks, before decoding, that each step of parallel is a write and has only the fields of one.
func parallelShape(v *validator, n *yamltree.Node) bool {
	steps := n.Get("steps")
	if steps == nil || steps.Kind != yamltree.Sequence {
		return true // the decoder has a better message
	}
	known := append(Writes(), "name", "expect", "dryRun", "fieldValidation", "as")
	for _, item := range steps.Items {
		if item.Kind != yamltree.Mapping {
			continue
		}
		for _, e := range item.Entries {
			_, field := tags.Named(tags.Of(reflect.TypeFor[Step]()), e.Key.Text)
			if field && !slices.Contains(known, e.Key.Text) {
				v.At(e.Key, "allowed are: "+strings.Join(known, ", "), "a step of parallel is a write, which has no %s",
					e.Key.Text)
				return false
			}
		}
		if !checkShape(v, item) {
			return false
		}
	}
	return true
}
