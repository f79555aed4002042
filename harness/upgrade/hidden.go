package upgrade

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/harness/capture"
	"github.com/rehearse-dev/rehearse/reports/upgrades"
)

// hidden are values that reports must not show: those of Secrets and of environment variables.
type hidden map[string]bool

// of adds the values of an object.
func (h hidden) of(o *unstructured.Unstructured) {
	h.add(capture.SecretValues(o))
	h.environment(o.Object)
}

func (h hidden) add(values []string) {
	for _, text := range values {
		h[text] = true
	}
}

// environment adds the values of all lists of environment variables.
func (h hidden) environment(value any) {
	switch value := value.(type) {
	case map[string]any:
		variables, _ := value["env"].([]any)
		for _, variable := range variables {
			if fields, ok := variable.(map[string]any); ok {
				text, _ := fields["value"].(string)
				h.add(capture.Spellings(text))
			}
		}
		for _, inner := range value {
			h.environment(inner)
		}
	case []any:
		for _, inner := range value {
			h.environment(inner)
		}
	}
}

// hide replaces the values in a report's quotes.
func (h hidden) hide(r *upgrades.Report) {
	if len(h) == 0 {
		return
	}
	var pairs []string
	for _, text := range capture.LongestFirst(slices.Collect(maps.Keys(h))) {
		pairs = append(pairs, text, "(hidden)")
	}
	replacer := strings.NewReplacer(pairs...)
	for _, f := range r.Findings {
		f.Words = replacer.Replace(f.Words)
	}
	r.Failure = replacer.Replace(r.Failure)
	for i, note := range r.Notes {
		r.Notes[i] = replacer.Replace(note)
	}
	for _, c := range r.Checks {
		c.Message = replacer.Replace(c.Message)
	}
}
