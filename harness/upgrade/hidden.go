package upgrade

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/reports/upgrades"
)

// hidden are values that reports must not show: those of Secrets and of environment variables.
type hidden map[string]bool

// shortest is the minimum length of a hidden value. Shorter values are not hidden, because they occur everywhere.
const shortest = 4

// of adds the values of an object.
func (h hidden) of(o *unstructured.Unstructured) {
	if o.GetKind() == "Secret" && o.GetAPIVersion() == "v1" {
		data, _, _ := unstructured.NestedStringMap(o.Object, "data")
		for _, text := range data {
			h.add(text)
			if plain, err := base64.StdEncoding.DecodeString(text); err == nil {
				h.add(string(plain))
			}
		}
		plain, _, _ := unstructured.NestedStringMap(o.Object, "stringData")
		for _, text := range plain {
			h.add(text)
			h.add(base64.StdEncoding.EncodeToString([]byte(text)))
		}
	}
	h.environment(o.Object)
}

// environment adds the values of all lists of environment variables.
func (h hidden) environment(value any) {
	switch value := value.(type) {
	case map[string]any:
		variables, _ := value["env"].([]any)
		for _, variable := range variables {
			if fields, ok := variable.(map[string]any); ok {
				text, _ := fields["value"].(string)
				h.add(text)
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

// add hides a text, also as the API server quotes it: as Go or JSON text, with or without escaped HTML.
func (h hidden) add(text string) {
	if len(text) < shortest || text == "true" || text == "false" {
		return
	}
	h[text] = true
	quoted := []string{strconv.Quote(text)}
	for _, escape := range []bool{true, false} {
		var b strings.Builder
		encoder := json.NewEncoder(&b)
		encoder.SetEscapeHTML(escape)
		if encoder.Encode(text) == nil { // it is a string
			quoted = append(quoted, strings.TrimSpace(b.String()))
		}
	}
	for _, one := range quoted {
		h[one[1:len(one)-1]] = true
	}
}

// hide replaces the values in a report's quotes.
func (h hidden) hide(r *upgrades.Report) {
	if len(h) == 0 {
		return
	}
	longestFirst := slices.SortedFunc(maps.Keys(h), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)),
			cmp.Compare(a, b))
	})
	var pairs []string
	for _, text := range longestFirst {
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
