package local

import (
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/processes"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// A lease counts if it was renewed after the last end of a process that could have held it, or of an API server.
func TestLastEnd(t *testing.T) {
	opened := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(seconds int) time.Time { return opened.Add(time.Duration(seconds) * time.Second) }
	lives := func(ended map[clusters.Component]time.Time) (all []*life) {
		for component, end := range ended {
			all = append(all, &life{
				process: &processes.Process{}, ProcessLife: clusters.ProcessLife{Component: component, Ended: end},
			})
		}
		return all
	}
	type ends map[clusters.Component]time.Time
	for name, test := range map[string]struct {
		ended ends
		want  time.Time
	}{
		"nothing ended":           {ends{clusters.Scheduler.On(0): {}}, opened},
		"one of it ended":         {ends{clusters.Scheduler.On(1): at(3), clusters.Scheduler.On(0): at(2)}, at(3)},
		"an API server ended":     {ends{clusters.Scheduler.On(1): at(3), clusters.APIServer.On(0): at(4)}, at(4)},
		"another kind ended":      {ends{clusters.ControllerManager.On(1): at(3)}, opened},
		"it ended before opening": {ends{clusters.Scheduler.On(1): at(-3)}, opened},
	} {
		c := &leaders{programs: &programs{opened: opened, lives: lives(test.ended)}}
		if got := c.lastEnd(clusters.Scheduler); !got.Equal(test.want) {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

// A component is led when its lease has a holder that renewed it after the last end.
func TestRenewed(t *testing.T) {
	ended := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		holder  string
		renewed time.Duration
		want    bool
	}{
		"renewed after the end":            {"a", time.Second, true},
		"the lease is of before the end":   {"a", -time.Second, false},
		"renewed at the end":               {"a", 0, false},
		"released, and not taken over yet": {"", time.Second, false},
	} {
		lease := &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: string(clusters.Scheduler)},
			Spec: coordinationv1.LeaseSpec{
				HolderIdentity: &test.holder, RenewTime: &metav1.MicroTime{Time: ended.Add(test.renewed)},
			},
		}
		c := &leaders{client: fake.NewClientset(lease)}
		got, err := c.renewed(t.Context(), clusters.Scheduler, ended)
		if got != test.want || test.want == (err != nil) {
			t.Errorf("%s: %t, %v", name, got, err)
		}
	}
	c := &leaders{client: fake.NewClientset()}
	_, err := c.renewed(t.Context(), clusters.Scheduler, ended)
	golden.Error(t, err, "read the lease of kube-scheduler")
}
