package releases_test

import (
	"context"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/features"
	"github.com/rehearse-dev/rehearse/clusters/releases"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

type oneList struct{ list *features.List }

func (o oneList) FeatureList(context.Context, string) (*features.List, error) { return o.list, nil }

// The gates of each component are checked at the versions that its flags set.
func TestCheckGatesByVersionsInFlags(t *testing.T) {
	since := func(version string, value bool, minCompatibility string) features.Spec {
		return features.Spec{
			Since: version, Stage: features.Beta, Default: value, MinCompatibility: minCompatibility,
		}
	}
	lists := oneList{&features.List{Version: "1.37.2", Gates: map[string]features.Gate{
		"Range": {Specs: []features.Spec{since("1.37", false, ""), since("1.37", true, "1.37")}},
		"User":  {Specs: []features.Spec{since("1.36", false, "")}, Needs: []string{"Range"}},
	}}}
	for _, test := range []struct{ name, flag, value, want string }{
		{"no flags", "v", "4", "needs Range, which is off by default"},
		{"compatible with 1.37 alone", "min-compatibility-version", "1.37", ""},
		{"no version", "min-compatibility-version", "soon", "component kube-apiserver: flag min-compatibility-version"},
		{"emulated before the gate", "emulated-version", "1.35", "cannot be set in Kubernetes 1.35; it was added in 1.36"},
	} {
		t.Run(test.name, func(t *testing.T) {
			state := clusters.State{
				Version: "1.37.2", FeatureGates: map[string]bool{"User": true},
				Components: map[clusters.Component]clusters.ComponentState{
					clusters.APIServer: {Flags: map[string]string{test.flag: test.value}},
				},
			}
			err := releases.CheckGates(t.Context(), lists, state, []clusters.Component{clusters.APIServer}, t.Logf)
			golden.Error(t, err, test.want)
		})
	}
}
