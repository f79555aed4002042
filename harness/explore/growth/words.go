package growth

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/explore/fields"
)

var (
	supported = regexp.MustCompile(`(?:supported values|valid values(?: are)?|allowed values(?: are)?|must be one of)[: ]+(.*)`)
	example   = regexp.MustCompile(`\(e\.g\. (.*?)(?:,? regex used| regex|\))`)
	quoted    = regexp.MustCompile("\"((?:[^\"\\\\]|\\\\.)*)\"|'([^']*)'|`([^`]*)`")
	between   = regexp.MustCompile(`between (-?\d+) and (-?\d+)`)
	least     = regexp.MustCompile(`(?:greater than or equal to|at least|no less than|not be less than) (-?\d+)`)
	above     = regexp.MustCompile(`(?:greater than|more than) (-?\d+)`)
	most      = regexp.MustCompile(`(?:less than or equal to|at most|no more than|not be more than|not exceed) (-?\d+)`)
	anyNumber = regexp.MustCompile(`-?\b\d+\b`)
	anyWord   = regexp.MustCompile(`[A-Za-z][A-Za-z0-9.]*`)
)

// hints are the values that a rejection's message suggests for a field, the most likely first.
func hints(message string, f *fields.Field) []any {
	var all []any
	take := func(text string) {
		if value, ok := coerce(f.Type, text); ok {
			all = append(all, value)
		}
	}
	if m := supported.FindStringSubmatch(message); m != nil {
		for _, text := range quotedIn(m[1]) {
			take(text)
		}
	}
	if m := example.FindStringSubmatch(message); m != nil {
		for _, text := range quotedIn(m[1]) {
			take(text)
		}
	}
	if m := between.FindStringSubmatch(message); m != nil {
		take(m[1])
		take(m[2])
	}
	if m := least.FindStringSubmatch(message); m != nil {
		take(m[1])
	}
	if m := above.FindStringSubmatch(message); m != nil {
		n, _ := strconv.Atoi(m[1]) // the expression matches numbers only
		take(strconv.Itoa(n + 1))
	}
	if m := most.FindStringSubmatch(message); m != nil {
		take(m[1])
	}
	for _, text := range quotedIn(message) {
		if len(text) < 64 && !strings.ContainsAny(text, "[]^$ ") {
			take(text)
		}
	}
	if f.Type == fields.Integer {
		for _, text := range anyNumber.FindAllString(message, 6) {
			take(text)
		}
	}
	return all
}

func quotedIn(text string) []string {
	var all []string
	for _, m := range quoted.FindAllStringSubmatch(text, 24) {
		all = append(all, m[1]+m[2]+m[3])
	}
	return all
}

// mentioned are the words of a message that may be names of fields.
func mentioned(message string) map[string]bool {
	words := map[string]bool{}
	for _, word := range anyWord.FindAllString(message, 80) {
		for _, name := range strings.Split(word, ".") {
			words[name] = true
		}
	}
	return words
}

// coerce converts a text to a value of a type.
func coerce(t fields.Type, text string) (any, bool) {
	switch t {
	case fields.Integer:
		n, err := strconv.ParseInt(text, 10, 64)
		return n, err == nil
	case fields.Number:
		n, err := strconv.ParseFloat(text, 64)
		return n, err == nil
	case fields.Boolean:
		b, err := strconv.ParseBool(text)
		return b, err == nil
	case fields.Either:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n, true
		}
		return text, true
	case fields.String, fields.Quantity, fields.Time, fields.Duration:
		return text, true
	}
	return nil, false
}

// same reports whether two values are equal as JSON.
func same(a, b any) bool { return textOf(a) == textOf(b) }

func textOf(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// copied is a deep copy of a value.
func copied[T any](value T) T {
	return copyOf(value).(T)
}

func copyOf(value any) any {
	switch value := value.(type) {
	case map[string]any:
		m := make(map[string]any, len(value))
		for k, v := range value {
			m[k] = copyOf(v)
		}
		return m
	case []any:
		l := make([]any, len(value))
		for i, v := range value {
			l[i] = copyOf(v)
		}
		return l
	}
	return value
}
