package writes

import (
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/scenarios"
)

func TestMissingWarnings(t *testing.T) {
	old := "v1beta1 is deprecated"
	for name, test := range map[string]struct {
		want scenarios.Text
		got  []string
		says string
	}{
		"there":                        {want: scenarios.Text{Contains: "deprecated"}, got: []string{"other", old}},
		"not there":                    {want: scenarios.Text{Contains: "deprecated"}, got: []string{"other"}, says: "want one"},
		"lacks, and another has it":    {want: scenarios.Text{Lacks: "deprecated"}, got: []string{"other", old}, says: old},
		"lacks, and none of them does": {want: scenarios.Text{Lacks: "deprecated"}, got: []string{"other", "one more"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := strings.Join(missing([]scenarios.Text{test.want}, test.got), "\n")
			if (got == "") != (test.says == "") || !strings.Contains(got, test.says) {
				t.Errorf("got %q, want %q", got, test.says)
			}
		})
	}
}
