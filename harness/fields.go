package harness

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// fieldCheck finds fields that steps ask for, and that the kinds do not have.
type fieldCheck struct{ run *scenarioRun }

// asked is a field that a step asks of a kind.
type asked struct {
	scenarios.Selection
	scenarios.FieldUse
	// where the step asks it.
	where string
}

// asks lists the fields that a step asks for.
func (f *fieldCheck) asks(step scenarios.Step) ([]asked, error) {
	var all []asked
	add := func(of scenarios.Selection, where string, fields ...scenarios.FieldUse) {
		for _, field := range fields {
			all = append(all, asked{of, field, where})
		}
	}
	for _, watch := range step.Watches() {
		add(watch.Selection, "match", scenarios.MatchedFields(watch.Match)...)
		for _, text := range watch.Paths {
			path, err := scenarios.ParseFieldPath(text)
			if err != nil {
				return nil, err
			}
			add(watch.Selection, "paths", path.Fields())
		}
		for _, text := range watch.CEL {
			fields, err := f.run.shared.Expressions.Fields(text)
			if err != nil {
				return nil, err
			}
			add(watch.Selection, "cel: "+text, fields...)
		}
	}
	return all, nil
}

// missing finds the fields that a step asks for and that the kinds do not have, by the schemas that the API server
// serves now. It is false where that could not be looked up: then nothing is said of any field.
func (f *fieldCheck) missing(ctx context.Context, step scenarios.Step) (map[string]string, bool) {
	fields, err := f.asks(step)
	if err != nil {
		return nil, false
	}
	missing := map[string]string{}
	for _, field := range fields {
		if field.Optional && f.run.at > 0 {
			continue // another version had it, perhaps, and that it is gone is what the step asks for
		}
		gvk := schema.FromAPIVersionAndKind(field.APIVersion, field.Kind)
		kind, err := f.run.shared.kinds.Find(ctx, gvk)
		if err != nil {
			return nil, false
		}
		of, err := f.run.shared.schemas.Of(ctx, gvk, kind.Resource.Resource)
		if err != nil {
			return nil, false
		}
		if of == nil {
			continue // no schema says which fields there are
		}
		if i, known := of.Unknown(field.Path); i >= 0 {
			name := scenarios.FieldUse{Path: field.Path[:i+1]}.String()
			text := fmt.Sprintf("%s of %s has no field %s (%s)", field.Kind, field.APIVersion, name, field.where)
			if hint := scenarios.Suggest(field.Path[i], known); hint != "" {
				text += "; " + hint
			}
			missing[field.Kind+" "+name] = text
		}
	}
	return missing, true
}

// check finds out whether a step asks for fields that do not exist, so that it could never fail, or never pass. Wrong
// is its result then, and nil where they exist in one of the states that it judges at least. Doubt says that no schema
// could be looked up.
func (f *fieldCheck) check(ctx context.Context, i int, step scenarios.Step) (wrong *result, doubt string) {
	missing, ok := f.missing(ctx, step)
	for _, span := range f.run.timeline.spans {
		if span.judge == i {
			span.keepMissing(missing, ok)
			missing, ok = span.missing, !span.unchecked
		}
	}
	const unchecked = "\nNot checked: whether the kind has these fields, since its schema could not be looked up."
	switch {
	case !ok:
		return nil, unchecked
	case len(missing) == 0:
		return nil, ""
	}
	f.run.shared.schemas.Reset() // a CustomResourceDefinition may have been changed
	again, ok := f.missing(ctx, step)
	maps.DeleteFunc(missing, func(name, _ string) bool { return again[name] == "" })
	switch {
	case !ok:
		return nil, unchecked
	case len(missing) == 0:
		return nil, ""
	}
	r := failure(withoutField(step), "%s: %s", step.Verb(), strings.Join(slices.Sorted(maps.Values(missing)), "\n"))
	return &r, ""
}

// withoutField is the status of a step that asks for a field that its kind does not have. It is an error of the
// scenario, but where a custom resource should have a value there: its definition is a part of what is tested, and
// lacks the field.
func withoutField(step scenarios.Step) reports.Status {
	for _, watch := range step.Watches() {
		if watch.Demanded && isCustom(watch.APIVersion) {
			return reports.Failed
		}
	}
	return reports.Error
}

// isCustom says whether an API is not one of Kubernetes' own.
func isCustom(apiVersion string) bool {
	group, _, _ := strings.Cut(apiVersion, "/")
	return strings.Contains(group, ".") && !strings.HasSuffix(group, ".k8s.io")
}

// look takes note of the fields that the state which the cluster is in does not have, for the steps that judge a time
// that step i is in.
func (f *fieldCheck) look(ctx context.Context, i int) {
	for _, span := range f.run.timeline.spans {
		if span.first <= i && i <= span.last && (span.missing == nil || len(span.missing) > 0) && !span.unchecked {
			span.keepMissing(f.missing(ctx, f.run.scenario.Spec.Steps[span.judge]))
		}
	}
}

// keepMissing keeps what is missing in one more state, too.
func (s *span) keepMissing(missing map[string]string, ok bool) {
	switch {
	case !ok:
		s.unchecked = true
	case s.missing == nil:
		s.missing = missing
	default:
		maps.DeleteFunc(s.missing, func(name, _ string) bool { return missing[name] == "" })
	}
}
