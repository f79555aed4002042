package realtest

import (
	"os"
	"slices"
	"strings"
	"testing"

	"k8s.io/utils/clock"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/kind"
	"github.com/rehearse-dev/rehearse/clusters/releases"
	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// verdict is what a result says of a step: what may not differ between providers.
type verdict struct {
	owner, step, verb, state string
	status                   reports.Status
	reverted                 bool
}

// One file, two providers, the same verdicts.
func TestLiveProvidersAgree(t *testing.T) {
	if os.Getenv("REHEARSE_TEST_KIND") == "" {
		t.Skip("needs a container engine and node images: make test-kind")
	}
	realNodes, err := kind.Default(releases.Options{}, kind.NodeImages{}, t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	here, there := verdicts(t, provider(t)), verdicts(t, realNodes)
	if len(here) != len(there) || len(here) == 0 {
		t.Fatalf("%d verdicts on local, %d on kind", len(here), len(there))
	}
	if !slices.ContainsFunc(here, func(v verdict) bool { return v.reverted }) {
		t.Error("no cluster was taken back")
	}
	for i := range here {
		if here[i] != there[i] {
			t.Errorf("on local %+v\non kind  %+v", here[i], there[i])
		}
	}
}

// verdicts on the providers' common file. That a scenario fails as it is meant to is one, too.
func verdicts(t *testing.T, p clusters.Provider) []verdict {
	t.Helper()
	set, err := scenarios.Load([]string{"testdata/providers.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := harness.NewPlan(t.Context(), p, set.Scenarios, harness.PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	recorder := reports.NewRecorder(plan.Result(), clock.RealClock{})
	if err := harness.Execute(t.Context(), plan, harness.Options{Recorder: recorder, ReportDir: t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	result := recorder.Run()
	t.Logf("%s:\n%s", p.Name(), explain(result))
	var all []verdict
	note := func(owner string, steps []*reports.Step) {
		for _, step := range steps {
			all = append(all, verdict{owner, step.Name, step.Verb, step.State, step.Status, strings.Contains(step.Message, "was taken back to")})
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
