package upgrade

import (
	"errors"
	"testing"

	"github.com/rehearse-dev/rehearse/reports/upgrades"
)

// If a program that answers webhooks has exited, the rehearsal ends there, and the report shows its last output.
func TestProgramOfWebhooksThatExited(t *testing.T) {
	var death error
	r := &rehearsal{
		Options: Options{
			Path:   Path{Ways: []string{upgrades.Start, upgrades.Redeploy}},
			Origin: &Origin{Death: func() error { return death }},
		},
		report: &upgrades.Report{Path: []*upgrades.State{{Name: "1.33.1"}, {Name: "1.34.1"}}},
	}
	if r.unanswered(0) || len(r.report.Findings) > 0 {
		t.Error("a program that runs is a finding")
	}
	death = errors.New("policy ended by itself: exit status 3; no licence")
	if whole, err := r.visit(t.Context(), 1); whole || err != nil {
		t.Errorf("the rehearsal goes on: %t, %v", whole, err)
	}
	if !r.unanswered(1) {
		t.Error("it is not reported")
	}
	if len(r.report.Findings) != 1 {
		t.Fatalf("%d findings", len(r.report.Findings))
	}
	f := r.report.Findings[0]
	if f.Severity != upgrades.Unjudged || f.Words != death.Error() || f.Hop != "1.33.1 -> 1.34.1" ||
		f.Back != "later states were not rehearsed" {
		t.Errorf("%+v", f)
	}
}
