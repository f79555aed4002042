package staticpods

import (
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind/internal/settings"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

func manifestFixture(t *testing.T) string {
	t.Helper()
	return golden.Read(t, "testdata/kube-apiserver.yaml")
}

func TestDesiredManifest(t *testing.T) {
	state := clusters.State{
		Version: "1.35.0-rc.1", FeatureGates: map[string]bool{
			"B": false,
			"A": true,
		}, RuntimeConfig: map[string]string{"x/v1": "true"},
		Components: map[clusters.Component]clusters.ComponentState{clusters.APIServer: {Flags: map[string]string{"authorization-mode": "RBAC", "v": "4"}}},
	}
	_, got, err := Desired(clusters.APIServer, manifestFixture(t), state, map[string]*string{}, "revision-1")
	golden.Must(t, err)
	golden.Check(t, "testdata/kube-apiserver-desired.golden", got)
}

func TestDesiredManifestOfTheSameStateChangesNothing(t *testing.T) {
	state := clusters.State{Version: "1.34.4", FeatureGates: map[string]bool{"A": true}}
	before, after, err := Desired(clusters.APIServer, manifestFixture(t), state,
		settings.ReplacedAtCreation(clusters.APIServer, state), "")
	if err != nil || before != after {
		t.Errorf("%v\nbefore:\n%s\nafter:\n%s", err, before, after)
	}
}

// Flags that a state sets are removed with it, whichever states follow, and the values that they replaced are restored.
func TestFlagsGoBackToWhatTheyWere(t *testing.T) {
	first := clusters.State{Version: "1.34.4", FeatureGates: map[string]bool{"A": true}}
	ours := settings.ReplacedAtCreation(clusters.APIServer, first)
	original, _, err := Desired(clusters.APIServer, manifestFixture(t), first, ours, "")
	golden.Must(t, err)
	manifest := original
	with := func(flags map[string]string) clusters.State {
		s := first
		s.RuntimeConfig = map[string]string{"x/v1": "true"}
		s.Components = map[clusters.Component]clusters.ComponentState{clusters.APIServer: {Flags: flags}}
		return s
	}
	for _, state := range []clusters.State{
		with(map[string]string{"authorization-mode": "RBAC"}),
		with(map[string]string{"authorization-mode": "AlwaysAllow", "v": "4"}), first,
	} {
		if _, manifest, err = Desired(clusters.APIServer, manifest, state, ours, ""); err != nil {
			t.Fatal(err)
		}
	}
	if manifest != original {
		t.Errorf("got:\n%s\nwant:\n%s", manifest, original)
	}
	_, bare, err := Desired(clusters.APIServer, manifest, clusters.State{Version: "1.34.4"}, ours, "")
	if err != nil || strings.Contains(bare, "feature-gates") {
		t.Errorf("the gates of the creation stay: %v\n%s", err, bare)
	}
}

// Each of several control planes has its own manifest, and all of them are rolled back.
func TestFlagsGoBackOnEveryNode(t *testing.T) {
	first := clusters.State{Version: "1.34.4"}
	set := first
	set.Components = map[clusters.Component]clusters.ComponentState{clusters.APIServer: {Flags: map[string]string{"authorization-mode": "RBAC", "v": "4"}}}
	ours := map[string]*string{}
	original, changed, err := Desired(clusters.APIServer, manifestFixture(t), set, ours, "")
	if err != nil || original == changed {
		t.Fatal(err)
	}
	for _, name := range []string{"one", "two", "three"} {
		if _, back, err := Desired(clusters.APIServer, changed, first, ours, ""); err != nil || back != original {
			t.Errorf("node %s, %v: got:\n%s\nwant:\n%s", name, err, back, original)
		}
	}
}

func TestAManifestWithoutAContainerIsRejected(t *testing.T) {
	for _, text := range []string{"", "kind: Pod", "spec: {containers: []}", "{"} {
		if _, err := Parse(clusters.APIServer, text); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

func TestFlag(t *testing.T) {
	p, err := Parse(clusters.APIServer, manifestFixture(t))
	golden.Must(t, err)
	if got := p.flag("somethingOfTheFuture"); got == nil || *got != "true" {
		t.Errorf("a flag without a value: %v", got)
	}
	if got := p.flag("something"); got != nil {
		t.Errorf("the beginning of a flag's name: %q", *got)
	}
}

// A gate that the state does not have is found, whoever has set it.
func TestCheckGates(t *testing.T) {
	p, err := Parse(clusters.APIServer, manifestFixture(t)) // A=true
	golden.Must(t, err)
	for name, test := range map[string]struct {
		gates map[string]bool
		want  string
	}{
		"the same":     {map[string]bool{"A": true}, ""},
		"none wanted":  {nil, "has the feature gates A=true"},
		"another":      {map[string]bool{"A": false}, "does not have exactly the feature gates A=false"},
		"one is extra": {map[string]bool{"A": true, "B": true}, "does not have exactly"},
	} {
		err := p.CheckGates(clusters.State{FeatureGates: test.gates})
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
	}
}
