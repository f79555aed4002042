package conformance

import (
	"strings"
	"testing"
)

// A reason says what was seen. It does not contain the whole expression or object.
func TestSeen(t *testing.T) {
	for name, c := range map[string]struct{ message, want string }{
		"an expression of all objects": {
			"eventually: at least one Pod matches. It did not become true within 2m0s.\n" +
				"There are 2 candidates, none matches.\nThey are: a, b.\ncel: objects.size() == 2 && objects.all(p, p.x == 'y')\n" +
				"  is false\n  1 of 2 without p.x == \"y\": a has \"z\"\nChanges of a since the start of the step: added +1s.",
			"eventually: at least one Pod matches. It did not become true within 2m0s. | " +
				"There are 2 candidates, none matches. | They are: a, b. | 1 of 2 without p.x == \"y\": a has \"z\" | Changes of a since the start of the step: added +1s.",
		},
		"an expression of each, one of them explained": {
			"There are 2 candidates, none matches.\na:\n  cel: object.x == 1\n    is false\n    object.x is 2, wanted 1\n" +
				"b:\n  cel: object.x == 1\n    is false\nChanges of a: none.",
			"There are 2 candidates, none matches. | a: | object.x is 2, wanted 1 | b: | cel: object.x == 1 | is false | " +
				"Changes of a: none.",
		},
		"a stored object":          {"it was accepted\nstored object:\n  kind: Pod", "it was accepted"},
		"an expression at the end": {"cel: x", "cel: x"},
		"too much":                 {strings.Repeat("a", 900), strings.Repeat("a", 800) + " ..."},
	} {
		if got := seen(c.message); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, c.want)
		}
	}
}
