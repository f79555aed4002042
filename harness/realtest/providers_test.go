package realtest

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/internal/clustertest"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// verdict is the part of a step's result that may not differ between providers.
type verdict struct {
	owner, step, verb, state string
	status                   reports.Status
	reverted                 bool
}

// common files of the providers: from the library, a scenario that goes up, down and up again, and one that changes
// its profile; and scenarios that fail on purpose.
var common = []string{
	"../../scenarios/kubernetes/service-name-rollback.yaml",
	"../../scenarios/scheduling/profiles-zones.yaml", "testdata/providers.yaml",
}

// Two providers give the same verdicts on the same files.
func TestLiveProvidersAgree(t *testing.T) {
	t.Parallel()
	realNodes := realNodes(t)
	var here, there []verdict
	t.Run("on", func(t *testing.T) {
		for p, to := range map[clusters.Provider]*[]verdict{clustertest.Local(t): &here, realNodes: &there} {
			t.Run(p.Name(), func(t *testing.T) {
				t.Parallel()
				*to = verdicts(t, p)
			})
		}
	})
	if len(here) != len(there) || len(here) == 0 {
		t.Fatalf("%d verdicts on local, %d on kind", len(here), len(there))
	}
	if !slices.ContainsFunc(here, func(v verdict) bool { return v.reverted }) {
		t.Error("no cluster was taken back")
	}
	for _, name := range []string{"service-name-rollback", "profile-zones"} {
		if !slices.Contains(here, verdict{owner: name, status: reports.Passed}) {
			t.Errorf("%s did not pass", name)
		}
	}
	for i := range here {
		if here[i] != there[i] {
			t.Errorf("on local %+v\non kind  %+v", here[i], there[i])
		}
	}
}

// verdicts returns the verdicts on the common files. Expected failures are verdicts, too.
func verdicts(t *testing.T, p clusters.Provider) []verdict {
	t.Helper()
	set, err := scenarios.Load(common)
	if err != nil {
		t.Fatal(err)
	}
	// With more nodes than processors, kubeadm times out.
	result := execute(t, p, set, min(3, runtime.NumCPU()))
	t.Logf("%s:\n%s", p.Name(), explain(result))
	var all []verdict
	note := func(owner string, steps []*reports.Step) {
		for _, step := range steps {
			all = append(all, verdict{owner, step.Name, step.Verb, step.State, step.Status, strings.Contains(step.Message,
				"was taken back to")})
		}
	}
	for _, track := range result.Tracks {
		note(track.Name, track.Setup)
		for _, s := range track.Scenarios {
			all = append(all, verdict{owner: s.Name, status: s.Status})
			note(s.Name, s.Steps)
		}
	}
	return all
}
