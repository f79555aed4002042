package systems

import (
	"errors"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/clusters"
	"github.com/rehearse-dev/rehearse/clusters/systems/internal/places"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

func TestReplicasWantTheSameCalls(t *testing.T) {
	replica := func(name, service string, calls *clusters.WebhookCalls) clusters.System {
		return clusters.System{Name: name, WebhookCalls: calls, Process: &clusters.SystemProcess{Service: service}}
	}
	away, late := &clusters.WebhookCalls{Away: true}, &clusters.WebhookCalls{Delay: "1s"}
	for _, test := range []struct {
		name string
		list []clusters.System
		want bool
	}{
		{"one", []clusters.System{replica("a", "s", away), replica("b", "s", nil)}, true},
		{"both", []clusters.System{replica("a", "s", away), replica("b", "s", &clusters.WebhookCalls{Away: true})}, true},
		{"different", []clusters.System{replica("a", "s", away), replica("b", "s", late)}, false},
		{"two services", []clusters.System{replica("a", "s", away), replica("b", "t", late)}, true},
		{"no service", []clusters.System{replica("a", "", away), replica("b", "", late)}, true},
	} {
		if err := sameCalls(test.list); (err == nil) != test.want {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// A new process of a replica gets no connections before it is ready itself, although the one before it was ready.
func TestNewProcessOfAReplica(t *testing.T) {
	s := newSet(t, newFakeCluster(t), Options{})
	system := sleeper("a")
	system.Process.Service = "op"
	system.Process.Ready = &clusters.SystemReadiness{TCP: listening(t)}
	converge(t, s, system)
	service := s.system("a").place.Service
	if left := service.Remove("no such replica"); left != 1 {
		t.Fatalf("%d replicas, want the one that is ready", left)
	}
	system.Process = &clusters.SystemProcess{
		Command: []string{"sh", "-c", "exit 2"}, Service: "op",
		Ready: &clusters.SystemReadiness{TCP: listening(t), InitialDelay: "2m"},
	}
	if err := s.Converge(t.Context(), []clusters.System{system}); err == nil {
		t.Error("a process that ended was ready")
	}
	if left := service.Remove("no such replica"); left != 0 {
		t.Errorf("%d replicas, want none: the old process has ended, and the new one was never ready", left)
	}
}

// The first check of a program comes after its initial delay, also if it need not be ready.
func TestChecksBeforeTheInitialDelay(t *testing.T) {
	sys := &system{program: program{ready: clusters.SystemReadiness{TCP: listening(t), InitialDelay: "1m"}}}
	for _, test := range []struct {
		ago  time.Duration
		want error
	}{{0, errEarly}, {59 * time.Second, errEarly}, {time.Minute, nil}} {
		sys.started = time.Now().Add(-test.ago)
		look, err := sys.readiness()
		golden.Must(t, err)
		if err := look(t.Context()); !errors.Is(err, test.want) {
			t.Errorf("after %s: got %v, want %v", test.ago, err, test.want)
		}
	}
}

func TestReplicas(t *testing.T) {
	one, other := &places.Service{}, &places.Service{}
	at := func(service *places.Service) *system { return &system{place: &places.Place{Service: service}} }
	if !replicas(at(one), at(one)) || replicas(at(one), at(other)) || replicas(at(nil), at(nil)) || replicas(nil, at(one)) {
		t.Error("systems are replicas if they have the same service")
	}
}
