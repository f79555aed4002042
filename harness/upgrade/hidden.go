package upgrade

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rehearse-dev/rehearse/harness/capture"
	"github.com/rehearse-dev/rehearse/reports/upgrades"
)

// hidden are values that reports must not show.
type hidden struct {
	// secrets are the values of Secrets. variables are those of environment variables: they are hidden as whole words.
	secrets, variables map[string]bool
	// names are those of objects and their namespaces. Reports show them anyway.
	names map[string]bool
}

func newHidden() hidden {
	return hidden{secrets: map[string]bool{}, variables: map[string]bool{}, names: map[string]bool{}}
}

// of adds the values of an object.
func (h hidden) of(o *unstructured.Unstructured) {
	add(h.secrets, capture.SecretValues(o))
	h.names[o.GetName()], h.names[o.GetNamespace()] = true, true
	h.environment(o.Object)
}

func add(to map[string]bool, values []string) {
	for _, text := range values {
		to[text] = true
	}
}

// environment adds the values of all lists of environment variables.
func (h hidden) environment(value any) {
	switch value := value.(type) {
	case map[string]any:
		variables, _ := value["env"].([]any)
		for _, variable := range variables {
			if fields, ok := variable.(map[string]any); ok {
				if text, _ := fields["value"].(string); !ordinary(text) {
					add(h.variables, capture.Spellings(text))
				}
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

// ordinary reports whether a value of a variable is an ordinary word or a port: reports need these words.
func ordinary(value string) bool {
	if len(value) <= len("65535") && strings.Trim(value, "0123456789") == "" {
		return true
	}
	return slices.Contains([]string{
		"true", "false", "none", "null", "default", "enabled", "disabled", "auto", "always", "never", "server", "client",
		"node", "nodes", "cluster", "namespace", "name", "host", "localhost", "http", "https", "json", "text", "yaml",
		"debug", "info", "warn", "warning", "error", "fatal", "trace", "production", "staging", "development", "test",
		"kubernetes", "image", "container", "value", "string", "linux",
	}, strings.ToLower(value))
}

// hide replaces the values in a report's quotes.
func (h hidden) hide(r *upgrades.Report) {
	all := maps.Clone(h.variables)
	maps.DeleteFunc(all, func(text string, _ bool) bool { return h.names[text] })
	maps.Copy(all, h.secrets)
	values := capture.LongestFirst(slices.Collect(maps.Keys(all)))
	replace := func(text string) string {
		for _, value := range values {
			if h.secrets[value] {
				text = strings.ReplaceAll(text, value, mark)
			} else {
				text = withoutWord(text, value)
			}
		}
		return text
	}
	for _, f := range r.Findings {
		f.Words = replace(f.Words)
	}
	r.Failure = replace(r.Failure)
	for i, note := range r.Notes {
		r.Notes[i] = replace(note)
	}
	for _, c := range r.Checks {
		c.Message = replace(c.Message)
	}
}

// mark stands for a hidden value.
const mark = "(hidden)"

// withoutWord replaces a value in a text, except inside longer words.
func withoutWord(text, value string) string {
	var b strings.Builder
	for {
		i := strings.Index(text, value)
		if i < 0 {
			return b.String() + text
		}
		before, after := text[:i], text[i+len(value):]
		if endsWord(before) && beginsWord(value) || endsWord(value) && beginsWord(after) {
			_, size := utf8.DecodeRuneInString(text[i:])
			b.WriteString(text[:i+size])
			text = text[i+size:]
			continue
		}
		b.WriteString(before + mark)
		text = after
	}
}

func beginsWord(text string) bool { first, _ := utf8.DecodeRuneInString(text); return inWord(first) }

func endsWord(text string) bool { last, _ := utf8.DecodeLastRuneInString(text); return inWord(last) }

func inWord(r rune) bool { return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) }
