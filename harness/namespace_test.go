package harness_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/internal/apitest"
	"github.com/rehearse-dev/rehearse/reports"
)

// What creates pods is deleted just after its namespace, and before the namespace controller gets to it. A namespace
// without pods needs no more requests.
func TestWorkloadsAreDeletedWithTheirNamespace(t *testing.T) {
	for name, test := range map[string]struct {
		steps string
		want  string
	}{
		"pods": {
			"  - create: {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: a, image: a}]}}\n",
			"one statefulsets replicasets daemonsets jobs replicationcontrollers",
		},
		"no pods": {makeMap("a"), "one"},
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			var deleted []string
			p := &borrower{provider{misbehave: func(r apitest.Request) *apitest.Fault {
				parts := strings.Split(r.Path, "/")
				if r.Verb == "delete" && slices.Contains(parts, "one") {
					mu.Lock()
					deleted = append(deleted, parts[len(parts)-1])
					mu.Unlock()
				}
				return nil
			}}}
			run := ran(t, p, scenario("one", test.steps), harness.Options{})
			if s := find(t, run, "one"); s.Status != reports.Passed {
				t.Errorf("%s: %s", s.Status, s.Message)
			}
			mu.Lock()
			defer mu.Unlock()
			if got := strings.Join(deleted, " "); got != test.want {
				t.Errorf("deleted %s, want %s", got, test.want)
			}
		})
	}
}
