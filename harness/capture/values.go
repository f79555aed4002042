package capture

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// shortest is the minimum length of a value that is hidden in texts. Shorter values occur everywhere.
const shortest = 4

// SecretValues returns the values of a Secret in every form in which a text may contain them: plain and in base64, each
// with its Spellings. There are none for another object.
func SecretValues(o *unstructured.Unstructured) []string {
	if o.GetKind() != "Secret" || o.GetAPIVersion() != "v1" {
		return nil
	}
	var values []string
	data, _ := o.Object["data"].(map[string]any)
	for _, value := range data {
		text, _ := value.(string)
		values = append(values, Spellings(text)...)
		if plain, err := base64.StdEncoding.DecodeString(text); err == nil {
			values = append(values, Spellings(string(plain))...)
		}
	}
	plain, _ := o.Object["stringData"].(map[string]any)
	for _, value := range plain {
		text, _ := value.(string)
		values = append(values, Spellings(text)...)
		values = append(values, Spellings(base64.StdEncoding.EncodeToString([]byte(text)))...)
	}
	return LongestFirst(values)
}

// Spellings returns a value as texts contain it: itself, and quoted as Go or JSON, with or without escaped HTML. There
// are none for a value that occurs everywhere.
func Spellings(value string) []string {
	if len(value) < shortest || value == "true" || value == "false" {
		return nil
	}
	quoted := []string{strconv.Quote(value)}
	for _, escape := range []bool{true, false} {
		var b strings.Builder
		encoder := json.NewEncoder(&b)
		encoder.SetEscapeHTML(escape)
		if encoder.Encode(value) == nil { // it is a string
			quoted = append(quoted, strings.TrimSpace(b.String()))
		}
	}
	all := []string{value}
	for _, one := range quoted {
		all = append(all, one[1:len(one)-1])
	}
	return LongestFirst(all)
}

// LongestFirst sorts values in the order in which they must be replaced in a text, because some contain others. Each is
// there once.
func LongestFirst(values []string) []string {
	slices.SortFunc(values, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	return slices.Compact(values)
}
