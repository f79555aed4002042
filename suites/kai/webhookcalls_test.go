package kai_test

import (
	"testing"

	"k8s.io/utils/clock"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// The failure policy decides about writes while the webhook is away, too slow, or has an expired certificate.
func TestWebhookCalls(t *testing.T) {
	if testing.Short() {
		t.Skip("it needs clusters")
	}
	s := suite()
	set, err := scenarios.Load([]string{"testdata/webhook-calls.yaml"})
	golden.Must(t, err)
	plan, err := harness.NewPlan(t.Context(), s.Provider(t), set.Scenarios, s.Options(t))
	golden.Must(t, err)
	recorder := reports.NewRecorder(plan.Result(), clock.RealClock{})
	if err := harness.Execute(t.Context(), plan, harness.Options{Recorder: recorder}); err != nil {
		t.Error(err)
	}
	for _, track := range recorder.Run().Tracks {
		for _, scenario := range track.Scenarios {
			if scenario.Status != reports.Passed {
				t.Errorf("%s: %s: %s", scenario.Name, scenario.Status, reports.Headline(recorder.Run(), track, scenario))
			}
		}
	}
}
