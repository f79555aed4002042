package writes_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/dynamic"

	"github.com/rehearse-dev/rehearse/harness/writes"
	"github.com/rehearse-dev/rehearse/internal/apitest"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

func count(n int) *scenarios.Count { return &scenarios.Count{Min: &n, Max: &n} }

func (s *sender) atOnce(ctx context.Context, expect *scenarios.ParallelExpect, steps ...scenarios.Step) writes.Verdict {
	var requests []writes.Request
	for i := range steps {
		requests = append(requests, writes.Request{Step: &steps[i], Manager: fmt.Sprintf("%s-%d", manager, i)})
	}
	return s.AtOnce(ctx, requests, expect)
}

func creations(n int) []scenarios.Step {
	var all []scenarios.Step
	for i := range n {
		all = append(all, scenarios.Step{Create: configMap("web", map[string]any{"by": fmt.Sprint(i)})})
	}
	return all
}

func TestOneWins(t *testing.T) {
	server := apitest.New(t)
	s := newSender(t, server)
	taken := scenarios.Rejection{Code: 409, Reason: "AlreadyExists"}
	got := s.atOnce(t.Context(), &scenarios.ParallelExpect{Accepted: count(1), Rejected: &taken}, creations(8)...)
	if got.Status != reports.Passed {
		t.Fatal(got.Message)
	}
	if !strings.HasPrefix(got.Evidence, "8 writes at the same time: 1 accepted, 7 rejected, 0 unknown\n") ||
		strings.Count(got.Evidence, "\nwrite ") != 8 {
		t.Errorf("evidence:\n%s", got.Evidence)
	}
	if len(got.Objects) != 1 || len(s.made) != 1 || server.Requests("create", "ConfigMap") != 8 {
		t.Errorf("%d objects, made %+v, %d requests", len(got.Objects), s.made, server.Requests("create", "ConfigMap"))
	}
	got = s.atOnce(t.Context(), &scenarios.ParallelExpect{Accepted: count(1)}, creations(2)...)
	if got.Status != reports.Failed || !strings.Contains(got.Message,
		"0 of 2 concurrent writes were accepted, but should have been 1") {
		t.Errorf("got %s: %s", got.Status, got.Message)
	}
}

// All writes are sent before any of them is answered.
func TestAllAreUnderWayAtOnce(t *testing.T) {
	const writers = 6
	server := apitest.New(t)
	var mu sync.Mutex
	waiting, all := 0, make(chan struct{})
	server.Misbehave(func(r apitest.Request) *apitest.Fault {
		if r.Verb != "create" {
			return nil
		}
		mu.Lock()
		if waiting++; waiting == writers {
			close(all)
		}
		mu.Unlock()
		<-all
		return nil
	})
	got := newSender(t, server).atOnce(t.Context(), &scenarios.ParallelExpect{Accepted: count(1)}, creations(writers)...)
	if got.Status != reports.Passed {
		t.Error(got.Message)
	}
}

func TestAtOnce(t *testing.T) {
	taken := scenarios.Rejection{Code: 409, Reason: "AlreadyExists"}
	rejected := scenarios.Step{Create: configMap("other", nil), Expect: reject(scenarios.Rejection{Code: 422})}
	for name, test := range map[string]struct {
		expect *scenarios.ParallelExpect
		steps  []scenarios.Step
		fault  func(apitest.Request) *apitest.Fault
		status reports.Status
		says   []string
	}{
		"two win": {
			expect: &scenarios.ParallelExpect{Accepted: count(1), Rejected: &taken},
			steps:  []scenarios.Step{creations(1)[0], {Create: configMap("web2", nil)}},
			status: reports.Failed, says: []string{"2 of 2 concurrent writes were accepted, but should have been 1"},
		},
		"the loser is rejected otherwise": {
			expect: &scenarios.ParallelExpect{Accepted: count(1), Rejected: &scenarios.Rejection{Code: 422}},
			steps:  creations(2),
			status: reports.Failed, says: []string{"want 422\n  got  409"},
		},
		"the loser is stored nevertheless": {
			expect: &scenarios.ParallelExpect{Accepted: count(0)}, steps: creations(2),
			fault:  always("create", apitest.Fault{Status: invalid(), Stored: true}),
			status: reports.Failed, says: []string{"was rejected, but it was stored"},
		},
		"each for itself": {
			steps:  []scenarios.Step{creations(1)[0], rejected},
			status: reports.Failed, says: []string{"write 2 of 2: create ConfigMap other was accepted, but should have been " +
				"rejected"},
		},
		"a write that can't be sent": {
			steps: []scenarios.Step{creations(1)[0], {Create: scenarios.Object{"kind": "Pod"}}}, status: reports.Error,
			says: []string{"write 2 of 2: create: apiVersion"},
		},
		"a kind that is not served does not keep the others": {
			expect: &scenarios.ParallelExpect{Accepted: count(1), Rejected: &scenarios.Rejection{Code: 404}},
			steps: []scenarios.Step{creations(1)[0], {Create: scenarios.Object{
				"apiVersion": "x.io/v1", "kind": "Thing",
				"metadata": map[string]any{"name": "a"},
			}}},
			status: reports.Passed,
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := apitest.New(t)
			server.Misbehave(test.fault)
			got := newSender(t, server).atOnce(t.Context(), test.expect, test.steps...)
			if got.Status != test.status {
				t.Fatalf("status %s, want %s: %s", got.Status, test.status, got.Message)
			}
			for _, words := range test.says {
				if !strings.Contains(got.Message, words) {
					t.Errorf("the message does not say %q:\n%s", words, got.Message)
				}
			}
		})
	}
}

// Only one of several deletions wins. The others find nothing to delete, and do not claim the winner's deletion.
func TestOneDeletionWins(t *testing.T) {
	server := apitest.New(t)
	server.Put("configmaps", stored("web", "ns"))
	remove := scenarios.Step{Delete: &scenarios.Delete{ObjectReference: scenarios.ObjectReference{
		APIVersion: "v1",
		Kind:       "ConfigMap", Name: "web",
	}}}
	got := newSender(t, server).atOnce(t.Context(), &scenarios.ParallelExpect{
		Accepted: count(1),
		Rejected: &scenarios.Rejection{Code: 404},
	}, remove, remove, remove)
	if got.Status != reports.Passed || server.Count("configmaps") != 0 {
		t.Errorf("got %s: %s", got.Status, got.Message)
	}
}

// A write whose outcome is unknown is neither accepted nor rejected; it does not hide what is certain.
func TestUnknownAmongOthers(t *testing.T) {
	for wanted, status := range map[int]reports.Status{0: reports.Failed, 1: reports.Error, 2: reports.Error} {
		server := apitest.New(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		var answered atomic.Bool // the create of the ConfigMap
		server.Misbehave(func(r apitest.Request) *apitest.Fault {
			if r.Verb != "create" || r.Kind != "Node" {
				return nil
			}
			if answered.Load() {
				cancel(errors.New("stopped by the test"))
			}
			return &apitest.Fault{Status: apitest.Status(503, "ServiceUnavailable", "starting")}
		})
		s := newSender(t, server)
		s.Client = clientThatNotes(t, server, "configmaps", &answered)
		got := s.atOnce(ctx, &scenarios.ParallelExpect{Accepted: count(wanted)}, creations(1)[0],
			scenarios.Step{Create: scenarios.Object{
				"apiVersion": "v1", "kind": "Node",
				"metadata": map[string]any{"name": "a"},
			}})
		if got.Status != status {
			t.Errorf("%d wanted: got %s, want %s: %s", wanted, got.Status, status, got.Message)
		}
	}
}

// clientThatNotes returns a client that notes when it has read the whole answer of a create of a resource.
func clientThatNotes(t *testing.T, server *apitest.Server, resource string, answered *atomic.Bool) dynamic.Interface {
	t.Helper()
	config := writes.Configure(server.Config(), "rehearse/test")
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			response, err := next.RoundTrip(r)
			if err == nil && r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, resource) {
				response.Body = &notingBody{response.Body, answered}
			}
			return response, err
		})
	})
	client, err := dynamic.NewForConfig(config)
	golden.Must(t, err)
	return client
}

// notingBody notes when it is closed, which a client does after it has read all of it.
type notingBody struct {
	io.ReadCloser
	closed *atomic.Bool
}

func (b *notingBody) Close() error {
	defer b.closed.Store(true)
	return b.ReadCloser.Close()
}
