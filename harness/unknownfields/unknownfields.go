// Package unknownfields finds fields in steps that their kinds do not have. Such a step could never fail, or never
// pass.
package unknownfields

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/harness/schemas"
	"github.com/rehearse-dev/rehearse/harness/served"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/expressions"
	"github.com/rehearse-dev/rehearse/scenarios/fieldpath"
)

// Finder finds unknown fields with the schemas that an API server serves.
type Finder struct {
	Kinds       *served.Kinds
	Schemas     *schemas.Schemas
	Expressions *expressions.Evaluator
}

// Missing are the fields that a step uses and that no state has had so far. The zero value is for no state.
type Missing struct {
	// fields with a message for each; nil before the first state.
	fields map[string]string
	// unchecked says that the fields of one of the states are unknown.
	unchecked bool
}

// Open reports whether another state can change what is missing.
func (m *Missing) Open() bool { return (m.fields == nil || len(m.fields) > 0) && !m.unchecked }

// Keep keeps only the fields that are also missing in another state.
func (m *Missing) Keep(more Missing) {
	switch {
	case more.unchecked:
		m.unchecked = true
	case m.fields == nil:
		m.fields = more.fields
	default:
		m.removeUnless(more)
	}
}

func (m *Missing) removeUnless(again Missing) {
	maps.DeleteFunc(m.fields, func(name, _ string) bool { return again.fields[name] == "" })
}

// asked is a field of a kind that a step uses.
type asked struct {
	scenarios.Selection
	scenarios.FieldUse
}

// asks lists the fields that a step uses.
func (f Finder) asks(step scenarios.Step) ([]asked, error) {
	var all []asked
	for _, watch := range step.Watches() {
		uses, err := watch.Fields(f.Expressions)
		if err != nil {
			return nil, err
		}
		for _, use := range uses {
			all = append(all, asked{watch.Selection, use})
		}
	}
	return all, nil
}

// Missing finds the fields that a step uses and that the kinds do not have now. After a transition, it skips fields
// that the step allows to be absent: another version may have had them, and the step may check that they are gone. If
// a lookup fails, the result is unchecked for all fields.
func (f Finder) Missing(ctx context.Context, step scenarios.Step, afterTransition bool) Missing {
	fields, err := f.asks(step)
	if err != nil {
		return Missing{unchecked: true}
	}
	missing := map[string]string{}
	for _, field := range fields {
		if field.Optional && afterTransition {
			continue
		}
		gvk := schema.FromAPIVersionAndKind(field.APIVersion, field.Kind)
		kind, err := f.Kinds.Find(ctx, gvk)
		if err != nil {
			return Missing{unchecked: true}
		}
		of, err := f.Schemas.Of(ctx, gvk, kind.Resource.Resource)
		if err != nil {
			return Missing{unchecked: true}
		}
		if of == nil {
			continue // no schema lists the fields
		}
		if i, known := of.Unknown(field.Path); i >= 0 {
			name := fieldpath.Use{Path: field.Path[:i+1]}.String()
			text := fmt.Sprintf("%s of %s has no field %s (%s)", field.Kind, field.APIVersion, name, field.Where)
			if hint := scenarios.Suggest(field.Path[i], known); hint != "" {
				text += "; " + hint
			}
			missing[field.Kind+" "+name] = text
		}
	}
	return Missing{fields: missing}
}

// Problem reports the fields of a step that do not exist now, and did not exist in any earlier state that the step
// judges. doubt says that a schema could not be looked up.
func (f Finder) Problem(ctx context.Context, step scenarios.Step, afterTransition bool,
	before *Missing,
) (problem, doubt string) {
	const unchecked = "\nNot checked: whether the kind has these fields, since its schema could not be looked up."
	missing := f.Missing(ctx, step, afterTransition)
	if before != nil {
		before.Keep(missing)
		missing = *before
	}
	if !missing.unchecked && len(missing.fields) > 0 {
		f.Schemas.Reset() // a CustomResourceDefinition may have been changed
		again := f.Missing(ctx, step, afterTransition)
		missing.removeUnless(again)
		missing.unchecked = again.unchecked
	}
	switch {
	case missing.unchecked:
		return "", unchecked
	case len(missing.fields) == 0:
		return "", ""
	}
	return step.Verb() + ": " + strings.Join(slices.Sorted(maps.Values(missing.fields)), "\n"), ""
}

// Status returns the status of a step that uses a field that its kind does not have. It is an error of the scenario.
// But if a custom resource must have a value there, the step fails: the test covers its definition, which lacks the
// field.
func Status(step scenarios.Step) reports.Status {
	for _, watch := range step.Watches() {
		if watch.Demanded && served.IsCustom(watch.APIVersion) {
			return reports.Failed
		}
	}
	return reports.Error
}
