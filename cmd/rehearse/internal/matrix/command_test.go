package matrix

import (
	"slices"
	"testing"
)

// The file of --system is part of what all shards must have in common.
func TestDefinitionOfTheMatrix(t *testing.T) {
	for system, want := range map[string][]string{
		"lws": nil, "lws=a/lws.yaml": {"lws=module:a/lws.yaml"}, "lws=module:lws.yaml": {"lws=module:lws.yaml"},
	} {
		if got := (&settings{system: system}).definition(); !slices.Equal(got, want) {
			t.Errorf("--system %s is %q, want %q", system, got, want)
		}
	}
}
