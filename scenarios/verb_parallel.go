package scenarios

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

func parallelVerb() verb {
	return verb{
		name: "parallel", ownExpect: true, ofSteps: true,
		about:   func(s *Step) string { return s.Parallel.subject() },
		shape:   (*validator).parallelShape,
		check:   func(v *validator, c stepCheck) { v.parallel(c.step, c.node) },
		results: []string{"objects"},
	}
}

// Parallel sends writes at the same time: each is prepared, and then all are let go at once. Either each step has an
// expect of its own, or all have the one of parallel.
type Parallel struct {
	// Steps are the writes: each has one of their verbs (create, apply, update, patch, delete, evict, scale), and may have
	// name, expect, dryRun, fieldValidation and as. An apply has a field manager of its own here.
	Steps []Step `json:"steps" copied:"true"`
	// Count is how many copies there are of each step. Default: 1. In a copy ${index} is its number, from 0.
	Count *int `json:"count,omitempty" fixed:"true"`
	// Expect is what is expected of all the writes together.
	Expect *ParallelExpect `json:"expect,omitempty"`
}

// ParallelExpect is what is expected of writes that were sent at the same time.
type ParallelExpect struct {
	// Accepted is how many of the writes are accepted: a number, {min, max}, or "all".
	Accepted *Count `json:"accepted"`
	// Rejected is how each of the others is refused. Default: in any way. One whose outcome is unknown is neither.
	Rejected *Rejection `json:"rejected,omitempty"`
}

// maxWrites is the most writes at the same time.
const maxWrites = 1000

// Copies are the writes: of each step as many as count says, one copy of all steps after the other. What is expected of
// all is expected of none of them alone.
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

// parallel checks what the writes are, and how many.
func (v *validator) parallel(step *Step, n *node) {
	p := step.Parallel
	if p.Count != nil && (*p.Count < 1 || *p.Count > maxWrites) {
		v.at(n.at("count"), "", "want 1 to %d copies, not %d", maxWrites, *p.Count)
		return
	}
	switch total := p.copies() * len(p.Steps); {
	case len(p.Steps) == 0:
		v.at(n.at("steps"), "", "there is nothing to send")
	case total == 1:
		v.at(n, "give more steps, or count", "a single write has nothing that it could be at the same time as")
	case total > maxWrites:
		v.at(n, "", "%d writes at the same time are more than %d", total, maxWrites)
	}
	if p.Expect != nil {
		v.parallelExpect(p, n.at("expect"))
	}
	for i := range p.Steps {
		inner, at := &p.Steps[i], n.at("steps", i)
		if inner.Expect != nil && p.Expect != nil {
			v.at(at.key("expect"), "say it here or there", "parallel has an expect for all its writes")
		}
		v.expect(inner, at.at("expect"))
		v.fieldValidation(inner, at)
		v.user(inner.As, at.at("as"))
		inner.verb().check(v, stepCheck{step: inner, node: at.get(inner.Verb()), accepted: p.Expect == nil &&
			!refused(inner)})
		if inner.Delete != nil && inner.Delete.Selector != nil {
			v.at(at.at("delete").key("selector"), "name one object", "a deletion of all that have labels is more than one write")
		}
	}
}

func (v *validator) parallelExpect(p *Parallel, n *node) {
	v.count(p.Expect.Accepted, n.at("accepted"))
	total := p.copies() * len(p.Steps)
	if a := p.Expect.Accepted; a != nil && !a.All && a.Min != nil && *a.Min > total {
		v.at(n.at("accepted"), "", "there are only %d writes", total)
	}
	if a := p.Expect.Accepted; p.Expect.Rejected != nil && a != nil && (a.All || a.Min != nil && *a.Min == total) {
		v.at(n.key("rejected"), "", "all are to be accepted: there is none that could be refused")
	}
	if p.Expect.Rejected != nil {
		v.rejection(p.Expect.Rejected, n.get("rejected"))
	}
}

// parallelShape checks, before they are decoded, that the steps of parallel are writes and have only what belongs to
// one.
func (v *validator) parallelShape(n *node) bool {
	steps := n.get("steps")
	if steps == nil || steps.kind != sequence {
		return true // the decoder says it better
	}
	known := append(Writes(), "name", "expect", "dryRun", "fieldValidation", "as")
	for _, item := range steps.items {
		if item.kind != mapping {
			continue
		}
		for _, e := range item.entries {
			_, field := fieldNamed(fieldsOf(reflect.TypeFor[Step]()), e.key.text)
			if field && !slices.Contains(known, e.key.text) {
				v.at(e.key, "there can be: "+strings.Join(known, ", "), "a step of parallel is a write: it has no %s", e.key.text)
				return false
			}
		}
		if !v.shape(item) {
			return false
		}
	}
	return true
}
