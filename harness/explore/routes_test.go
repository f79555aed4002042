package explore

import (
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
)

func pathOf(names string) []clusters.State {
	var path []clusters.State
	for _, name := range strings.Fields(names) {
		path = append(path, clusters.State{Version: name})
	}
	return path
}

// Each hop back to a state from which the path came is a rollback.
func TestWaysOf(t *testing.T) {
	for path, want := range map[string]string{
		"1.35.1":                             "start",
		"1.35.1 1.36.1 1.35.1":               "start upgrade rollback",
		"1.35.1 1.36.1 1.35.1 1.36.1":        "start upgrade rollback upgrade",
		"1.34.1 1.35.1 1.36.1 1.35.1 1.34.1": "start upgrade upgrade rollback rollback",
		"1.34.1 1.35.1 1.36.1 1.34.1 1.35.1": "start upgrade upgrade rollback upgrade",
	} {
		if got := strings.Join(waysOf(pathOf(path)), " "); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}

// A finding that does not show on its shortest path is tried on the whole one.
func TestStretch(t *testing.T) {
	e := Options{Path: pathOf("1.34.1 1.35.1 1.36.1 1.35.1 1.34.1")}
	for _, test := range []struct{ from, before, to, want string }{
		{"1.34.1", "1.36.1", "1.35.1", "1.34.1|1.35.1|1.36.1|1.35.1"},
		{"1.36.1", "1.36.1", "1.35.1", "1.36.1|1.35.1"},
		{"1.34.1", "1.34.1", "1.36.1", ""}, // a hop of another path
	} {
		g := &group{route: route{
			from: clusters.State{Version: test.from}, before: clusters.State{Version: test.before},
			to: clusters.State{Version: test.to},
		}}
		if got := hopsOf(e.stretch(g)); got != test.want {
			t.Errorf("%s, %s -> %s: got %s, want %s", test.from, test.before, test.to, got, test.want)
		}
	}
}
