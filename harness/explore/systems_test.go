package explore

import (
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
)

func TestSystemsOfAPath(t *testing.T) {
	state := func(version string) clusters.State { return clusters.State{Version: version} }
	first, next := clusters.System{Name: "my", Version: "v1"}, clusters.System{Name: "my", Version: "v2"}
	for _, test := range []struct {
		path []string
		want string
	}{
		{[]string{"1.36.3"}, "1.36.3 v1, 1.36.3 v2, 1.36.3 v1"},
		{[]string{"1.35.4", "1.36.3"}, "1.35.4 v1, 1.36.3 v1, 1.36.3 v2"},
		{[]string{"1.35.4", "1.36.3", "1.35.4"}, "1.35.4 v1, 1.36.3 v1, 1.36.3 v2, 1.36.3 v1, 1.35.4 v1"},
		{[]string{"1.36.3", "1.35.4"}, "1.36.3 v1, 1.36.3 v2, 1.36.3 v1, 1.35.4 v1"},
	} {
		var path []clusters.State
		for _, version := range test.path {
			path = append(path, state(version))
		}
		var got []string
		for _, s := range WithSystems(path, []clusters.System{first}, []clusters.System{next}) {
			got = append(got, s.Version+" "+s.Systems[0].Version)
		}
		if text := strings.Join(got, ", "); text != test.want {
			t.Errorf("got %s, want %s", text, test.want)
		}
	}
	before := clusters.State{Version: "1.36.3", Systems: []clusters.System{first}}
	after := clusters.State{Version: "1.36.3", Systems: []clusters.System{next}}
	if t2 := transition(before, after); len(t2.Systems) != 1 || t2.Systems[0].System.Version != "v2" {
		t.Errorf("the transition of a scenario changes %v", t2.Systems)
	}
}
