package upgrade

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rehearse-dev/rehearse/harness/survey"
	"github.com/rehearse-dev/rehearse/internal/apitest"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports/upgrades"
)

// If a component exits before the survey of a state, that is a finding with its log lines. The error of a survey that
// cannot begin, although all components run, ends the rehearsal.
func TestComponentsThatExitBeforeASurvey(t *testing.T) {
	t.Parallel()
	died := errors.New("kube-apiserver exited: panic: no such field")
	for _, test := range []struct {
		name  string
		state int
		death error
	}{
		{"all run", 0, nil},
		{"one exits when objects are created", 0, died},
		{"one exits when objects are recreated", 2, died},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			cluster := &fake{server: apitest.New(t), died: make(chan error, 1)}
			cluster.server.Reject(func(r apitest.Request) *metav1.Status { // no survey can begin
				if strings.Contains(r.Path, "customresourcedefinitions") {
					return apitest.Failure(http.StatusForbidden, metav1.StatusReasonForbidden)
				}
				return nil
			})
			r := &rehearsal{
				Options: Options{
					Progress: t.Logf, Path: Path{Ways: []string{upgrades.Start, upgrades.Up, upgrades.Redeploy}},
				},
				report: &upgrades.Report{Path: []*upgrades.State{{Name: "1.34.4"}, {Name: "1.35.4"}, {Name: "1.35.4 redeployed"}}},
				share:  &share{}, creator: creatorFor(t, cluster.server), host: hostOf(t, cluster),
			}
			var err error
			r.survey, err = survey.New(cluster.RESTConfig(), survey.Options{})
			golden.Must(t, err)
			defer r.survey.Close()
			if test.death != nil {
				cluster.died <- test.death
			}
			whole, err := r.visit(t.Context(), test.state)
			if whole || (err == nil) != (test.death != nil) {
				t.Fatalf("the rehearsal goes on: %t, %v", whole, err)
			}
			if test.death == nil {
				return
			}
			if len(r.report.Findings) != 1 {
				t.Fatalf("%d findings", len(r.report.Findings))
			}
			f := r.report.Findings[0]
			if f.Severity != upgrades.Breaks || f.Check != "control plane" || f.Words != died.Error() ||
				f.State != test.state {
				t.Errorf("%+v", f)
			}
		})
	}
}
