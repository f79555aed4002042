package planning

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// A transition with upTo leaves components of several versions. The next transition must be possible for each of them,
// and a transition with upTo must change something.
func TestTransitionsAfterUpTo(t *testing.T) {
	const skips, nothing = "from Kubernetes 1.34 to 1.36 skips 1.35", "changes nothing"
	for _, test := range []struct{ name, transitions, want string }{
		{
			"the rest follows", `{version: "1.35", upTo: 1}; {version: "1.35", upTo: 2}; {version: "1.35"}; {version: "1.36"}`,
			"",
		},
		{"rollback", `{version: "1.35", upTo: 1}; {version: "1.34"}; {version: "1.35", upTo: 1}`, ""},
		{"two versions at once", `{version: "1.35", upTo: 1}; {version: "1.36"}`, "test.yaml:8:5: the upgrade " + skips},
		{
			"two versions in part", `{version: "1.35", upTo: 2}; {version: "1.36", upTo: 1}`,
			"test.yaml:8:5: the upgrade " + skips,
		},
		{"by force", `{version: "1.35", upTo: 1}; {version: "1.36", force: true}; {version: "1.37"}`, ""},
		{
			"by force, in part", `{version: "1.35", upTo: 1}; {version: "1.36", force: true, upTo: 2}; {version: "1.36"}`,
			skips,
		},
		{
			"the API servers alone", `{version: "1.35", order: apiServersFirst, upTo: 3}; {version: "1.36"}`,
			"test.yaml:8:5: the upgrade " + skips,
		},
		{
			"back from two versions", `{version: "1.35"}; {version: "1.36", upTo: 1}; {version: "1.34"}`,
			"test.yaml:9:5: the downgrade from Kubernetes 1.36 to 1.34 skips 1.35",
		},
		{"fewer than before", `{version: "1.35", upTo: 2}; {version: "1.35", upTo: 1}`, "upTo: 1 " + nothing},
		{
			"as many as before", `{version: "1.35", upTo: 2}; {version: "1.35", upTo: 2}`,
			"test.yaml:8:5: upTo: 2 changes nothing: at least 2 control planes are already in the state 1.35 ",
		},
		{
			"as many components as before",
			`{version: "1.35", order: apiServersFirst, upTo: 4}; {version: "1.35", order: apiServersFirst, upTo: 4}`,
			"at least 4 components are already in the state 1.35",
		},
		{
			"one component more",
			`{version: "1.35", order: apiServersFirst, upTo: 4}; {version: "1.35", order: apiServersFirst, upTo: 5}`, "",
		},
		{"back, but not far enough", `{version: "1.35", upTo: 1}; {version: "1.34", upTo: 1}`, "upTo: 1 " + nothing},
		{"back in part", `{version: "1.35", upTo: 2}; {version: "1.34", upTo: 2}; {version: "1.34"}`, ""},
		{"other nodes", `{version: "1.35", upTo: 1}; {version: "1.35", upTo: 1, nodes: [{count: 2}]}`, ""},
		{"another gate", `{version: "1.35", upTo: 1}; {featureGates: {A: true}, upTo: 1}; {featureGates: {A: true}}`, ""},
		{
			"after what breaks",
			`{version: "1.35", upTo: 2, expect: {broken: {component: kube-apiserver, message: x}}}; ` +
				`{version: "1.35", upTo: 1}`, "",
		},
		{
			"the same state", `{version: "1.35"}; {version: "1.35"}`,
			"test.yaml:8:5: this transition leads to the state that",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := `apiVersion: rehearse.dev/v1alpha1
kind: Scenario
metadata: {name: a}
spec:
  cluster: {version: "1.34", controlPlanes: 3}
  steps:
`
			for _, transition := range strings.Split(test.transitions, "; ") {
				text += "  - transition: " + transition + "\n"
			}
			set, err := scenarios.LoadBytes("test.yaml", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			var p planner
			p.checkTransitions(set.Scenarios[0], set.Scenarios[0].Path())
			got := errors.Join(p.problems...)
			if test.want == "" && got != nil || test.want != "" && !strings.Contains(fmt.Sprint(got), test.want) {
				t.Errorf("got %v, want %q", got, test.want)
			}
			if len(p.problems) > 1 {
				t.Errorf("more than one problem: %v", got)
			}
		})
	}
}

// The number of control planes may come from the options.
func TestControlPlanesIn(t *testing.T) {
	if got := len(controlPlanesIn(clusters.State{ControlPlanes: 3})); got != 3 {
		t.Errorf("%d control planes", got)
	}
	if got := len(controlPlanesIn(clusters.State{})); got != 1 {
		t.Errorf("%d control planes", got)
	}
}
