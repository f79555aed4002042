package explore

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/systems"
	"github.com/rehearse-dev/rehearse/harness/explore/fields"
	"github.com/rehearse-dev/rehearse/harness/survey"
	"github.com/rehearse-dev/rehearse/internal/apitest"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports/explorations"
)

// fragile is a provider and its only cluster.
type fragile struct {
	clusters.Provider
	clusters.Cluster
	clusters.ProcessRunner
	config *rest.Config
	died   chan error
	// unready is the error of each change of its state.
	unready error
}

func (f *fragile) Name() string { return "fragile" }

func (f *fragile) Create(context.Context, string, clusters.State) (clusters.Cluster, error) {
	return f, f.unready
}
func (f *fragile) RESTConfig() *rest.Config                       { return f.config }
func (f *fragile) Converge(context.Context, clusters.State) error { return f.unready }
func (f *fragile) Delete(context.Context) error                   { return nil }
func (f *fragile) Died() <-chan error                             { return f.died }

// If a component has died, the errors that follow from it do not end the exploration.
func TestADeathIsTheCauseOfErrors(t *testing.T) {
	box := &fields.Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "Box"}, Resource: "boxes"}
	for name, test := range map[string]struct {
		entries []*entry
		fails   string // a verb
	}{
		"the creation of objects": {[]*entry{accepted(box, "x")}, "discover"},
		"the first look":          {nil, "list"},
	} {
		server := apitest.New(t)
		server.Reject(func(r apitest.Request) *metav1.Status { // a refused connection would be tried again
			if r.Verb == test.fails {
				return apitest.Failure(http.StatusForbidden, metav1.StatusReasonForbidden)
			}
			return nil
		})
		for _, death := range []error{errors.New("kube-apiserver exited: out of range"), nil} {
			cluster := &fragile{config: server.Config(), died: make(chan error, 1)}
			if death != nil {
				cluster.died <- death
			}
			e := &exploration{Options: Options{Provider: cluster, Progress: t.Logf}, report: &explorations.Report{}}
			seen, reached, err := e.cross(t.Context(), []clusters.State{{Version: "1.35"}}, test.entries, 0)
			if death == nil {
				if err == nil || len(seen) > 0 {
					t.Errorf("%s fails: no error, but %d sightings", name, len(seen))
				}
				continue
			}
			golden.Must(t, err)
			if len(seen) != 1 || reached != 0 || seen[0].finding.Check != "control plane" ||
				!strings.Contains(seen[0].finding.Words, "out of range") {
				t.Errorf("%s fails: got %d sightings, want the death", name, len(seen))
			}
		}
	}
}

// unsteady is a cluster whose scheduler does not start after a change of its state. deaths are known by then.
type unsteady struct {
	*fragile
	deaths []string
}

func (u unsteady) Converge(context.Context, clusters.State) error {
	for _, death := range u.deaths {
		u.died <- errors.New(death)
	}
	return &clusters.BrokenError{Component: clusters.Scheduler, Err: errors.New("kube-scheduler exited: unknown gate")}
}

// A component that does not come up is one finding, also if its death is noticed later. An API server that exits is
// another one.
func TestAnotherDeath(t *testing.T) {
	const server, scheduler = "kube-apiserver exited: out of range", "kube-scheduler exited: unknown gate"
	for name, test := range map[string]struct {
		before []string
		later  string
		want   int
	}{
		"the scheduler":                         {[]string{scheduler}, "", 1},
		"the scheduler, noticed later":          {nil, scheduler, 1},
		"the API server during the survey":      {[]string{scheduler}, server, 2},
		"the API server before the transition":  {[]string{server, scheduler}, "", 2},
		"the scheduler is not ready, but lives": {nil, "", 1},
		"an additional scheduler":               {nil, "kube-scheduler/batch (pid 1) ended by itself", 2},
		"a component with a longer name":        {nil, "kube-scheduler2 (pid 1) ended by itself", 2},
	} {
		t.Run(name, func(t *testing.T) {
			served := apitest.New(t, append(apitest.Extensions(), apitest.Kind{
				GVK:      schema.GroupVersionKind{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease"},
				Resource: "leases", Namespaced: true,
			})...)
			cluster := unsteady{&fragile{config: served.Config(), died: make(chan error, 3)}, test.before}
			served.Reject(func(r apitest.Request) *metav1.Status {
				if r.Verb != "list" || r.Kind != "CustomResourceDefinition" {
					return nil
				}
				if test.later != "" {
					cluster.died <- errors.New(test.later)
				}
				return apitest.Failure(http.StatusForbidden, metav1.StatusReasonForbidden)
			})
			e := &exploration{Options: Options{Provider: cluster, Progress: t.Logf}, report: &explorations.Report{}}
			c := newCrossing(e, []clusters.State{{Version: "1.34"}, {Version: "1.35"}}, nil)
			c.cluster = &systems.Host{Cluster: cluster}
			var err error
			c.survey, err = survey.New(cluster.RESTConfig(), survey.Options{})
			golden.Must(t, err)
			defer c.survey.Close()
			if whole, err := c.visit(t.Context(), 1); whole || (err == nil) != (len(test.before) > 0 || test.later != "") {
				t.Errorf("it goes on: %t, %v", whole, err)
			}
			if len(c.report.Findings) != test.want || c.report.Findings[0].What != "kube-scheduler does not come up" {
				t.Errorf("%d findings, want %d", len(c.report.Findings), test.want)
			}
		})
	}
}
